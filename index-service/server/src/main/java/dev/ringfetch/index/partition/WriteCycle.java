package dev.ringfetch.index.partition;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.MemoryFaults;
import dev.ringfetch.index.outcome.OutcomeKind;
import dev.ringfetch.index.store.EntryStore;
import dev.ringfetch.index.store.StoreDamagedException;
import dev.ringfetch.index.v1.Entry;
import java.util.Objects;
import org.agrona.ErrorHandler;
import org.jspecify.annotations.Nullable;

/**
 * The duty cycle of a partition's owner: takes writes from the queue, validates each against the
 * store and all uncommitted records, appends its record, applies records after their commit in the
 * order of their LSNs, and collects the answers.
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
  private final KeyState present;
  private final TransactionCycle transactions;

  private volatile boolean writesEnded;
  private State state = State.OPEN;
  private Write elements; // taken out of the queue
  private Write chain; // the rest of such an element
  private Write current; // in no queue or chain
  private long committed;
  private long appended;
  private boolean growing;
  private @Nullable ChangeListener changes; // null if there is no listener
  private Write firstAnswer;
  private Write lastAnswer;

  /**
   * Creates the cycle.
   *
   * @param context has the limit of writes that wait for their commit.
   */
  WriteCycle(EntryStore store, CommitLog log, WriteQueue queue, Partition.Context context) {
    this.store = store;
    this.log = log;
    this.queue = queue;
    capacity = context.capacity();
    errors = context.owner().errors();
    numbered = new NumberedWrites(context.outcomes());
    expiry =
        store.expiry() == null ? null : new ExpiryCycle(store.expiry(), context.owner().time());
    present = new KeyState(store, records, expiry);
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
    if (isGrowing()) {
      growing = store.grow();
    }
    if (changes != null) {
      changes.onCycleEnd();
    }
  }

  private void lose(Throwable damage) {
    if (damage instanceof InternalError) {
      MemoryFaults.absorb(store::verify, damage);
    }
    for (Write write = firstAnswer; write != null; write = write.next) {
      write.answered(Write.DAMAGED);
    }
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
      answerAll(current, outcome);
      current = null;
    }
  }

  /**
   * Whether writes from the queue or records to apply are left.
   *
   * @param mayTake the former result of {@link #mayTake}: room that comes later is another event
   */
  boolean isDue(boolean mayTake) {
    return (mayTake && (chain != null || elements != null))
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
    return state == State.OPEN && growing;
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

  /** Takes the chain of the answered writes. */
  Write takeAnswers() {
    final Write answers = firstAnswer;
    firstAnswer = null;
    lastAnswer = null;
    return answers;
  }

  private boolean take() {
    if (chain == null) {
      if (elements == null) {
        elements = queue.takeAll();
      }
      chain = elements;
      if (chain == null) {
        return false;
      }
      elements = chain.following;
      chain.following = null;
    }
    current = chain;
    chain = current.next;
    current.next = null;
    return true;
  }

  private void handle() {
    final Write write = current;
    if (state == State.OPEN) {
      validate(write);
    } else {
      answer(write, state == State.DAMAGED ? Write.DAMAGED : Write.UNAVAILABLE);
    }
    current = null;
  }

  private void validate(Write write) {
    switch (write.kind()) {
      case SNAPSHOT -> {
        store.begin(write.snapshot());
        answer(write, Write.DONE);
      }
      case BARRIER -> {
        write.logged(appended);
        write.deadline(expiry == null ? 0 : expiry.clock());
        answerAfter(records.last(), write);
      }
      case WALK -> {
        store.step(write.walk());
        answer(write, Write.DONE);
      }
      case OUTCOME_WALK -> {
        numbered.step(write.outcomeWalk());
        answerAfter(records.last(), write); // after the newest record that it may contain
      }
      case TICK -> validateTick(write);
      case WATCH, UNWATCH -> {
        watch(write);
        answer(write, Write.DONE);
      }
      default -> {
        if (writesEnded && write.kind() != WriteKind.READ) {
          answer(write, Write.UNAVAILABLE);
        } else {
          validateEntry(write);
        }
      }
    }
  }

  /** Refuses writes of clients from now on. Any thread. */
  void endWrites() {
    writesEnded = true;
  }

  private void validateEntry(Write write) {
    if (write.client() != null) {
      final int found = numbered.look(write);
      if (found != NumberedWrites.NEW) {
        answerAgain(write, found);
        return;
      }
    }
    if (write instanceof Transaction transaction) {
      validate(transaction);
      return;
    }
    if (write.ttlMs() != 0 || write.endMs() != 0) {
      Objects.requireNonNull(expiry, "the store keeps no deadlines").stamp(write, this);
      if (state != State.OPEN) { // the log has failed
        answer(write, Write.UNAVAILABLE);
        return;
      }
    }
    present.look(write.key());
    final long version = present.version();
    switch (write.kind()) {
      case PUT -> {
        if (write.answersPrevious() && version != 0) {
          write.found(present.entry());
          write.keepAnswer(
              write.client() == null ? ByteString.EMPTY : write.entry().toByteString());
        }
        append(write, version == 0);
      }
      case DELETE, TOUCH -> {
        if (!write.accepts(version)) {
          unchanged(write, present.seen(), version);
        } else {
          if (write.kind() == WriteKind.TOUCH) {
            write.value(present.entry().getValue());
          }
          append(write, true);
        }
      }
      case INCREMENT -> {
        final Entry found = present.entry();
        if (write.count(found)) {
          append(write, found == null);
        } else {
          unchanged(write, present.seen(), found.getValue().size());
        }
      }
      case COMPARE_AND_SET -> {
        if (version == write.expectedVersion()) {
          if (write.keepsDeadline() && version != 0) {
            write.deadline(present.deadline());
          }
          append(write, true);
        } else {
          write.found(present.entry());
          unchanged(write, present.seen(), version);
        }
      }
      case RANGE_BEGIN -> answer(write, Write.DONE);
      case RANGE_DELETE -> {
        if (version == 0 || write.removed() >= write.expectedVersion()) {
          answerAfter(present.seen(), write);
        } else {
          append(write, true);
        }
      }
      case RANGE_END ->
          unchanged(
              write,
              present.newest(),
              OutcomeKind.range(write.removed(), write.expectedVersion() != 0));
      case READ -> {
        store.check(write.key());
        write.found(present.entry());
        answerAfter(present.seen(), write);
      }
      case TRANSACTION, SNAPSHOT, BARRIER, WALK, OUTCOME_WALK, TICK, WATCH, UNWATCH ->
          throw new IllegalStateException("kind=" + write.kind());
    }
  }

  private void validate(Transaction transaction) {
    transactions.begin(transaction, this);
    final int refused =
        state == State.OPEN ? transactions.validate(transaction) : Write.UNAVAILABLE;
    if (refused != 0) {
      answer(transaction, refused);
    } else if (transaction.isUnchanged()) {
      unchanged(transaction, transaction.seen(), transaction.detail());
    } else if (log(transaction)) {
      records.add(transaction);
    }
  }

  private void watch(Write write) {
    if (write.kind() == WriteKind.UNWATCH) {
      changes = changes == write.changes() ? null : changes;
    } else if (changes != write.changes()) {
      changes = write.changes();
      // All records before the first unapplied one are applied.
      changes.begin(records.first() == null ? appended : records.first().version() - 1);
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

  private void append(Write write, boolean found) {
    final int refused = write.writesEntry() ? present.reserve(write) : 0;
    if (refused != 0) {
      answer(write, refused);
      return;
    }
    write.found(found);
    if (log(write)) {
      records.add(write);
    }
  }

  /**
   * Ends a write that changes nothing. If it has a number, its outcome gets a record of its own, so
   * that a repetition is not carried out.
   */
  private void unchanged(Write write, Write newest, long found) {
    write.unchanged(found);
    if (write.client() == null) {
      answerAfter(newest, write);
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
      current = null; // it is in the chain again, so a failure answers it
      write.next = chain;
      chain = write;
    } else {
      answer(write, Refusals.ofLog(lsn));
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
      answer(write, found);
      return;
    }
    if (write.kind() == WriteKind.COMPARE_AND_SET && !write.applied() && write.detail() != 0) {
      present.look(write.key());
      write.foundAgain(present.version() == write.detail() ? present.entry() : null);
    }
    answerAfter(records.record(write.version()), write);
  }

  /** Answers a write that appended no record, after the commit of the record that it saw. */
  private void answerAfter(Write record, Write write) {
    if (record == null) {
      answer(write, Write.DONE);
    } else {
      records.addDependant(record, write);
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
      current = records.removeFirst();
      apply(current);
      answerAll(current, Write.DONE);
      current = null;
    }
  }

  private boolean isCommitted(Write record) {
    return record != null && record.version() <= committed;
  }

  private void apply(Write record) {
    for (Write part = record.firstPart(); part != null; part = part.nextPart) {
      applyPart(part);
    }
    if (changes != null && record.kind() != WriteKind.TICK && !record.isUnchanged()) {
      changes.onChange(record);
    }
  }

  private void applyPart(Write record) {
    if (record.writesEntry()) {
      store.put(record.key(), record.value(), record.version(), record.deadline());
      growing = true;
    } else if (record.kind() == WriteKind.TICK) {
      expiry.apply(record);
    } else if (!record.isUnchanged()) {
      store.delete(record.key());
    }
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
    for (Write record = records.first(); record != null; record = record.next) {
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
    answer(record, outcome);
    Write dependant = records.removeDependant(record);
    while (dependant != null) {
      answer(dependant, outcome);
      dependant = records.removeDependant(record);
    }
  }

  private void answer(Write write, int outcome) {
    write.answered(outcome);
    if (firstAnswer == null) {
      firstAnswer = write;
    } else {
      lastAnswer.next = write;
    }
    lastAnswer = write;
  }

  private void become(State next) {
    if (state == State.CLOSED || next == State.OPEN) {
      throw new IllegalStateException("state=" + state + " next=" + next);
    }
    state = next;
  }
}
