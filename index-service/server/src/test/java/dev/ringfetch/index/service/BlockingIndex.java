package dev.ringfetch.index.service;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.v1.Entry;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/**
 * An index whose operations return their results, as tests like to have it: reads by the server's
 * reader, writes through the partitions.
 */
public final class BlockingIndex {
  private static final int DEADLINE_SECONDS = 60;

  private final ServedIndex index;

  /** Creates an empty index in memory of its own. */
  public BlockingIndex() {
    this(new Indexes().find(""));
  }

  BlockingIndex(ServedIndex index) {
    this.index = index;
  }

  /** Returns the entry of a key, or null if there is none. */
  public Entry get(ByteString key) {
    final ServedIndex.LocalReader reader = index.reader();
    final ReadResult result = reader.read(key);
    return switch (result) {
      case FOUND -> reader.entry(key);
      case ABSENT -> null;
      case UNDECIDED, LIMIT -> carryOut(key, prepared -> prepared.read(key)).entry();
      default -> throw new AssertionError(result);
    };
  }

  /** Writes an entry, whether or not there was one. */
  public PutResult put(ByteString key, ByteString value) {
    final Write write = carryOut(key, prepared -> prepared.put(key, value));
    return new PutResult(write.version(), write.created());
  }

  /** Removes the entry of a key; returns whether there was one. */
  public boolean delete(ByteString key) {
    return carryOut(key, prepared -> prepared.delete(key)).existed();
  }

  /** Writes an entry if the one that is there has the expected version; 0 expects none. */
  public CompareResult compareAndSet(ByteString key, long expectedVersion, ByteString value) {
    final Write write =
        carryOut(key, prepared -> prepared.compareAndSet(key, expectedVersion, value));
    return new CompareResult(write.applied(), write.entry());
  }

  private Write carryOut(ByteString key, UnaryOperator<Write> prepare) {
    final CompletableFuture<Write> answer = new CompletableFuture<>();
    final Write write = prepare.apply(new Write(answer::complete));
    final int refused = index.partition(key).submit(write);
    if (refused != 0) {
      throw new AssertionError("refused=" + refused);
    }
    final Write answered = answer.orTimeout(DEADLINE_SECONDS, TimeUnit.SECONDS).join();
    if (answered.outcome() != Write.DONE) {
      throw new AssertionError("outcome=" + answered.outcome());
    }
    return answered;
  }

  /**
   * Result of a put.
   *
   * @param version the version that the entry has now
   * @param created whether the key was absent before
   */
  public record PutResult(long version, boolean created) {}

  /**
   * Result of a compare-and-set.
   *
   * @param applied whether the value was written
   * @param entry the entry as it is afterwards, or null if there is none
   */
  public record CompareResult(boolean applied, Entry entry) {}
}
