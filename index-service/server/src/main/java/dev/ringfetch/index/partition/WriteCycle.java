package dev.ringfetch.index.partition;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.store.EntryStore;
import dev.ringfetch.index.store.PartitionStore;
import org.agrona.ErrorHandler;

/**
 * The duty cycle of a partition's owner: takes writes from the queue, validates each against the
 * store and all uncommitted records, appends its record, applies records after their commit in the
 * order of their LSNs, and collects the answers.
 *
 * <p>An answer waits for the commit of the record that it tells of: the write's own, or the newest
 * one of the key if the write appends none. So no answer tells of anything that might be lost.
 *
 * <p>One cycle is bounded: by a number of writes, a number of commits with the answers that wait
 * for them, and one step of the store's growth. The owner only.
 */
final class WriteCycle {
  /** Writes, or applied records, of one cycle: few enough that their answers need not wait long. */
  static final int CYCLE_LIMIT = 32;

  private enum State {
    OPEN,
    /** The log, the store, or this has failed. */
    FAILED,
    CLOSED
  }

  private final EntryStore store;
  private final CommitLog log;
  private final WriteQueue queue;
  private final int capacity;
  private final ErrorHandler errors;
  private final UncommittedRecords records = new UncommittedRecords();

  private State state = State.OPEN;
  private Write elements; // taken out of the queue
  private Write chain; // the rest of such an element
  private Write current; // in no queue or chain
  private long committed;
  private long appended;
  private boolean growing;
  private Write firstAnswer;
  private Write lastAnswer;

  /**
   * Creates the cycle.
   *
   * @param capacity the most writes that wait for their commit.
   */
  WriteCycle(EntryStore store, CommitLog log, WriteQueue queue, int capacity, ErrorHandler errors) {
    this.store = store;
    this.log = log;
    this.queue = queue;
    this.capacity = capacity;
    this.errors = errors;
    committed = log.committed();
    appended = committed;
  }

  /**
   * Does one cycle.
   *
   * @param closing whether to end all writes that wait first; the store is not used afterwards.
   */
  void work(boolean closing) {
    try {
      if (closing && state != State.CLOSED) {
        close();
      }
      int left = CYCLE_LIMIT;
      while (left-- > 0 && mayTake() && take()) {
        handle();
      }
      if (state == State.OPEN) {
        commit();
      }
      if (isGrowing()) {
        growing = store.grow();
      }
    } catch (Throwable t) { // what the store has done is unknown
      become(State.FAILED);
      if (current != null) {
        answerAll(current, Write.UNKNOWN);
        current = null;
      }
      endAll();
      errors.onError(t);
    }
  }

  /** Whether this has left writes that it took from the queue, or records to apply. */
  boolean isDue() {
    return (mayTake() && (chain != null || elements != null)) || isCommitted(records.first());
  }

  /** Whether the store has to grow further. */
  boolean isGrowing() {
    return state == State.OPEN && growing;
  }

  /** Whether a write can be taken: not while as many wait for their commit as may. */
  boolean mayTake() {
    return records.count() < capacity;
  }

  /** Whether the log matters. */
  boolean isOpen() {
    return state == State.OPEN;
  }

  boolean isClosed() {
    return state == State.CLOSED;
  }

  /** What the log said last of its commits. */
  long committedSeen() {
    return committed;
  }

  /** Takes the chain of the writes that are answered. */
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
      answer(write, Write.UNAVAILABLE);
    }
    current = null;
  }

  private void validate(Write write) {
    final ByteString key = write.key();
    final Write newest = records.newest(key);
    final long version = newest == null ? store.version(key) : newest.versionAfter();
    switch (write.kind()) {
      case PUT -> append(write, version == 0);
      case DELETE -> {
        if (version == 0) {
          answerAfter(newest, write);
        } else {
          append(write, true);
        }
      }
      case COMPARE_AND_SET -> {
        if (version == write.expectedVersion()) {
          append(write, true);
        } else {
          if (version != 0) {
            write.foundInTheWay(newest == null ? store.entry(key) : newest.written());
          }
          answerAfter(newest, write);
        }
      }
    }
  }

  private void append(Write write, boolean found) {
    final int keyLength = write.key().size();
    final int valueLength = write.value().size();
    if (write.writesEntry()) {
      final int reserved = store.reserve(keyLength, valueLength);
      if (reserved < 0) {
        answer(write, reserved == PartitionStore.FULL ? Write.MEMORY_FULL : Write.TOO_LONG);
        return;
      }
    }
    write.found(found);
    final long lsn = log.append(write);
    if (lsn < 0) {
      if (write.writesEntry()) {
        store.release(keyLength, valueLength);
      }
      if (lsn == CommitLog.FAILED) {
        fail();
      }
      answer(write, lsn == CommitLog.FAILED ? Write.UNAVAILABLE : Write.VERSIONS_EXHAUSTED);
      return;
    }
    if (lsn <= appended || lsn > CommitLog.MAX_LSN) {
      throw new IllegalStateException("lsn=" + lsn + " previous=" + appended);
    }
    appended = lsn;
    write.logged(lsn);
    records.add(write);
  }

  /** Answers a write that appended no record, once the record that it saw is committed. */
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
    if (record.writesEntry()) {
      store.put(record.key(), record.value(), record.version());
      growing = true;
    } else {
      store.delete(record.key());
    }
  }

  private void fail() {
    giveBack();
    become(State.FAILED);
    endAll();
  }

  private void close() {
    if (state == State.OPEN) {
      giveBack();
    }
    become(State.CLOSED);
    endAll();
  }

  /** Gives the reservations of all records back. */
  private void giveBack() {
    for (Write record = records.first(); record != null; record = record.next) {
      if (record.writesEntry()) {
        store.release(record.key().size(), record.value().size());
      }
    }
  }

  private void endAll() {
    while (records.first() != null) {
      answerAll(records.removeFirst(), Write.UNKNOWN);
    }
  }

  /** Answers a write and those that have waited for its record. */
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
