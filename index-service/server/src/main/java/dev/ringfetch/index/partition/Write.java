package dev.ringfetch.index.partition;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.outcome.NumberedClient;
import dev.ringfetch.index.outcome.OutcomeKind;
import dev.ringfetch.index.outcome.OutcomeWalk;
import dev.ringfetch.index.store.EntryWalk;
import dev.ringfetch.index.store.Snapshot;
import dev.ringfetch.index.v1.Entry;

/**
 * One write of one key, from its request to its answer. While it waits for its commit it is also
 * the record in memory of what it wrote.
 *
 * <p>A write belongs to the thread that prepares it, from {@link Partition#submit} on to the
 * partition, and from its answer on to the listener; afterwards it may be prepared again, also
 * within the listener. So a caller that keeps its writes allocates nothing.
 *
 * <p>Keys and values must not change, and must keep no more memory alive than their own bytes.
 */
public final class Write {
  /** Outcome: the write was carried out, and the answer says what it found. */
  public static final int DONE = 0;

  /**
   * Outcome of {@link Partition#submit}: too many writes wait. Nothing was done; try again later.
   */
  public static final int QUEUE_FULL = -1;

  /** Outcome: no memory is left for the entry. Nothing was done; deletes make room. */
  public static final int MEMORY_FULL = -2;

  /**
   * Outcome: the log failed, or the partition was closed, before the commit was known. The write
   * may have been carried out or not.
   */
  public static final int UNKNOWN = -3;

  /** Outcome: the partition takes no writes any more. Nothing was done. */
  public static final int UNAVAILABLE = -4;

  /** Outcome: no version is left. Nothing was done, and no later write will be. */
  public static final int VERSIONS_EXHAUSTED = -5;

  /** Outcome: no block of the store's memory is long enough for the entry. Nothing was done. */
  public static final int TOO_LONG = -6;

  /**
   * Outcome: the index was refused, because its memory was changed by another process, or taken
   * away. A write that was submitted before may have been carried out or not; it is lost anyway.
   */
  public static final int DAMAGED = -7;

  /** Outcome: too many keys hash as the key does, see {@link #excess()}. Nothing was done. */
  public static final int TOO_MANY_COLLISIONS = -8;

  /**
   * Outcome: keys that hash as the key does have too many bytes together, see {@link #excess()}.
   * Nothing was done.
   */
  public static final int COLLISIONS_TOO_LONG = -9;

  /** Outcome: no room is left in the log. Nothing was done; try again later. */
  public static final int LOG_FULL = -10;

  /**
   * Outcome: the write has a number whose outcome is kept no more, as it is complete, or its client
   * is closed. It may have been carried out before, and was not now.
   */
  public static final int OUTCOME_GONE = -20;

  /** Outcome: too many outcomes are kept. Nothing was done; complete numbers make room. */
  public static final int OUTCOMES_FULL = -21;

  /** Outcome: a write that did something else had the same number. Nothing was done. */
  public static final int NUMBER_REUSED = -22;

  /** What a write does. */
  public enum Kind {
    /** Writes an entry, whether or not there is one. */
    PUT,
    /** Removes the entry if there is one. */
    DELETE,
    /** Writes an entry if the one that is there has the expected version. */
    COMPARE_AND_SET,
    /** Writes nothing: finds out how far the removal of a range has come that has a number. */
    RANGE_BEGIN,
    /** Removes one entry of a range under the range's number, if there is one. */
    RANGE_DELETE,
    /** Ends the removal of a range: there is an outcome from now on. */
    RANGE_END,
    /** Writes nothing: the owner reads the entry, where readers could not decide. */
    READ,
    /** Writes nothing: the owner begins a snapshot, of all writes that were answered before. */
    SNAPSHOT,
    /**
     * Writes nothing: is answered when all records before it are applied; its version is the LSN of
     * the last of them.
     */
    BARRIER,
    /** Writes nothing: the owner takes a walk one step on. */
    WALK,
    /** Writes nothing: the owner takes a walk over outcomes one step on. */
    OUTCOME_WALK,
    /** Writes no entry: sets the partition's clock forward if a deadline has come. */
    TICK,
    /** Writes nothing: the owner begins to tell a listener the changes. */
    WATCH,
    /** Writes nothing: the owner tells the listener no more changes. */
    UNWATCH
  }

  /** Receives the answer of a write. */
  @FunctionalInterface
  public interface Listener {
    /**
     * Called once for each submitted write, on any thread that submits writes or commits, possibly
     * before {@link Partition#submit} has returned. Different writes' answers come in any order and
     * at the same time. Must not block: other answers wait behind it.
     */
    void onAnswer(Write write);
  }

  private enum State {
    /** New, or answered. */
    IDLE,
    PREPARED,
    SUBMITTED
  }

  private final Listener listener;
  private State state = State.IDLE;
  private Kind kind;
  private ByteString key;
  private ByteString value;
  private long expectedVersion;
  private Snapshot snapshot;
  private EntryWalk walk;
  private OutcomeWalk outcomeWalk;
  private ChangeListener changes;
  private long ttlMs;
  private boolean keepsDeadline;
  private long deadline;
  private boolean expired;
  private NumberedClient client; // null: the write has no number
  private long number;

  private int outcome;
  private boolean positive;
  private long version;
  private Entry entry;
  private long excess;

  /** Whether the record says that nothing was changed. */
  private boolean unchanged;

  /** Version that was found, or what the end of a range says. */
  private long detail;

  /** Of a range: number of entries removed so far. */
  private long removed;

  private boolean valueGone;

  // The queue's.
  Write following;
  int queued;

  // The owner's. A write is in one chain at a time: of a batch, of records, or of answers.
  Write next;
  Write firstDependant;
  Write lastDependant;
  boolean overwritten;

  /** Creates a write that tells this listener its answers. */
  public Write(Listener listener) {
    this.listener = listener;
  }

  /**
   * Prepares a put.
   *
   * @return this.
   * @throws IllegalStateException if the write is submitted and not answered.
   */
  public Write put(ByteString key, ByteString value) {
    return prepare(Kind.PUT, key, value, 0);
  }

  /**
   * Prepares a delete.
   *
   * @return this.
   * @throws IllegalStateException if the write is submitted and not answered.
   */
  public Write delete(ByteString key) {
    return prepare(Kind.DELETE, key, ByteString.EMPTY, 0);
  }

  /**
   * Prepares a compare-and-set.
   *
   * @param expectedVersion of the entry for the value to be written; 0 to expect none.
   * @return this.
   * @throws IllegalStateException if the write is submitted and not answered.
   */
  public Write compareAndSet(ByteString key, long expectedVersion, ByteString value) {
    return prepare(Kind.COMPARE_AND_SET, key, value, expectedVersion);
  }

  /**
   * Prepares a read by the owner.
   *
   * @return this.
   * @throws IllegalStateException if the write is submitted and not answered.
   */
  public Write read(ByteString key) {
    return prepare(Kind.READ, key, ByteString.EMPTY, 0);
  }

  /**
   * Prepares the begin of a snapshot.
   *
   * @return this.
   * @throws IllegalStateException if the write is submitted and not answered.
   */
  public Write snapshot(Snapshot begun) {
    prepare(Kind.SNAPSHOT, ByteString.EMPTY, ByteString.EMPTY, 0);
    snapshot = begun;
    return this;
  }

  /**
   * Prepares a barrier.
   *
   * @return this.
   * @throws IllegalStateException if the write is submitted and not answered.
   */
  public Write barrier() {
    return prepare(Kind.BARRIER, ByteString.EMPTY, ByteString.EMPTY, 0);
  }

  /**
   * Prepares a step of a walk, which is the owner's until the answer.
   *
   * @return this.
   * @throws IllegalStateException if the write is submitted and not answered.
   */
  public Write walk(EntryWalk stepped) {
    prepare(Kind.WALK, ByteString.EMPTY, ByteString.EMPTY, 0);
    walk = stepped;
    return this;
  }

  /**
   * Prepares a step of a walk over outcomes, which is the owner's until the answer: all records are
   * committed then whose outcomes the step has.
   *
   * @return this.
   * @throws IllegalStateException if the write is submitted and not answered.
   */
  public Write walk(OutcomeWalk stepped) {
    prepare(Kind.OUTCOME_WALK, ByteString.EMPTY, ByteString.EMPTY, 0);
    outcomeWalk = stepped;
    return this;
  }

  /**
   * Prepares a look at the clock: its answer comes when readers see all entries as absent whose
   * deadlines have come before.
   *
   * @return this.
   * @throws IllegalStateException if the write is submitted and not answered.
   */
  public Write tick() {
    return prepare(Kind.TICK, ByteString.EMPTY, ByteString.EMPTY, 0);
  }

  /** Prepares the removal of an entry whose deadline has come. */
  Write expire(ByteString key) {
    delete(key);
    expired = true;
    return this;
  }

  /**
   * Limits the time of the entry that the prepared put or compare-and-set writes.
   *
   * @param millis from the write on; 0, as unless set: the entry stays until it is removed.
   * @return this.
   * @throws IllegalStateException if the write is not prepared, or writes no entry.
   */
  public Write ttl(long millis) {
    if (state != State.PREPARED || !writesEntry() || millis < 0) {
      throw new IllegalStateException("state=" + state + " kind=" + kind + " ttl=" + millis);
    }
    ttlMs = millis;
    return this;
  }

  /**
   * Keeps the deadline of the replaced entry, for the prepared compare-and-set.
   *
   * @return this.
   * @throws IllegalStateException if no compare-and-set is prepared, or it has a time to live.
   */
  public Write keepDeadline() {
    if (state != State.PREPARED || kind != Kind.COMPARE_AND_SET || ttlMs != 0) {
      throw new IllegalStateException("state=" + state + " kind=" + kind + " ttl=" + ttlMs);
    }
    keepsDeadline = true;
    return this;
  }

  /**
   * Prepares the begin of a watch: the owner tells the listener all changes from then on, and none
   * to another listener.
   *
   * @return this.
   * @throws IllegalStateException if the write is submitted and not answered.
   */
  public Write watch(ChangeListener listener) {
    prepare(Kind.WATCH, ByteString.EMPTY, ByteString.EMPTY, 0);
    changes = listener;
    return this;
  }

  /**
   * Prepares the end of a watch: without effect if another listener is told the changes.
   *
   * @return this.
   * @throws IllegalStateException if the write is submitted and not answered.
   */
  public Write unwatch(ChangeListener listener) {
    prepare(Kind.UNWATCH, ByteString.EMPTY, ByteString.EMPTY, 0);
    changes = listener;
    return this;
  }

  /**
   * Prepares to find out how far a range's removal has come, whose number is to be set.
   *
   * @return this.
   */
  public Write rangeBegin() {
    return prepare(Kind.RANGE_BEGIN, ByteString.EMPTY, ByteString.EMPTY, 0);
  }

  /**
   * Prepares the removal of one entry of a range, whose number is to be set.
   *
   * @param limit the most entries to be removed under the number.
   * @return this.
   */
  public Write rangeDelete(ByteString key, long limit) {
    return prepare(Kind.RANGE_DELETE, key, ByteString.EMPTY, limit);
  }

  /**
   * Prepares the end of a range's removal, whose number is to be set.
   *
   * @param more whether entries may be left.
   * @return this.
   */
  public Write rangeEnd(boolean more) {
    return prepare(Kind.RANGE_END, ByteString.EMPTY, ByteString.EMPTY, more ? 1 : 0);
  }

  /**
   * Gives the prepared write a number, by which it is carried out once.
   *
   * @return this.
   */
  public Write numbered(NumberedClient of, long numberOfWrite) {
    client = of;
    number = numberOfWrite;
    return this;
  }

  private Write prepare(Kind kind, ByteString key, ByteString value, long expectedVersion) {
    if (state == State.SUBMITTED) {
      throw new IllegalStateException("state=" + state);
    }
    state = State.PREPARED;
    this.kind = kind;
    this.key = key;
    this.value = value;
    this.expectedVersion = expectedVersion;
    outcome = DONE;
    positive = false;
    version = 0;
    entry = null;
    excess = 0;
    snapshot = null;
    client = null;
    unchanged = false;
    detail = 0;
    removed = 0;
    valueGone = false;
    walk = null;
    outcomeWalk = null;
    changes = null;
    ttlMs = 0;
    keepsDeadline = false;
    deadline = 0;
    expired = false;
    return this;
  }

  ChangeListener changes() {
    return changes;
  }

  EntryWalk walk() {
    return walk;
  }

  OutcomeWalk outcomeWalk() {
    return outcomeWalk;
  }

  Snapshot snapshot() {
    return snapshot;
  }

  /** What the write does. */
  public Kind kind() {
    return kind;
  }

  /** The key. */
  public ByteString key() {
    return key;
  }

  /** The value to be written, empty for a delete and a read. */
  public ByteString value() {
    return value;
  }

  /** The version that a compare-and-set expects, 0 if none or not a compare-and-set. */
  public long expectedVersion() {
    return expectedVersion;
  }

  /** How long the entry is there, in milliseconds from the write on; 0 if not limited. */
  public long ttlMs() {
    return ttlMs;
  }

  boolean keepsDeadline() {
    return keepsDeadline;
  }

  /**
   * When the entry that this writes ends, in milliseconds since 1970, by the partition's clock; 0
   * if never. Known once the record is appended. Of a tick: what the clock is set to.
   */
  public long deadline() {
    return deadline;
  }

  /** The partition's clock at a barrier, in milliseconds since 1970; 0 if it was never set. */
  public long clock() {
    return deadline;
  }

  void clock(long timeMs) {
    deadline = timeMs;
  }

  void deadline(long timeMs) {
    deadline = timeMs;
  }

  /** Whether this is a delete by the owner, of an entry whose deadline has come. */
  public boolean isExpired() {
    return expired;
  }

  /** How it ended: {@link #DONE}, or one of the negative constants. */
  public int outcome() {
    return outcome;
  }

  /** Whether a put found no entry. */
  public boolean created() {
    return kind == Kind.PUT && positive;
  }

  /** Whether the record of this, once it is committed, writes a key that was absent. */
  public boolean creates() {
    return created() || (kind == Kind.COMPARE_AND_SET && expectedVersion == 0);
  }

  /** Whether a delete found an entry. */
  public boolean existed() {
    return removesEntry() && positive;
  }

  /** Whether a compare-and-set wrote its value. */
  public boolean applied() {
    return kind == Kind.COMPARE_AND_SET && positive;
  }

  /** The version of the record, thus of the entry that was written; 0 if none was appended. */
  public long version() {
    return version;
  }

  /** Keys or bytes that were too many, if the outcome says so. */
  public long excess() {
    return excess;
  }

  /**
   * The entry that a read found; or the entry after a compare-and-set: the one that it wrote, or
   * the one in its way. Null if there is none.
   */
  public Entry entry() {
    return applied() ? written() : entry;
  }

  /** The key's entry once this is committed; null if there is none then. */
  Entry entryAfter() {
    return writesEntry() ? written() : null;
  }

  /** The entry that this writes. */
  Entry written() {
    return Entry.newBuilder()
        .setKey(key)
        .setValue(value)
        .setVersion(version)
        .setDeadlineMs(deadline)
        .build();
  }

  /** The client whose number the write has; null if it has none. */
  public NumberedClient client() {
    return client;
  }

  /** Number of the write. */
  public long number() {
    return number;
  }

  /** Whether the record of the write says that it changed nothing. */
  public boolean isUnchanged() {
    return unchanged;
  }

  /** What the record of a write that changed nothing says, as its {@link #outcomeKind} does. */
  public long detail() {
    return detail;
  }

  /** What the write did, if it has a number. */
  public OutcomeKind outcomeKind() {
    if (kind == Kind.RANGE_END) {
      return OutcomeKind.RANGE;
    }
    if (unchanged) {
      return OutcomeKind.UNCHANGED;
    }
    return removesEntry() ? OutcomeKind.DELETED : OutcomeKind.WRITTEN;
  }

  /**
   * Whether the write is a comparison that was lost before, and the entry that was in its way is
   * there no more.
   */
  public boolean isValueGone() {
    return valueGone;
  }

  /** Number of entries that were removed under the number of a range. */
  public long removed() {
    return removed;
  }

  /** Whether the range's removal has ended, before this write or with it. */
  public boolean hasRangeEnded() {
    return outcome == DONE && isOfRange() && unchanged;
  }

  /** Whether entries of the range may be left, whose removal has ended. */
  public boolean mayBeMore() {
    return (detail & 1) != 0;
  }

  boolean isOfRange() {
    return kind == Kind.RANGE_BEGIN || kind == Kind.RANGE_DELETE || kind == Kind.RANGE_END;
  }

  boolean writesEntry() {
    return (kind == Kind.PUT || kind == Kind.COMPARE_AND_SET) && !unchanged;
  }

  /** Whether the record of this removes an entry. */
  public boolean removesEntry() {
    return kind == Kind.DELETE || kind == Kind.RANGE_DELETE;
  }

  /** The version of the key's entry once this is committed, 0 if there is none then. */
  long versionAfter() {
    return writesEntry() ? version : 0;
  }

  void submitted() {
    if (state != State.PREPARED) {
      throw new IllegalStateException("state=" + state);
    }
    state = State.SUBMITTED;
  }

  /** Takes back what a validation has noted, after which no record was appended. */
  void postponed() {
    positive = false;
    entry = null;
    unchanged = false;
    detail = 0;
    deadline = 0;
  }

  /** Takes back {@link #submitted}. */
  void refused() {
    state = State.PREPARED;
  }

  void found(boolean positive) {
    this.positive = positive;
  }

  void found(Entry entry) {
    this.entry = entry;
  }

  /** Notes that the write changes nothing, and what its record is to say. */
  void unchanged(long found) {
    unchanged = true;
    detail = found;
  }

  /** Notes how many entries were removed under the number of a range. */
  void removed(long count) {
    removed = count;
    if (!unchanged) {
      detail = count;
    }
  }

  /** Takes an outcome over that was kept. */
  void kept(OutcomeKind kept, boolean isPositive, long keptDetail) {
    positive = kept == OutcomeKind.DELETED || (kept == OutcomeKind.WRITTEN && isPositive);
    if (kept == OutcomeKind.WRITTEN && kind == Kind.COMPARE_AND_SET) {
      positive = true;
    }
    if (kept == OutcomeKind.UNCHANGED || kept == OutcomeKind.RANGE) {
      unchanged(keptDetail);
    }
    if (kept == OutcomeKind.RANGE) {
      removed = keptDetail >> 1;
    }
  }

  /** Sets the entry that was in the way of a comparison; null if it is there no more. */
  void foundAgain(Entry again) {
    entry = again;
    valueGone = again == null;
  }

  void exceeds(long excess) {
    this.excess = excess;
  }

  void logged(long lsn) {
    version = lsn;
  }

  /** Ends the write; the answer says nothing but the outcome unless that is {@link #DONE}. */
  void answered(int outcome) {
    this.outcome = outcome;
    if (outcome != DONE) {
      positive = false;
      version = 0;
      entry = null;
    }
  }

  void tell() {
    state = State.IDLE;
    listener.onAnswer(this);
  }
}
