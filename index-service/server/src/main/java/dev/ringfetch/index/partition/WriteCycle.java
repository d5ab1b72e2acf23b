package dev.ringfetch.index.partition;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.MemoryFaults;
import dev.ringfetch.index.store.EntryStore;
import dev.ringfetch.index.store.StoreDamagedException;
import java.util.Objects;
import org.agrona.ErrorHandler;
import org.jspecify.annotations.Nullable;

/**
 * The duty cycle of a partition's owner: takes submissions from the queue, carries out tasks,
 * validates writes against the store and all uncommitted records, appends their records, applies
 * records after their commit in the order of their LSNs, and collects the answers.
 *
 * <p>An answer waits for the commit of the record that it tells of: the write's own, or the newest
 * one of the key if the write appends none. So no answer tells of anything that might be lost.
 *
 * <p>One cycle is bounded: by a number of writes, a number of commits with their waiting answers,
 * and one step of the store's growth. Used by the owner alone.
 */
final class WriteCycle {
  /** Writes, or applied records, of one cycle: few enough that their answers need not wait long. */
  static final int CYCLE_LIMIT = 32;

  private enum State {
    OPEN,
    /** The log, the store or the cycle has failed. */
    FAILED,
    /** The memory of the index was found damaged. */
    DAMAGED,
    CLOSED
  }

  private final EntryStore store;
  private final CommitLog log;
  private final WriteQueue queue;
  private final NumberedWrites numbered;
  private final int capacity;
  private final ErrorHandler errors;
  private final @Nullable ExpiryCycle expiry; // null if the store has no deadlines
  private final UncommittedRecords records = new UncommittedRecords();
  private final AppliedRecords applied;
  private final KeyState present;
  private final WriteValidation validation;
  private final TransactionCycle transactions;
  private final Answers answers = new Answers();

  private volatile boolean writesEnded;
  private State state = State.OPEN;
  private @Nullable Submission current; // taken from the queue
  private @Nullable Write applying; // removed from the records
  private long committed;
  private long appended;

  /**
   * Creates the cycle.
   *
   * @param context has the limit of writes that wait for their commit.
   */
  WriteCycle(EntryStore store, CommitLog log, WriteQueue queue, PartitionContext context) {
    this.store = store;
    this.log = log;
    this.queue = queue;
    capacity = context.capacity();
    errors = context.owner().errors();
    numbered = new NumberedWrites(context.outcomes());
    expiry = ExpiryCycle.of(store, context);
    applied = new AppliedRecords(store, expiry);
    present = new KeyState(store, records, expiry, context.appends() != null);
    validation = new WriteValidation(store, present);
    transactions = new TransactionCycle(present, expiry);
    committed = log.committed();
    appended = committed;
  }

  /**
   * Runs one cycle. If a cycle finds damaged memory, all its answers report that.
   *
   * @param closing whether to end all waiting writes first; the store is not used afterwards.
   */
  void work(boolean closing) {
    // The JVM reports unmapped memory late, and may bypass a handler in the method with the loop:
    // see MemoryRegion.verify().
    try {
      cycle(closing);
      store.verify();
    } catch (InternalError | StoreDamagedException damage) {
      lose(damage);
    } catch (Throwable t) { // the state of the store is unknown
      become(State.FAILED);
      endCurrent(Write.UNKNOWN);
      endAll(Write.UNKNOWN);
      errors.onError(t);
    }
  }

  private void cycle(boolean closing) {
    if (closing && state != State.CLOSED) {
      close();
    }
    if (state == State.OPEN && store.isRefused()) { // the owner of another partition found damage
      become(State.DAMAGED);
      endAll(Write.DAMAGED);
    }
    int left = CYCLE_LIMIT;
    while (left-- > 0 && mayTake() && take()) {
      handle();
      applyImmediate();
    }
    if (state == State.OPEN && expiry != null) {
      expiry.work(this);
    }
    if (state == State.OPEN) {
      commit();
    }
    if (state == State.OPEN && expiry != null) {
      expiry.onCycleEnd();
    }
    if (isGrowing()) {
      applied.grow();
    }
    applied.onCycleEnd();
  }

  private void lose(Throwable noticed) {
    final Throwable damage = MemoryFaults.cause(store::verify, noticed);
    answers.replace(Write.DAMAGED);
    if (state != State.CLOSED) {
      become(State.DAMAGED);
    }
    endCurrent(Write.DAMAGED);
    endAll(Write.DAMAGED);
    store.refuse(damage);
    errors.onError(damage);
  }

  private void endCurrent(int outcome) {
    if (current != null) {
      answers.add(current, outcome);
      current = null;
    }
    if (applying != null) {
      answerAll(applying, outcome);
      applying = null;
    }
  }

  /**
   * Whether writes from the queue or records to apply are left.
   *
   * @param mayTake the former result of {@link #mayTake}: room that comes later is another event
   */
  boolean isDue(boolean mayTake) {
    return (mayTake && queue.hasTaken())
        || isCommitted(records.first())
        || (expiry != null && state == State.OPEN && expiry.isDue());
  }

  /** Notes that the wake-up has come. */
  void wokenUp() {
    if (expiry != null) {
      expiry.wokenUp();
    }
  }

  /** As {@link ExpiryCycle#wakeUpMs}. */
  long wakeUpMs() {
    return expiry == null || state != State.OPEN ? -1 : expiry.wakeUpMs();
  }

  /** Whether the store has to grow further. */
  boolean isGrowing() {
    return state == State.OPEN && applied.isGrowing();
  }

  /** Whether a write can be taken: not while as many wait for their commit, or room, as may. */
  boolean mayTake() {
    return records.count() < capacity && (state != State.OPEN || log.hasRoom());
  }

  /** Whether the log is still in use. */
  boolean isOpen() {
    return state == State.OPEN;
  }

  boolean isClosed() {
    return state == State.CLOSED;
  }

  /** The last known result of {@link CommitLog#committed}. */
  long committedSeen() {
    return committed;
  }

  /** Takes the chain of the answers. */
  @Nullable Submission takeAnswers() {
    return answers.takeAll();
  }

  private boolean take() {
    current = queue.take();
    return current != null;
  }

  private void handle() {
    if (state != State.OPEN) {
      answers.add(current, state == State.DAMAGED ? Write.DAMAGED : Write.UNAVAILABLE);
    } else if (current instanceof OwnerTask task) {
      task.carryOut(this);
      answerAfter(task.waits() ? records.last() : null, task);
    } else {
      validate((Write) current);
    }
    current = null;
  }

  // For tasks.

  EntryStore store() {
    return store;
  }

  NumberedWrites numbered() {
    return numbered;
  }

  AppliedRecords applied() {
    return applied;
  }

  /** LSN of the last appended record. */
  long appended() {
    return appended;
  }

  /** LSN up to which all records are applied: those before the first one that is not. */
  long appliedLsn() {
    return records.first() == null ? appended : records.first().version() - 1;
  }

  /** The clock of the last tick that was appended; 0 if there is none. */
  long clock() {
    return expiry == null ? 0 : expiry.clock();
  }

  /** Refuses writes of clients from now on. Any thread. */
  void endWrites() {
    writesEnded = true;
  }

  private void validate(Write write) {
    if (write.kind() == WriteKind.TICK) {
      validateTick(write);
    } else if (writesEnded && write.kind() != WriteKind.READ) {
      answers.add(write, Write.UNAVAILABLE);
    } else {
      final int found = write.client() == null ? NumberedWrites.NEW : numbered.look(write);
      if (found != NumberedWrites.NEW) {
        answerAgain(write, found);
      } else if (write instanceof Transaction transaction) {
        validate(transaction);
      } else {
        validateEntry(write);
      }
    }
  }

  private void validateEntry(Write write) {
    if (write.ttlMs() != 0 || write.endMs() != 0 || write instanceof AppendWrite) {
      Objects.requireNonNull(expiry, "the store keeps no deadlines").stamp(write, this);
      if (state != State.OPEN) { // the log has failed
        answers.add(write, Write.UNAVAILABLE);
        return;
      }
    }
    switch (validation.validate(write)) {
      case CHANGES -> append(write);
      case UNCHANGED -> unchanged(write, present.seen());
      case READS -> answerAfter(present.seen(), write);
    }
  }

  private void validate(Transaction transaction) {
    transactions.begin(transaction, this);
    final int refused =
        state == State.OPEN ? transactions.validate(transaction) : Write.UNAVAILABLE;
    if (refused != 0) {
      answers.add(transaction, refused);
    } else if (transaction.isUnchanged()) {
      unchanged(transaction, transaction.seen());
    } else if (log(transaction)) {
      records.add(transaction);
    }
  }

  private void validateTick(Write write) {
    if (expiry == null || !expiry.isTickDue()) {
      answerAfter(expiry == null ? null : expiry.tick(), write);
    } else {
      final long lsn = expiry.append(write, this);
      if (lsn < 0) {
        refused(write, lsn);
      }
    }
  }

  /** Whether a key has an unapplied record. */
  boolean isChanging(ByteString key) {
    return records.newest(key) != null;
  }

  /** Whether the removal of an entry that has ended may wait for its commit: half of all may. */
  boolean mayRemove() {
    return state == State.OPEN && records.count() < Math.max(1, capacity / 2);
  }

  /** Appends a removal; returns false if the log refuses it. */
  boolean appendRemoval(Write removal) {
    removal.found(true);
    removal.former = store.placeOf(removal.key()); // no record of the key is uncommitted
    if (logOwn(removal) < 0) {
      return false;
    }
    records.add(removal);
    applyImmediate();
    return true;
  }

  /** Appends a tick, as {@link CommitLog#append}. */
  long appendTick(Write tick) {
    final long lsn = logOwn(tick);
    if (lsn >= 0) {
      records.addLast(tick);
    }
    return lsn;
  }

  private void applyImmediate() {
    if (log.isImmediate() && state == State.OPEN) {
      commit(); // the store has just found the key
    }
  }

  /** Appends a record of the owner itself; returns as {@link CommitLog#append}. */
  private long logOwn(Write record) {
    final long lsn = log.append(record);
    if (lsn == CommitLog.FAILED) {
      fail();
    }
    if (lsn >= 0) {
      logged(record, lsn);
    }
    return lsn;
  }

  private void append(Write write) {
    final int refused = write.writesEntry() ? present.reserve(write) : 0;
    if (refused != 0) {
      answers.add(write, refused);
    } else if (log(write)) {
      records.add(write);
    }
  }

  /**
   * Ends a write that changes nothing. If it has a number, its outcome gets a record of its own, so
   * that a repetition is not carried out.
   */
  private void unchanged(Write write, @Nullable Write seen) {
    if (write.client() == null) {
      answerAfter(seen, write);
    } else if (log(write)) {
      records.addLast(write);
    }
  }

  /**
   * Appends the record of a write, and keeps its outcome; answers or postpones the write if the log
   * refuses the record.
   */
  private boolean log(Write write) {
    final long lsn = logOwn(write);
    if (lsn < 0) {
      present.release(write); // before it is postponed
      refused(write, lsn);
      return false;
    }
    if (write.client() != null) {
      numbered.appended(write);
    }
    return true;
  }

  /** Answers a write that the log refuses, or makes it wait for room in front of all others. */
  private void refused(Write write, long lsn) {
    if (lsn == CommitLog.LATER) {
      write.postponed();
      current = null; // it is in the queue again, so a failure answers it
      queue.giveBack(write);
    } else {
      answers.add(write, Refusals.ofLog(lsn));
    }
  }

  private void logged(Write write, long lsn) {
    if (lsn <= appended || lsn > CommitLog.MAX_LSN) {
      throw new IllegalStateException("lsn=" + lsn + " previous=" + appended);
    }
    appended = lsn;
    write.logged(lsn);
  }

  /** Answers a write that was carried out before, after the commit of that, or must not be. */
  private void answerAgain(Write write, int found) {
    if (found != Write.DONE) {
      answers.add(write, found);
      return;
    }
    validation.repeat(write);
    answerAfter(records.record(write.version()), write);
  }

  /** Answers what appended no record, after the commit of the record that it saw; null: none. */
  private void answerAfter(@Nullable Write record, Submission submission) {
    if (record == null) {
      answers.add(submission, Write.DONE);
    } else {
      records.addDependant(record, submission);
    }
  }

  private void commit() {
    committed = log.committed();
    if (committed == CommitLog.FAILED) {
      fail();
      return;
    }
    int left = CYCLE_LIMIT;
    while (left-- > 0 && isCommitted(records.first())) {
      applying = records.removeFirst();
      applied.apply(applying);
      answerAll(applying, Write.DONE);
      applying = null;
    }
  }

  private boolean isCommitted(Write record) {
    return record != null && record.version() <= committed;
  }

  private void fail() {
    giveBack();
    become(State.FAILED);
    endAll(Write.UNKNOWN);
  }

  private void close() {
    if (state == State.OPEN) {
      giveBack();
    }
    become(State.CLOSED);
    endAll(Write.UNKNOWN);
    numbered.close();
  }

  /** Returns the reservations of all records. */
  private void giveBack() {
    for (Write record = records.first(); record != null; record = record.nextRecord) {
      present.release(record);
    }
  }

  private void endAll(int outcome) {
    while (records.first() != null) {
      answerAll(records.removeFirst(), outcome);
    }
  }

  /** Answers a write and the dependants of its record. */
  private void answerAll(Write record, int outcome) {
    answers.add(record, outcome);
    Submission dependant = records.removeDependant(record);
    while (dependant != null) {
      answers.add(dependant, outcome);
      dependant = records.removeDependant(record);
    }
  }

  private void become(State next) {
    if (state == State.CLOSED || next == State.OPEN) {
      throw new IllegalStateException("state=" + state + " next=" + next);
    }
    state = next;
  }
}
