package dev.ringfetch.index.call;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.v1.Entry;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.stub.StreamObserver;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The call of a read of some keys, each on its own: answers it at once if the thread's reader can
 * decide all of them, else when the owners of the others' partitions have read these.
 *
 * <p>Where the index is dropped under the call, it begins again with what has the name then.
 *
 * @param <T> type of the response.
 */
public final class ReadCall<T> {
  /**
   * Longest answer to a batch, serialized. A longer one would only fail at the client, after all of
   * it was built and sent; without any bound, a batch could ask for more than a message can hold.
   */
  public static final int MAX_ANSWER_BYTES = 4 * 1024 * 1024;

  /** Finds the index of the call; null if there is none. */
  public interface Source {
    ServedIndex find() throws StatusException;
  }

  /** Makes the response. */
  public interface Response<T> {
    T of(ReadCall<T> call) throws StatusException;
  }

  private final List<ByteString> keys;
  private final Source source;
  private final Outcomes outcomes;
  private final StreamObserver<T> responses;
  private final Response<T> response;
  private final Entry[] entries;

  /** Keys that owners read, and one for the caller's thread. */
  private final AtomicInteger open = new AtomicInteger();

  /** Of the values that were found. */
  private final AtomicLong bytes = new AtomicLong();

  private final AtomicReference<Status> failure = new AtomicReference<>();
  private ServedIndex index;

  /**
   * Creates the call.
   *
   * @param response makes the response of what was found.
   */
  public ReadCall(
      List<ByteString> keys,
      Source source,
      Outcomes outcomes,
      StreamObserver<T> responses,
      Response<T> response) {
    this.keys = keys;
    this.source = source;
    this.outcomes = outcomes;
    this.responses = responses;
    this.response = response;
    entries = new Entry[keys.size()];
  }

  /** The index that was read, or null if there was none. */
  public @Nullable ServedIndex index() {
    return index;
  }

  /** Number of keys. */
  public int count() {
    return entries.length;
  }

  /** The entry of a key, or null if it has none. */
  public @Nullable Entry entry(int number) {
    return entries[number];
  }

  /** Reads, and answers; at the latest on another thread, later. */
  @SuppressWarnings("ThreadPriorityCheck") // a drop is under way: the name is free soon
  public void start() throws StatusException {
    while (!read()) {
      Thread.yield();
    }
  }

  /** Reads once; false if the index was dropped meanwhile, and all is to be read again. */
  private boolean read() throws StatusException {
    open.set(1);
    failure.set(null);
    bytes.set(0);
    Arrays.fill(entries, null);
    index = source.find();
    if (index != null) {
      final ServedIndex.LocalReader reader = index.reader();
      for (int i = 0; i < entries.length && failure.get() == null && isInLimit(); i++) {
        look(reader, i);
      }
    }
    return ended();
  }

  private void look(ServedIndex.LocalReader reader, int number) {
    final ByteString key = keys.get(number);
    final ReadResult result = reader.read(key);
    if (result == ReadResult.FOUND) {
      entries[number] = reader.entry(key);
      bytes.addAndGet(entries[number].getValue().size());
    } else if (result == ReadResult.CLOSED) {
      fail(Outcomes.closed(index));
    } else if (result != ReadResult.ABSENT) {
      ask(number);
    }
  }

  /** Whether the answer may be as long as what was found; the response looks at all of it. */
  private boolean isInLimit() {
    return bytes.get() <= MAX_ANSWER_BYTES;
  }

  /** Lets the owner read a key. */
  private void ask(int number) {
    open.incrementAndGet();
    final Write read = new Write(answer -> read(answer, number)).read(keys.get(number));
    final int refused = index.partition(keys.get(number)).submit(read);
    if (refused != 0) {
      fail(outcomes.status(index, refused));
      open.decrementAndGet(); // not to 0: the caller's thread is counted
    }
  }

  private void read(Write answer, int number) {
    if (answer.outcome() == Write.DONE) {
      final Entry entry = answer.entry();
      bytes.addAndGet(entry == null ? 0 : entry.getValue().size());
      if (isInLimit()) {
        entries[number] = entry;
      } else { // many may come before the last: none is kept
        fail(answerTooLong(number, entries.length).getStatus());
      }
    } else {
      fail(outcomes.status(index, answer));
    }
    try {
      if (!ended()) {
        start();
      }
    } catch (StatusException e) {
      responses.onError(e);
    }
  }

  private void fail(Status status) {
    failure.compareAndSet(null, status);
  }

  /**
   * Called when a key, or all that the caller's thread can read, has been read: the last one
   * answers. False if all is to be read again.
   */
  private boolean ended() throws StatusException {
    if (open.decrementAndGet() != 0) {
      return true;
    }
    final Status failed = failure.get();
    if (failed == null) {
      WriteCall.answer(responses, response.of(this));
    } else if (index.isDropped()) {
      return false;
    } else {
      responses.onError(failed.asException());
    }
    return true;
  }

  public static StatusException answerTooLong(int fitting, int count) {
    final String description = "answer is too long: limit=" + MAX_ANSWER_BYTES + " bytes";
    return Status.RESOURCE_EXHAUSTED
        .withDescription(description + ", room for " + fitting + " of " + count + " entries")
        .asException();
  }
}
