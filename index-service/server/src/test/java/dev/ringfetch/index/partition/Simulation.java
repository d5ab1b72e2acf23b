package dev.ringfetch.index.partition;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.Entry;
import java.math.BigInteger;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;

/**
 * One partition with many clients, on one thread, drawn from a seed. Clients also act while an
 * owner works, within calls of store and log, and within listeners, as other threads would.
 *
 * <p>Writes are validated in the order of their submission, so that a replay in this order says
 * which answer each may get.
 */
final class Simulation {
  private static final int KEYS = 4;
  private static final int MAX_DEPTH = 3;

  private final Random random;
  private final int capacity;
  private final int patience;
  private final LateLog log;
  private final BookStore store;
  private final Partition partition;
  private final List<Op> ops = new ArrayList<>();
  private final List<Op> open = new ArrayList<>();
  private final IdentityHashMap<Write, Op> byWrite = new IdentityHashMap<>();
  private final List<PutBatch> openBatches = new ArrayList<>();
  private final List<Throwable> errors = new ArrayList<>();
  private final Deque<Runnable> tasks = new ArrayDeque<>();
  private int depth;
  private int applied;
  private int values;
  private int stopAt;
  private boolean ended;
  private boolean closed;
  private boolean closedTold;
  private int queueFull;
  private int handedOver;

  /** Draws a partition, its log, and its store. */
  Simulation(long seed) {
    random = new Random(seed);
    capacity = 1 << random.nextInt(6);
    patience = random.nextInt(8);
    log =
        random.nextInt(8) == 0
            ? new LateLog(CommitLog.MAX_LSN - random.nextInt(60), 1)
            : new LateLog(random.nextInt(3) * 1_000L, 1 + random.nextInt(3));
    store = new BookStore(random.nextInt(3) == 0 ? 20 + random.nextInt(200) : 1_000_000);
    partition =
        new Partition(
            store,
            log,
            capacity,
            errors::add,
            new Handover(
                task -> {
                  tasks.add(task);
                  handedOver++;
                },
                1 + random.nextInt(4)));
    log.hook(this::interrupt);
    store.hook(this::interrupt);
    store.onApply(this::checkApplied);
  }

  /** Acts that many times, ends what waits in one way or another, and checks everything. */
  void run(int steps) {
    stopAt = steps;
    for (int i = 0; i < steps; i++) {
      act();
      checkRest();
    }
    ended = true; // nothing acts within others any more
    runTasks();
    switch (random.nextInt(4)) {
      case 0 -> log.fail();
      case 1 -> close();
      default -> {
        log.scarce(false);
        runTasks();
        for (int before = -1; before != applied; ) { // what waits for room follows
          before = applied;
          log.commitAll();
          runTasks();
        }
      }
    }
    checkRest();
    checkEnd();
  }

  List<Throwable> errors() {
    return errors;
  }

  int queueFull() {
    return queueFull;
  }

  int handedOver() {
    return handedOver;
  }

  int postponed() {
    return log.postponed();
  }

  int memoryFull() {
    return store.refused();
  }

  /** Number of operations with this outcome. */
  long count(int outcome) {
    return ops.stream().filter(op -> op.answered && op.write.outcome() == outcome).count();
  }

  /** Number of answers that wait for the record of another write. */
  long dependants() {
    return ops.stream().filter(op -> op.awaited > 0 && op.waited && log.lsn(op.write) == 0).count();
  }

  private void interrupt() {
    if (!ended && depth < MAX_DEPTH && random.nextInt(12) == 0) {
      act();
    }
  }

  private void act() {
    depth++;
    final int choice = random.nextInt(100);
    if (choice < 22) {
      put();
    } else if (choice < 25) {
      submit(write().getAndSet(key(), value()));
    } else if (choice < 34) {
      submit(write().delete(key()));
    } else if (choice < 37) {
      final ByteString key = key();
      submit(write().deleteIf(key, expected(key)));
    } else if (choice < 41) {
      final ByteString key = key();
      submit(write().touch(key, expected(key), 0));
    } else if (choice < 51) {
      final long delta = random.nextInt(8) == 0 ? Long.MAX_VALUE : random.nextInt(9) - 4;
      submit(write().increment(key(), delta));
    } else if (choice < 65) {
      final ByteString key = key();
      submit(write().compareAndSet(key, expected(key), value()));
    } else if (choice < 68) {
      submit(write().read(key()));
    } else if (choice < 72) {
      batch();
    } else if (choice < 73 && random.nextInt(stopAt) == 0) {
      log.fail();
    } else if (choice < 74 && random.nextInt(stopAt) == 0) {
      close();
    } else if (choice < 77) {
      log.scarce(random.nextInt(3) == 0);
    } else if (choice < 83 && !tasks.isEmpty()) {
      tasks.remove().run();
    } else if (random.nextInt(8) >= patience) {
      log.commit(1 + random.nextInt(2 * capacity));
    }
    depth--;
  }

  private void close() {
    if (!closed) {
      closed = true;
      partition.close(() -> closedTold = true);
    }
  }

  private Write write() {
    return new Write(this::onAnswer);
  }

  private void put() {
    submit(write().put(key(), value()));
  }

  private void submit(Write write) {
    final Op op = add(write);
    if (partition.submit(write) == Write.QUEUE_FULL) {
      check(!op.answered, "answered although it was refused");
      op.refused = true;
      queueFull++;
    }
  }

  private void batch() {
    final PutBatch batch = new PutBatch(this::onAnswer);
    for (int i = random.nextInt(6); i >= 0; i--) {
      batch.add(partition, key(), value());
      add(batch.write(batch.size() - 1)).batch = batch;
    }
    openBatches.add(batch);
    batch.submit();
  }

  private Op add(Write write) {
    final Op op = new Op(ops.size(), write);
    ops.add(op);
    open.add(op);
    byWrite.put(write, op);
    return op;
  }

  private ByteString key() {
    return ByteString.copyFromUtf8("k" + random.nextInt(KEYS));
  }

  private ByteString value() {
    return ByteString.copyFromUtf8("v" + values++);
  }

  /** The newest version of a key, committed or not; the committed one; or any. */
  private long expected(ByteString key) {
    final int choice = random.nextInt(6);
    if (choice == 0) {
      return random.nextInt(20);
    }
    if (choice == 1) {
      final Entry entry = store.read(key);
      return entry == null ? 0 : entry.getVersion();
    }
    for (int i = log.records().size() - 1; i >= 0; i--) {
      final Write record = log.records().get(i);
      if (record.key().equals(key)) {
        return record.kind() == WriteKind.DELETE ? 0 : log.lsn(record);
      }
    }
    return 0;
  }

  private void onAnswer(Write write) {
    onAnswer(byWrite.get(write));
    if (!ended && depth < MAX_DEPTH && random.nextInt(6) == 0) {
      act();
    }
  }

  private void onAnswer(PutBatch batch) {
    check(openBatches.remove(batch), "a batch was answered twice");
    for (int i = 0; i < batch.size(); i++) {
      final Op op = byWrite.get(batch.write(i));
      if (batch.write(i).outcome() == Write.QUEUE_FULL) {
        op.refused = true;
        queueFull++;
      } else {
        onAnswer(op);
      }
    }
  }

  private void onAnswer(Op op) {
    check(!op.answered, "answered twice");
    op.answered = true;
    final long lsn = log.lsn(op.write);
    switch (op.write.outcome()) {
      case Write.DONE -> {
        check(op.write.version() == lsn, op.write.version() + " is not the LSN " + lsn);
        op.awaited = awaited(op);
        check(log.isCommitted(op.awaited), "answered before the commit of " + op.awaited);
        check(lsn == 0 || isApplied(lsn), "answered before it was applied");
      }
      case Write.MEMORY_FULL -> check(lsn == 0, "appended without memory");
      case Write.UNKNOWN -> check(log.isFailed() || closed, "unknown without a reason");
      case Write.UNAVAILABLE -> {
        check(lsn == 0, "appended although unavailable");
        check(log.isFailed() || closed, "unavailable without a reason");
      }
      case Write.VERSIONS_EXHAUSTED -> check(lsn == 0, "appended without a version");
      default -> throw new AssertionError("outcome=" + op.write.outcome());
    }
  }

  /**
   * The LSN that an answer has to wait for: its own, or that of the newest record it can tell of.
   */
  private long awaited(Op op) {
    final long own = log.lsn(op.write);
    for (int i = op.number - 1; own == 0 && i >= 0; i--) {
      final Op earlier = ops.get(i);
      final long lsn = log.lsn(earlier.write);
      if (lsn > 0 && earlier.write.key().equals(op.write.key())) {
        return lsn;
      }
    }
    return own;
  }

  private boolean isApplied(long lsn) {
    return applied > 0 && lsn <= log.lsn(log.records().get(applied - 1));
  }

  /** Records are applied in the order of the log, after their commit. */
  private void checkApplied() {
    check(applied < log.committedRecords(), "applied before its commit");
    applied++;
  }

  private void runTasks() {
    while (!tasks.isEmpty()) {
      tasks.remove().run();
    }
  }

  /** While nothing acts, and no task waits, nothing is left behind that could be done. */
  private void checkRest() {
    if (!ended && random.nextInt(4) == 0) {
      return; // tasks may wait longer
    }
    runTasks();
    check(errors.isEmpty(), "errors: " + errors);
    if (log.isFailed() || closed) {
      check(openBatches.isEmpty(), "a batch was left behind at the end");
      open.removeIf(Op::isEnded);
      check(open.isEmpty(), "a write was left behind at the end");
      check(store.reserved() == 0, "reserved at the end: " + store.reserved());
      check(!closed || closedTold, "the end was not told");
      return;
    }
    check(applied == log.committedRecords(), "committed and not applied");
    long reserved = 0;
    for (final Write record : log.records().subList(applied, log.records().size())) {
      reserved +=
          record.kind() == WriteKind.DELETE ? 0 : record.key().size() + record.value().size();
    }
    check(store.reserved() == reserved, "reserved=" + store.reserved() + " for " + reserved);
    checkWaiting();
  }

  private void checkWaiting() {
    int waiting = 0;
    boolean idle = false;
    open.removeIf(Op::isEnded);
    for (final Op op : open) {
      if (op.batch == null) {
        waiting++;
        op.waited = true;
        idle |= log.isCommitted(awaited(op));
      }
    }
    for (final PutBatch batch : openBatches) {
      boolean legal = false;
      for (int i = 0; i < batch.size(); i++) {
        waiting++;
        legal |= !log.isCommitted(awaited(byWrite.get(batch.write(i))));
      }
      idle |= !legal;
    }
    check(
        !idle || waiting >= capacity || log.isLacking(),
        "a write was left behind: waiting=" + waiting);
  }

  private void checkEnd() {
    check(ops.stream().allMatch(Op::isEnded), "a write has no answer");
    check(store.reserved() == 0, "reserved at the end: " + store.reserved());
    check(count(Write.MEMORY_FULL) == store.refused(), "refused=" + store.refused());
    final Map<ByteString, Entry> entries = new HashMap<>();
    final Map<ByteString, Op> unknown = new HashMap<>();
    long newest = 0;
    for (final Op op : ops) {
      if (op.refused || op.write.outcome() != Write.DONE) {
        if (!op.refused && op.write.outcome() == Write.UNKNOWN) {
          unknown.put(op.write.key(), op);
        }
        continue;
      }
      check(!unknown.containsKey(op.write.key()), "known after an unknown one: " + op);
      checkAnswer(op, entries.get(op.write.key()));
      if (op.write.version() > 0) {
        check(op.write.version() > newest, "a version went back: " + op);
        newest = op.write.version();
      }
      replay(op.write, entries);
    }
    for (int i = 0; i < KEYS; i++) {
      final ByteString key = ByteString.copyFromUtf8("k" + i);
      final Entry found = store.read(key);
      final Entry expected = entries.get(key);
      check(
          expected == null ? found == null : expected.equals(found),
          "read " + found + ", not " + expected);
    }
  }

  private static void checkAnswer(Op op, Entry before) {
    final Write write = op.write;
    final long version = before == null ? 0 : before.getVersion();
    switch (write.kind()) {
      case PUT -> {
        check(write.created() == (before == null), op + " found " + before);
        check(
            Objects.equals(write.answersPrevious() ? before : null, write.entry()),
            op + " replaced " + before + " answered " + write.entry());
      }
      case DELETE -> check(write.existed() == isExpected(op, version), op + " found " + before);
      case TOUCH -> {
        check(write.applied() == isExpected(op, version), op + " found " + before);
        check(!write.applied() || write.value().equals(before.getValue()), op + " of " + before);
        check(write.applied() || write.detail() == version, op + " found " + before);
      }
      case INCREMENT -> {
        final BigInteger sum = sum(before, write.expectedVersion());
        if (sum == null || sum.bitLength() >= Long.SIZE) {
          check(write.isUnchanged(), op + " added to " + before);
          check(write.detail() == before.getValue().size(), op + " found " + before);
        } else {
          check(!write.isUnchanged() && write.detail() == sum.longValue(), op + " of " + before);
          check(write.created() == (before == null), op + " found " + before);
        }
      }
      case COMPARE_AND_SET -> {
        check(write.applied() == (version == write.expectedVersion()), op + " found " + before);
        final Entry entry = write.applied() ? write.written() : before;
        check(
            entry == null ? write.entry() == null : entry.equals(write.entry()),
            op + " answered " + write.entry() + ", not " + entry);
      }
      case READ ->
          check(
              Objects.equals(before, write.entry()),
              op + " read " + write.entry() + ", not " + before);
      case TRANSACTION, TICK, RANGE_BEGIN, RANGE_DELETE, RANGE_END ->
          throw new AssertionError(write.kind());
    }
  }

  /** Whether a write that may expect a version finds an entry that it accepts. */
  private static boolean isExpected(Op op, long version) {
    final long expected = op.write.expectedVersion();
    return version != 0 && (expected == 0 || expected == version);
  }

  /** The counter after an addition; null if the entry is none. */
  private static BigInteger sum(Entry before, long delta) {
    if (before == null) {
      return BigInteger.valueOf(delta);
    }
    final byte[] value = before.getValue().toByteArray();
    if (value.length != Long.BYTES) {
      return null;
    }
    value[0] ^= (byte) 0x80; // the sign bit
    return new BigInteger(value).add(BigInteger.valueOf(delta));
  }

  private static void replay(Write write, Map<ByteString, Entry> entries) {
    switch (write.kind()) {
      case DELETE -> {
        if (write.existed()) {
          entries.remove(write.key());
        }
      }
      case PUT, COMPARE_AND_SET, INCREMENT, TOUCH -> {
        if (!write.isUnchanged()) {
          entries.put(write.key(), write.written());
        }
      }
      default -> {}
    }
  }

  private static void check(boolean holds, String otherwise) {
    if (!holds) {
      throw new AssertionError(otherwise);
    }
  }

  /** One write of a client. */
  private static final class Op {
    private final int number;
    private final Write write;
    private PutBatch batch;
    private boolean refused;
    private boolean answered;
    private boolean waited;
    private long awaited;

    Op(int number, Write write) {
      this.number = number;
      this.write = write;
    }

    boolean isEnded() {
      return refused || answered;
    }

    @Override
    public String toString() {
      return String.format(
          "%d: %s %s expected=%d version=%d",
          number,
          write.kind(),
          write.key().toStringUtf8(),
          write.expectedVersion(),
          write.version());
    }
  }
}
