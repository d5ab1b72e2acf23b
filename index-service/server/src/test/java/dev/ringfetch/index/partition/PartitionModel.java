package dev.ringfetch.index.partition;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.store.EntryStore;
import dev.ringfetch.index.v1.Entry;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;

/**
 * Threads submit writes, commit, and close, in orders of their accesses that Lincheck chooses:
 * whichever thread leaves last, nothing stays behind. As all that Lincheck runs, it sees each
 * access at once, so it finds no fault of memory order. It creates objects of this class and reads
 * the annotations: so it is public.
 */
public class PartitionModel {
  private static final ByteString KEY = ByteString.copyFromUtf8("k");

  private final HeldLog log = new HeldLog();
  private final Partition partition =
      new Partition(new OneKeyStore(), log, 8, this::failed, Handover.never());
  private final AtomicInteger submitted = new AtomicInteger();
  private final AtomicInteger answered = new AtomicInteger();
  private final AtomicInteger closed = new AtomicInteger();
  private volatile boolean closing;
  private volatile Throwable failure;

  /** Puts. */
  @Operation
  public void put() {
    submitted.incrementAndGet();
    final Write write = new Write(put -> answered.incrementAndGet());
    if (partition.submit(write.put(KEY, ByteString.EMPTY)) != 0) {
      throw new IllegalStateException("refused");
    }
  }

  /** Commits what was appended. */
  @Operation(nonParallelGroup = "log")
  public void commit() {
    log.commit();
  }

  /** Closes the partition, once. */
  @Operation(nonParallelGroup = "close")
  public void close() {
    if (!closing) {
      closing = true;
      partition.close(closed::incrementAndGet);
    }
  }

  /** At the end of each execution. */
  @Validate
  public void nothingStaysBehind() {
    final boolean left =
        closing
            ? answered.get() != submitted.get() || closed.get() != 1
            : log.appended != submitted.get() || log.committed != answered.get();
    if (left || failure != null) {
      throw new IllegalStateException(
          String.format(
              "submitted=%s appended=%d committed=%d answered=%s closed=%s",
              submitted, log.appended, log.committed, answered, closed),
          failure);
    }
  }

  private void failed(Throwable t) {
    failure = t;
  }

  /** A log that commits when it is told to; LSNs count the records. */
  private static final class HeldLog implements CommitLog {
    private volatile long appended;
    private volatile long committed;
    private Runnable listener;

    @Override
    @SuppressWarnings("NonAtomicVolatileUpdate") // one owner at a time
    public long append(Write write) {
      return ++appended;
    }

    @Override
    public long committed() {
      return committed;
    }

    @Override
    public void onCommit(Runnable listener) {
      this.listener = listener;
    }

    void commit() {
      committed = appended;
      listener.run();
    }
  }

  /** A store of one key, which needs no memory, without values. */
  private static final class OneKeyStore implements EntryStore {
    private long version;

    @Override
    public long version(ByteString key) {
      return version;
    }

    @Override
    public Entry entry(ByteString key) {
      throw new UnsupportedOperationException();
    }

    @Override
    public int reserve(int keyLength, int valueLength) {
      return 0;
    }

    @Override
    public void release(int keyLength, int valueLength) {}

    @Override
    public void put(ByteString key, ByteString value, long version) {
      if (version != this.version + 1) {
        throw new IllegalStateException("version=" + version + " previous=" + this.version);
      }
      this.version = version;
    }

    @Override
    public boolean delete(ByteString key) {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean grow() {
      return false;
    }

    @Override
    public long count() {
      return version == 0 ? 0 : 1;
    }
  }
}
