package dev.ringfetch.index.linearizability;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.BatchGetRequest;
import dev.ringfetch.index.v1.BatchGetResponse;
import dev.ringfetch.index.v1.BatchPutRequest;
import dev.ringfetch.index.v1.BatchPutResponse;
import dev.ringfetch.index.v1.DeleteRangeRequest;
import dev.ringfetch.index.v1.DeleteRangeResponse;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.KeyRange;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * The many entries of a {@link KillRun}, of which snapshots have something to do: one thread writes
 * them in batches and removes them in ranges, so that it knows exactly what has to be there, and
 * how many a removal counts.
 */
final class KillBallast {
  private static final int KEYS = 2000;
  private static final int BATCH = 40;
  private static final int READ = 500;
  private static final int PAUSE_NS = 20_000_000;

  private final KilledIndex index;
  private final NumberedCalls calls;
  private final Random random;
  private final KillCounts counts;
  private final long[] numbers = new long[KEYS]; // guarded by this; 0: absent
  private final long[] versions = new long[KEYS]; // guarded by this
  private int busy = -1; // guarded by this; the first key of the batch under way
  private long batches; // guarded by this
  private long number;

  KillBallast(KilledIndex index, NumberedCalls calls, Random random, KillCounts counts) {
    this.index = index;
    this.calls = calls;
    this.random = random;
    this.counts = counts;
  }

  KilledIndex index() {
    return index;
  }

  private static ByteString key(int key) {
    return ByteString.copyFromUtf8(String.format("ballast %05d", key));
  }

  private static ByteString value(long number) {
    return ByteString.copyFromUtf8((number + ";").repeat(40));
  }

  /** Writes until told to end. */
  void run(BooleanSupplier ended) throws InterruptedException {
    while (!ended.getAsBoolean()) {
      final int first = random.nextInt(KEYS - BATCH);
      synchronized (this) {
        busy = first;
        batches++;
      }
      if (index.kind() == IndexKind.ORDERED && random.nextInt(8) == 0) {
        remove(first);
      } else {
        put(first);
      }
      LockSupport.parkNanos(1 + random.nextInt(PAUSE_NS));
    }
  }

  private void put(int first) throws InterruptedException {
    final BatchPutRequest.Builder request = BatchPutRequest.newBuilder().setIndex(index.name());
    final long firstNumber = number + 1;
    for (int key = first; key < first + BATCH; key++) {
      request.addEntriesBuilder().setKey(key(key)).setValue(value(++number));
    }
    final BatchPutResponse response =
        calls.write(
            index, IndexGrpc.getBatchPutMethod(), named -> request.setNumber(named).build(), BATCH);
    synchronized (this) {
      for (int i = 0; i < BATCH; i++) {
        final long version = response.getOutcomes(i).getVersion();
        if (response.getOutcomes(i).getCode() != 0
            || version <= versions[first + i]
            || response.getOutcomes(i).getCreated() != (numbers[first + i] == 0)) {
          throw new AssertionError(
              index
                  + " key="
                  + (first + i)
                  + " before="
                  + numbers[first + i]
                  + "@"
                  + versions[first + i]
                  + " answer="
                  + response.getOutcomes(i));
        }
        numbers[first + i] = firstNumber + i;
        versions[first + i] = version;
      }
      busy = -1;
    }
  }

  private void remove(int first) throws InterruptedException {
    final DeleteRangeRequest.Builder request =
        DeleteRangeRequest.newBuilder()
            .setIndex(index.name())
            .setRange(KeyRange.newBuilder().setStart(key(first)).setEnd(key(first + BATCH)));
    final DeleteRangeResponse response =
        calls.write(
            index, IndexGrpc.getDeleteRangeMethod(), named -> request.setNumber(named).build(), 1);
    counts.rangesRemoved.incrementAndGet();
    synchronized (this) {
      int present = 0;
      for (int key = first; key < first + BATCH; key++) {
        present += numbers[key] == 0 ? 0 : 1;
        numbers[key] = 0;
      }
      busy = -1;
      if (response.getRemoved() != present || response.getMore()) {
        throw new AssertionError(
            index
                + " first="
                + first
                + " present="
                + present
                + " attempts="
                + calls.attempts()
                + " answer="
                + response);
      }
    }
  }

  /** Compares all entries with what was answered, but for those of a batch under way. */
  void check(IndexGrpc.IndexBlockingStub stub) {
    for (int first = 0; first < KEYS; first += READ) {
      final long[] before;
      final int busyBefore;
      final long batchesBefore;
      synchronized (this) {
        before = numbers.clone();
        busyBefore = busy;
        batchesBefore = batches;
      }
      final BatchGetRequest.Builder request = BatchGetRequest.newBuilder().setIndex(index.name());
      for (int key = first; key < first + READ; key++) {
        request.addKeys(key(key));
      }
      final BatchGetResponse response = stub.batchGet(request.build());
      synchronized (this) {
        // More than one batch may have come and gone meanwhile: then most say nothing.
        for (int key = first; key < first + READ; key++) {
          final boolean changing =
              isIn(busyBefore, key) || isIn(busy, key) || before[key] != numbers[key];
          if (!changing && batches <= batchesBefore + 1) {
            check(key, response.getAnswers(key - first).getEntry());
          }
        }
      }
    }
  }

  private static boolean isIn(int first, int key) {
    return first >= 0 && key >= first && key < first + BATCH;
  }

  private void check(int key, Entry entry) {
    counts.entriesCompared.incrementAndGet();
    final boolean same =
        numbers[key] == 0
            ? entry.getVersion() == 0
            : entry.getVersion() == versions[key] && entry.getValue().equals(value(numbers[key]));
    if (!same) {
      throw new AssertionError(
          index
              + " key="
              + key
              + " answered="
              + numbers[key]
              + "@"
              + versions[key]
              + " found@"
              + entry.getVersion()
              + " batches="
              + batches);
    }
  }
}
