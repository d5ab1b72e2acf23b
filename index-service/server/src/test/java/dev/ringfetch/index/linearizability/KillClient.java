package dev.ringfetch.index.linearizability;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.BatchPutRequest;
import dev.ringfetch.index.v1.BatchPutResponse;
import dev.ringfetch.index.v1.CompareAndSetRequest;
import dev.ringfetch.index.v1.CompareAndSetResponse;
import dev.ringfetch.index.v1.DeleteRangeRequest;
import dev.ringfetch.index.v1.DeleteRangeResponse;
import dev.ringfetch.index.v1.DeleteRequest;
import dev.ringfetch.index.v1.DeleteResponse;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.KeyRange;
import dev.ringfetch.index.v1.OperationAnswer;
import dev.ringfetch.index.v1.PutEntry;
import dev.ringfetch.index.v1.PutOutcome;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.PutResponse;
import dev.ringfetch.index.v1.TransactRequest;
import dev.ringfetch.index.v1.TransactResponse;
import dev.ringfetch.index.v1.UpdateRequest;
import dev.ringfetch.index.v1.UpdateResponse;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * One thread's worth of operations on all indexes of a {@link KillRun}, drawn from a seed. Used by
 * one thread at a time.
 */
final class KillClient {
  private static final int PAUSE_NS = 6_000_000;
  private static final int BATCH_MAX = 3;
  private static final int TTL_MAX_MS = 1200;

  /** The server's time is in milliseconds, and so may be before the client's. */
  private static final long CLOCK_NS = TimeUnit.MILLISECONDS.toNanos(5);

  private final int id;
  private final Random random;
  private final List<KilledIndex> indexes;
  private final KillCounts counts;
  private final NumberedCalls calls;
  private KillEpoch epoch;
  private KilledIndex index;
  private long seen; // a version that was answered last
  private long writes;

  KillClient(
      int id,
      Random random,
      List<KilledIndex> indexes,
      KillGate gate,
      KillCounts counts,
      List<Route> routes) {
    this.id = id;
    this.random = random;
    this.indexes = indexes;
    this.counts = counts;
    this.calls = new NumberedCalls(gate, counts, routes, random);
  }

  /** Makes calls until told to end. */
  void run(Supplier<KillEpoch> epochs, BooleanSupplier ended) throws InterruptedException {
    while (!ended.getAsBoolean()) {
      epoch = epochs.get();
      try {
        index = indexes.get(random.nextInt(indexes.size()));
        operate(random.nextInt(KillEpoch.KEYS));
      } finally {
        epoch.exit();
      }
      LockSupport.parkNanos(1 + random.nextInt(PAUSE_NS));
    }
  }

  private void operate(int key) throws InterruptedException {
    switch (random.nextInt(14)) {
      case 0, 1, 2, 3 -> get(key);
      case 4, 5 -> put(key);
      case 6 -> batchPut(key);
      case 7 -> delete(key);
      case 12 -> {
        if (index.durability() == Durability.DISK) {
          increment();
        } else {
          get(key);
        }
      }
      case 13 -> transfer();
      case 8 -> {
        if (index.kind() == IndexKind.ORDERED) {
          deleteRange(key);
        } else {
          delete(key);
        }
      }
      default -> compareAndSet(key);
    }
  }

  private long value() {
    return Values.number(id, ++writes);
  }

  private long ttl() {
    return random.nextInt(6) == 0 ? 30 + random.nextInt(TTL_MAX_MS) : 0;
  }

  private Answer entry(boolean yes, boolean present, Entry entry, long incarnation) {
    seen = present ? entry.getVersion() : 0;
    return present
        ? new Answer(yes, entry.getVersion(), Values.number(entry.getValue()), incarnation)
        : new Answer(yes, 0, 0, incarnation);
  }

  private KillEpoch.Seen add(int key, Call call, Answer answer) {
    final KillEpoch.Seen added =
        new KillEpoch.Seen(
            new Operation(
                key, call, answer, calls.route().ring(), calls.invokedNs(), calls.answeredNs()),
            calls.began(),
            calls.answered(),
            false);
    epoch.add(index, added);
    return added;
  }

  private void addWrite(int key, Call call, Answer answer, long ttlMs) {
    final KillEpoch.Seen write = add(key, call, answer);
    if (ttlMs != 0
        && (answer.isOpen() || call.kind() != Call.Kind.COMPARE_AND_SET || answer.yes())) {
      counts.expired.incrementAndGet();
      epoch.addEnd(
          index, write, calls.invokedNs() + TimeUnit.MILLISECONDS.toNanos(ttlMs) - CLOCK_NS);
    }
  }

  private void get(int key) throws InterruptedException {
    final GetResponse response =
        calls.read(
            index,
            IndexGrpc.getGetMethod(),
            GetRequest.newBuilder().setIndex(index.name()).setKey(epoch.key(key)).build());
    if (response != null) {
      final Answer answer =
          entry(
              response.hasEntry(),
              response.hasEntry(),
              response.getEntry(),
              response.getIncarnation());
      add(key, Call.read(Call.Kind.GET), answer);
    }
  }

  private void put(int key) throws InterruptedException {
    final long value = value();
    final long ttlMs = ttl();
    final PutRequest.Builder request =
        PutRequest.newBuilder()
            .setIndex(index.name())
            .setKey(epoch.key(key))
            .setValue(Values.bytes(value))
            .setTtlMs(ttlMs);
    final PutResponse response =
        calls.write(
            index, IndexGrpc.getPutMethod(), number -> request.setNumber(number).build(), 1);
    final Answer answer =
        response == null
            ? Answer.OPEN
            : new Answer(
                response.getCreated(), response.getVersion(), 0, response.getIncarnation());
    addWrite(key, Call.put(value), answer, ttlMs);
  }

  private void batchPut(int key) throws InterruptedException {
    final int count = 1 + random.nextInt(BATCH_MAX);
    final long ttlMs = ttl();
    final long[] values = new long[count];
    final BatchPutRequest.Builder request = BatchPutRequest.newBuilder().setIndex(index.name());
    for (int i = 0; i < count; i++) {
      values[i] = value();
      request.addEntries(
          PutEntry.newBuilder()
              .setKey(epoch.key((key + i) % KillEpoch.KEYS))
              .setValue(Values.bytes(values[i]))
              .setTtlMs(ttlMs));
    }
    final BatchPutResponse response =
        calls.write(
            index,
            IndexGrpc.getBatchPutMethod(),
            number -> request.setNumber(number).build(),
            count);
    for (int i = 0; i < count; i++) {
      Answer answer = Answer.OPEN;
      if (response != null) {
        final PutOutcome outcome = response.getOutcomes(i);
        if (outcome.getCode() != 0) {
          throw new AssertionError("an entry of a batch was not written: " + outcome);
        }
        answer =
            new Answer(outcome.getCreated(), outcome.getVersion(), 0, response.getIncarnation());
      }
      addWrite((key + i) % KillEpoch.KEYS, Call.batchPut(values[i]), answer, ttlMs);
    }
  }

  private void delete(int key) throws InterruptedException {
    final DeleteRequest.Builder request =
        DeleteRequest.newBuilder().setIndex(index.name()).setKey(epoch.key(key));
    final DeleteResponse response =
        calls.write(
            index, IndexGrpc.getDeleteMethod(), number -> request.setNumber(number).build(), 1);
    add(
        key,
        Call.delete(),
        response == null
            ? Answer.OPEN
            : new Answer(response.getExisted(), 0, 0, response.getIncarnation()));
  }

  /** Removes one to three keys. */
  private void deleteRange(int first) throws InterruptedException {
    final int end = Math.min(KillEpoch.KEYS, first + 1 + random.nextInt(BATCH_MAX));
    final ByteString beyond = epoch.key(end - 1).concat(ByteString.copyFrom(new byte[1]));
    final DeleteRangeRequest.Builder request =
        DeleteRangeRequest.newBuilder()
            .setIndex(index.name())
            .setRange(KeyRange.newBuilder().setStart(epoch.key(first)).setEnd(beyond));
    final DeleteRangeResponse response =
        calls.write(
            index,
            IndexGrpc.getDeleteRangeMethod(),
            number -> request.setNumber(number).build(),
            1);
    if (response != null && (response.getMore() || response.getRemoved() > end - first)) {
      throw new AssertionError("keys=" + (end - first) + " " + response);
    }
    counts.rangesRemoved.incrementAndGet();
    for (int key = first; key < end; key++) {
      // One of each server that was killed may have removed the key, too, before another write.
      for (int i = calls.began(); i < calls.answered(); i++) {
        add(key, Call.removal(0), Answer.OPEN);
      }
      add(
          key,
          Call.removal(0),
          response == null ? Answer.OPEN : new Answer(false, 0, 0, response.getIncarnation()));
    }
  }

  private void increment() throws InterruptedException {
    final long floor = index.counter().floor();
    final UpdateRequest.Builder request =
        UpdateRequest.newBuilder().setIndex(index.name()).setKey(KillCounter.KEY);
    request.getIncrementBuilder().setDelta(1);
    final UpdateResponse response =
        calls.write(
            index, IndexGrpc.getUpdateMethod(), number -> request.setNumber(number).build(), 1);
    index.counter().answered(floor, response.getCounter());
  }

  /**
   * Moves something from one account to another, and reads all of them, in one transaction: their
   * sum stays 0. On disk, the counter counts it, too.
   */
  private void transfer() throws InterruptedException {
    final boolean isCounted = index.durability() == Durability.DISK;
    final long floor = index.counter().floor();
    final int from = random.nextInt(KillCounter.ACCOUNTS);
    final int to = (from + 1 + random.nextInt(KillCounter.ACCOUNTS - 1)) % KillCounter.ACCOUNTS;
    final int amount = random.nextInt(1000);
    final TransactRequest.Builder request = TransactRequest.newBuilder().setIndex(index.name());
    add(request, KillCounter.account(from), -amount);
    add(request, KillCounter.account(to), amount);
    for (int i = 0; i < KillCounter.ACCOUNTS; i++) {
      request.addThenBuilder().setKey(KillCounter.account(i)).getGetBuilder();
    }
    if (isCounted) {
      add(request, KillCounter.KEY, 1);
    }
    final TransactResponse response =
        calls.write(
            index, IndexGrpc.getTransactMethod(), number -> request.setNumber(number).build(), 1);
    if (response == null) {
      return; // it is gone with the index
    }
    final List<OperationAnswer> answers = response.getAnswersList();
    KillCounter.checkAccounts(
        answers.subList(2, 2 + KillCounter.ACCOUNTS).stream()
            .map(OperationAnswer::getEntry)
            .toList());
    if (isCounted) {
      index.counter().answered(floor, answers.get(answers.size() - 1).getCounter());
    }
    counts.transferred.incrementAndGet();
  }

  private static void add(TransactRequest.Builder request, ByteString key, long delta) {
    request.addThenBuilder().setKey(key).getIncrementBuilder().setDelta(delta);
  }

  private void compareAndSet(int key) throws InterruptedException {
    final long value = value();
    final long ttlMs = ttl();
    final long expected = expected(key);
    final CompareAndSetRequest.Builder request =
        CompareAndSetRequest.newBuilder()
            .setIndex(index.name())
            .setKey(epoch.key(key))
            .setValue(Values.bytes(value))
            .setExpectedVersion(expected)
            .setTtlMs(ttlMs);
    final CompareAndSetResponse response =
        calls.write(
            index,
            IndexGrpc.getCompareAndSetMethod(),
            number -> request.setNumber(number).build(),
            1);
    if (response != null && response.getValueGone()) {
      return; // it has changed nothing, and says nothing
    }
    final Answer answer =
        response == null
            ? Answer.OPEN
            : entry(
                response.getApplied(),
                response.hasEntry(),
                response.getEntry(),
                response.getIncarnation());
    addWrite(key, Call.compareAndSet(expected, value), answer, ttlMs);
  }

  /** The version that a read has just found; now and then another one, or none. */
  private long expected(int key) throws InterruptedException {
    if (random.nextInt(8) == 0) {
      return random.nextBoolean() ? 0 : seen;
    }
    get(key);
    return seen;
  }
}
