package dev.ringfetch.examples.kafka;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.google.protobuf.ByteString;
import dev.ringfetch.index.client.AppendException;
import dev.ringfetch.index.client.Appended;
import dev.ringfetch.index.client.TopicLog;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.IntConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.TimeoutException;

/**
 * The batches of one partition: one is under way, the others wait in their order. A batch goes when
 * it is full, has waited for the linger time, or is flushed; records that come while the one before
 * is under way share the next. As there is one at a time, repeats and fail-overs keep the order.
 *
 * <p>Callbacks run in the order of the records, one at a time, on a thread of the index's client.
 * Thread-safe.
 */
final class PartitionBatches {
  private static final int MAX_BYTES = 1 << 20;

  private final TopicLog log;
  private final Limits limits;
  private final IntConsumer release; // of memory

  @GuardedBy("this")
  private final Deque<Batch> waiting = new ArrayDeque<>();

  @GuardedBy("this")
  private Batch underWay; // null: none

  @GuardedBy("this")
  private final Deque<Batch> ended = new ArrayDeque<>(); // whose callbacks are due

  @GuardedBy("this")
  private Thread deliverer; // runs callbacks; null: none

  @GuardedBy("this")
  private Batch delivered; // by the deliverer

  @GuardedBy("this")
  private KafkaException closed; // null: open

  /**
   * The limits of batches.
   *
   * @param bytes of a full one.
   * @param lingerNs that one waits to become full.
   * @param deliveryNs from the first record of one to its failure.
   */
  record Limits(int bytes, long lingerNs, long deliveryNs) {}

  /** Records that are appended together. */
  private static final class Batch {
    final long createdNs = System.nanoTime();
    final List<ByteString> payloads = new ArrayList<>();
    final List<SentRecord> records = new ArrayList<>();
    final CompletableFuture<Void> done = new CompletableFuture<>(); // after the callbacks
    int bytes;
    boolean isFlushed;
    Appended appended = new Appended(List.of(), List.of()); // the first ones of the records
    KafkaException failure; // of the others

    boolean hasRoom(int length, int limit) {
      return records.size() < TopicLog.MAX_RECORDS && bytes + length <= limit;
    }

    void add(ByteString payload, SentRecord record) {
      payloads.add(payload);
      records.add(record);
      bytes += payload.size();
    }

    void callBack() {
      for (int i = 0; i < records.size(); i++) {
        if (i < appended.offsets().size()) {
          records.get(i).appended(appended.offsets().get(i), appended.timeMs(i));
        } else {
          records.get(i).failed(failure);
        }
      }
      done.complete(null);
    }
  }

  PartitionBatches(TopicLog log, Limits limits, IntConsumer release) {
    this.log = log;
    this.limits = new Limits(Math.min(limits.bytes, MAX_BYTES), limits.lingerNs, limits.deliveryNs);
    this.release = release;
  }

  /**
   * Adds a record to the last batch, and sends the first one if it is due.
   *
   * @return whether it began a batch that {@link #send} has to be called for after the linger time.
   */
  boolean add(ByteString payload, SentRecord record) {
    final boolean isNew;
    synchronized (this) {
      if (closed != null) {
        throw new IllegalStateException(closed.getMessage());
      }
      isNew = waiting.isEmpty() || !waiting.getLast().hasRoom(payload.size(), limits.bytes);
      if (isNew) {
        waiting.add(new Batch());
      }
      waiting.getLast().add(payload, record);
    }
    send();
    return isNew && limits.lingerNs > 0;
  }

  /** Sends the first batch, if it is due and none is under way. */
  void send() {
    boolean hasEnded = false;
    for (Batch batch = take(); batch != null; batch = take()) {
      final Batch taken = batch;
      final CompletableFuture<Appended> appended = append(batch);
      if (appended.isDone()) { // this loop goes on, without a deeper stack
        final var unused =
            appended.whenComplete((records, failure) -> end(taken, records, failure));
        hasEnded = true;
      } else {
        final var unused =
            appended.whenComplete(
                (records, failure) -> {
                  end(taken, records, failure);
                  callBack();
                });
      }
    }
    if (hasEnded) {
      callBack();
    }
  }

  private CompletableFuture<Appended> append(Batch batch) {
    final long leftNs = limits.deliveryNs - (System.nanoTime() - batch.createdNs);
    if (leftNs <= 0) {
      return CompletableFuture.failedFuture(
          new TimeoutException(
              "records="
                  + batch.records.size()
                  + " were not sent within "
                  + Duration.ofNanos(limits.deliveryNs)));
    }
    try {
      return log.deadline(Duration.ofNanos(leftNs)).append(batch.payloads);
    } catch (RuntimeException e) { // the client is closed
      return CompletableFuture.failedFuture(e);
    }
  }

  private synchronized Batch take() {
    final Batch first = waiting.peek();
    if (underWay != null || first == null || !ended.isEmpty()) { // slow callbacks slow it down
      return null;
    }
    final boolean isDue =
        first.isFlushed
            || waiting.size() > 1
            || !first.hasRoom(1, limits.bytes)
            || System.nanoTime() - first.createdNs >= limits.lingerNs;
    if (isDue) {
      underWay = waiting.remove();
    }
    return underWay;
  }

  private void end(Batch batch, Appended appended, Throwable failure) {
    final Throwable cause =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    synchronized (this) {
      if (underWay != batch) { // the producer was closed
        return;
      }
      underWay = null;
      batch.payloads.clear(); // its callbacks may wait for those of others
      if (cause == null) {
        batch.appended = appended;
      } else {
        batch.failure = Failures.of(cause);
        if (cause instanceof AppendException partial) {
          batch.appended = partial.appended();
        }
      }
      ended.add(batch);
    }
    release.accept(batch.bytes); // before callbacks, which may send
  }

  /**
   * Sends the next batch and runs the callbacks that are due, unless another thread does. Besides
   * these, at most one batch has ended.
   */
  private void callBack() {
    while (true) {
      final Batch batch;
      synchronized (this) {
        if (deliverer != null || ended.isEmpty()) {
          return;
        }
        deliverer = Thread.currentThread();
        batch = ended.remove();
        delivered = batch;
      }
      try {
        send();
        batch.callBack();
      } finally {
        synchronized (this) {
          deliverer = null;
          delivered = null;
        }
      }
    }
  }

  /** True if this thread runs callbacks of this partition. */
  synchronized boolean isInCallback() {
    return deliverer == Thread.currentThread();
  }

  /** Sends all batches without linger; the futures end after the callbacks. */
  List<CompletableFuture<Void>> flush() {
    final List<CompletableFuture<Void>> all = new ArrayList<>();
    synchronized (this) {
      if (delivered != null) {
        all.add(delivered.done);
      }
      ended.forEach(batch -> all.add(batch.done));
      if (underWay != null) {
        all.add(underWay.done);
      }
      for (final Batch batch : waiting) {
        batch.isFlushed = true;
        all.add(batch.done);
      }
    }
    send();
    return all;
  }

  /** Fails what has not ended, and refuses more. */
  void close(KafkaException reason) {
    final List<Batch> failed = new ArrayList<>();
    synchronized (this) {
      closed = reason;
      if (underWay != null) {
        failed.add(underWay);
        underWay = null;
      }
      failed.addAll(waiting);
      waiting.clear();
      failed.forEach(batch -> batch.failure = reason);
      ended.addAll(failed);
    }
    failed.forEach(batch -> release.accept(batch.bytes));
    callBack();
  }
}
