package dev.ringfetch.index.partition;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.function.Predicate;

/**
 * A log that commits when the test says so: late, several records at once, or never; and has room
 * when the test says so.
 */
final class LateLog implements CommitLog {
  private final IdentityHashMap<Write, Long> lsns = new IdentityHashMap<>();
  private final List<Write> records = new ArrayList<>();
  private final int step;
  private Runnable listener;
  private Runnable hook = () -> {};
  private boolean appending;
  private long last;
  private long committed;
  private int committedRecords;
  private boolean failed;
  private Predicate<Write> scarce = write -> false;
  private boolean lacking;
  private int postponed;
  private int recordsSeen;
  private int mostAppendedBetweenLooks;

  /**
   * Creates the log.
   *
   * @param ceiling the LSNs begin above it.
   * @param step from one LSN to the next.
   */
  LateLog(long ceiling, int step) {
    last = ceiling;
    committed = ceiling;
    this.step = step;
  }

  /** Runs this before and after each call of an owner's. */
  void hook(Runnable hook) {
    this.hook = hook;
  }

  @Override
  public long append(Write write) {
    if (appending) {
      throw new AssertionError("two owners append");
    }
    appending = true;
    hook.run();
    appending = false;
    if (failed) {
      return FAILED;
    }
    if (last + step > MAX_LSN) {
      return EXHAUSTED;
    }
    if (scarce.test(write)) {
      lacking = true;
      postponed++;
      return LATER;
    }
    last += step;
    if (lsns.put(write, last) != null) {
      throw new AssertionError("appended twice: " + write.key());
    }
    records.add(write);
    return last;
  }

  @Override
  public long committed() {
    mostAppendedBetweenLooks = Math.max(mostAppendedBetweenLooks, records.size() - recordsSeen);
    recordsSeen = records.size();
    final long seen = failed ? FAILED : committed;
    hook.run();
    return seen;
  }

  @Override
  public boolean hasRoom() {
    final boolean seen = failed || !lacking;
    hook.run();
    return seen;
  }

  @Override
  public void onCommit(Runnable listener) {
    this.listener = listener;
  }

  /** Commits that many more records, or as many as there are, and tells the listener. */
  void commit(int count) {
    if (failed || count == 0 || committedRecords == records.size()) {
      return;
    }
    committedRecords = Math.min(records.size(), committedRecords + count);
    committed = lsns.get(records.get(committedRecords - 1));
    listener.run();
  }

  void commitAll() {
    commit(records.size());
  }

  /** Has no room from now on, or has it again, and tells the listener if that waits. */
  void scarce(boolean isScarce) {
    scarce(write -> isScarce);
    if (!isScarce && lacking) {
      lacking = false;
      listener.run();
    }
  }

  /** Has no room for such writes from now on. */
  void scarce(Predicate<Write> these) {
    scarce = these;
  }

  /** Whether the owner waits for room. */
  boolean isLacking() {
    return lacking && !failed;
  }

  /** How many records were to come later. */
  int postponed() {
    return postponed;
  }

  /** Fails for good, and tells the listener. */
  void fail() {
    failed = true;
    listener.run();
  }

  boolean isFailed() {
    return failed;
  }

  /** LSN of a write's record, 0 if it has none. */
  long lsn(Write write) {
    return lsns.getOrDefault(write, 0L);
  }

  /** The records, in the order in which they were appended. */
  List<Write> records() {
    return records;
  }

  /** The most records that the owner has appended before it looked at the commits. */
  int mostAppendedBetweenLooks() {
    return mostAppendedBetweenLooks;
  }

  /** Number of committed records. */
  int committedRecords() {
    return committedRecords;
  }

  boolean isCommitted(long lsn) {
    return lsn <= committed;
  }
}
