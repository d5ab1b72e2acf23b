package dev.ringfetch.index.partition;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.CounterDescriptor;
import dev.ringfetch.index.outcome.NumberedClient;
import dev.ringfetch.index.outcome.OutcomeKind;
import dev.ringfetch.index.v1.Entry;
import org.jspecify.annotations.Nullable;

/**
 * One write of one key, from its request to its answer. While it waits for its commit it is also
 * the in-memory record of its change.
 *
 * <p>After its answer a write may be prepared again, even within the listener, so a caller that
 * reuses its writes allocates nothing. Methods that prepare a write return it, and throw {@link
 * IllegalStateException} while it is submitted and not answered.
 *
 * <p>Keys and values must not change, and must not keep more memory alive than their own bytes.
 */
public sealed class Write extends Submission permits AppendWrite, Transaction {
  /** A receiver of the answer of a write. */
  @FunctionalInterface
  public interface Listener {
    /**
     * Called once for each submitted write, on any thread that submits writes or commits, possibly
     * before {@link Partition#submit} has returned. Different writes' answers come in any order and
     * at the same time. Must not block: other answers wait behind it.
     */
    void onAnswer(Write write);
  }

  private final Listener listener;
  private WriteKind kind;
  private ByteString key;
  private ByteString value;
  private long expectedVersion;
  private long ttlMs;
  private long endMs;
  private boolean keepsDeadline;
  private boolean answersPrevious;
  private long deadline;
  private boolean expired;
  private @Nullable NumberedClient client; // null if the write has no number
  private long number;

  private boolean positive;
  private long version;
  private Entry entry;
  private boolean unchanged; // as the record says
  private boolean valueGone;
  private ByteString answer; // the part that the outcome keeps for a repetition; empty if none

  /** Version found; of a range, the entries removed so far, at its end as the outcome has them. */
  private long detail;

  // The owner's.
  @Nullable Write nextRecord;
  @Nullable Submission firstDependant;
  @Nullable Submission lastDependant;
  boolean overwritten;
  @Nullable Write nextPart; // of the same record
  Write whole = this; // the write that has the record
  ByteString former = ByteString.EMPTY;

  /** Creates a write whose answers go to this listener. */
  public Write(Listener listener) {
    this.listener = listener;
  }

  /** Prepares a put. */
  public Write put(ByteString key, ByteString value) {
    return prepare(WriteKind.PUT, key, value, 0);
  }

  /** Prepares a delete. */
  public Write delete(ByteString key) {
    return deleteIf(key, 0);
  }

  /** Prepares a delete of the entry with this version; 0 for any. */
  public Write deleteIf(ByteString key, long expectedVersion) {
    return prepare(WriteKind.DELETE, key, ByteString.EMPTY, expectedVersion);
  }

  /** Prepares a put whose answer has the replaced entry. */
  public Write getAndSet(ByteString key, ByteString value) {
    put(key, value);
    answersPrevious = true;
    return this;
  }

  /** Prepares an increment of a counter. */
  public Write increment(ByteString key, long delta) {
    return prepare(WriteKind.INCREMENT, key, ByteString.EMPTY, delta);
  }

  /** Prepares a touch of the entry with this version, 0 for any; endsAtMs is 0 for no deadline. */
  public Write touch(ByteString key, long expectedVersion, long endsAtMs) {
    prepare(WriteKind.TOUCH, key, ByteString.EMPTY, expectedVersion);
    endMs = endsAtMs;
    return this;
  }

  /** Prepares a compare-and-set of the entry with this version; 0 to expect none. */
  public Write compareAndSet(ByteString key, long expectedVersion, ByteString value) {
    return prepare(WriteKind.COMPARE_AND_SET, key, value, expectedVersion);
  }

  /** Prepares a read by the owner. */
  public Write read(ByteString key) {
    return prepare(WriteKind.READ, key, ByteString.EMPTY, 0);
  }

  /**
   * Prepares an update of the clock: its answer comes when readers see all entries as absent whose
   * deadlines passed before.
   */
  public Write tick() {
    return prepare(WriteKind.TICK, ByteString.EMPTY, ByteString.EMPTY, 0);
  }

  /** Prepares the removal of an expired entry. */
  Write expire(ByteString key) {
    delete(key);
    expired = true;
    return this;
  }

  /**
   * Sets the time to live of the entry that the prepared write writes, or an increment creates.
   *
   * @param millis from the write on; 0, the default, for none.
   * @throws IllegalStateException if the write is not prepared, or writes no entry.
   */
  public Write ttl(long millis) {
    if (!isPrepared() || !writesEntry() || millis < 0) {
      throw new IllegalStateException("kind=" + kind + " ttl=" + millis);
    }
    ttlMs = millis;
    return this;
  }

  /**
   * Keeps the deadline of the entry that the prepared compare-and-set replaces.
   *
   * @throws IllegalStateException if no compare-and-set is prepared, or it has a time to live.
   */
  public Write keepDeadline() {
    if (!isPrepared() || kind != WriteKind.COMPARE_AND_SET || ttlMs != 0) {
      throw new IllegalStateException("kind=" + kind + " ttl=" + ttlMs);
    }
    keepsDeadline = true;
    return this;
  }

  /** Prepares a read of the progress of a range's removal; the caller sets its number. */
  public Write rangeBegin() {
    return prepare(WriteKind.RANGE_BEGIN, ByteString.EMPTY, ByteString.EMPTY, 0);
  }

  /** Prepares the removal of one entry of a range, up to this many under the range's number. */
  public Write rangeDelete(ByteString key, long limit) {
    return prepare(WriteKind.RANGE_DELETE, key, ByteString.EMPTY, limit);
  }

  /** Prepares the end of a range's removal, after which more entries may be left. */
  public Write rangeEnd(boolean more) {
    return prepare(WriteKind.RANGE_END, ByteString.EMPTY, ByteString.EMPTY, more ? 1 : 0);
  }

  /** Gives the prepared write a number, so that it is carried out once. */
  public Write numbered(NumberedClient of, long numberOfWrite) {
    client = of;
    number = numberOfWrite;
    return this;
  }

  final Write prepare(WriteKind kind, ByteString key, ByteString value, long expectedVersion) {
    prepared();
    this.kind = kind;
    this.key = key;
    this.value = value;
    this.expectedVersion = expectedVersion;
    positive = false;
    version = 0;
    entry = null;
    client = null;
    unchanged = false;
    detail = 0;
    valueGone = false;
    ttlMs = 0;
    endMs = 0;
    keepsDeadline = false;
    answersPrevious = false;
    deadline = 0;
    expired = false;
    answer = ByteString.EMPTY;
    former = ByteString.EMPTY;
    return this;
  }

  /** The kind of the write. */
  public WriteKind kind() {
    return kind;
  }

  /** The key. */
  public ByteString key() {
    return key;
  }

  /** The value to be written, if any; the owner sets that of an increment and of a touch. */
  public ByteString value() {
    return value;
  }

  /**
   * The version that a compare-and-set expects, 0 for none; or a delete or a touch, 0 for any. What
   * an increment adds. Limit of the removal of a range.
   */
  public long expectedVersion() {
    return expectedVersion;
  }

  /** Time to live of the entry in milliseconds from the write on; 0 if unlimited. */
  public long ttlMs() {
    return ttlMs;
  }

  /** The deadline that a touch asks for; 0 if none. */
  long endMs() {
    return endMs;
  }

  boolean keepsDeadline() {
    return keepsDeadline;
  }

  /** Whether the answer has the entry that a put replaced. */
  public boolean answersPrevious() {
    return answersPrevious;
  }

  /**
   * Deadline of the written entry in milliseconds since 1970, by the partition's clock; 0 if it has
   * none. Known once the record is appended. For a tick: the new time of the clock.
   */
  public long deadline() {
    return deadline;
  }

  void deadline(long timeMs) {
    deadline = timeMs;
  }

  /** Whether this is the owner's removal of an expired entry. */
  public boolean isExpired() {
    return expired;
  }

  /** Whether a put or an increment found no entry. */
  public boolean created() {
    return (kind == WriteKind.PUT || kind == WriteKind.INCREMENT) && positive;
  }

  /** Whether an entry was created, which the outcome says besides. */
  public boolean isPositive() {
    return created();
  }

  /** Whether the record writes a key that is absent before its commit. */
  public boolean creates() {
    return created() || (kind == WriteKind.COMPARE_AND_SET && expectedVersion == 0);
  }

  /** Whether a delete found an entry. */
  public boolean existed() {
    return removesEntry() && positive;
  }

  /** Whether a compare-and-set wrote its value, or a touch found its entry. */
  public boolean applied() {
    return (kind == WriteKind.COMPARE_AND_SET || kind == WriteKind.TOUCH) && positive;
  }

  /** The version of the record, and so of the written entry; 0 if no record was appended. */
  public long version() {
    return version;
  }

  /** The number of keys or bytes that exceeded a limit, for outcomes of that kind. */
  public long excess() {
    return detail;
  }

  /**
   * The entry that a read found, or a put replaced whose answer has it; or the entry after a
   * compare-and-set: the written or the conflicting one. Null if there is none.
   */
  public Entry entry() {
    return applied() ? written() : entry;
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
  public @Nullable NumberedClient client() {
    return client;
  }

  /** Number of the write. */
  public long number() {
    return number;
  }

  /** Whether it changes nothing, whatever it finds. */
  public boolean isReading() {
    return kind == WriteKind.READ;
  }

  /** Whether the write changes nothing, which its record says if it has a number. */
  public boolean isUnchanged() {
    return unchanged;
  }

  /** The detail of the outcome; {@link #outcomeKind} gives its meaning. */
  public long detail() {
    return detail;
  }

  /** The part of the answer that the outcome keeps for a repetition; empty if none. */
  public ByteString answer() {
    return answer;
  }

  /** Keeps an answer for a repetition, if its record has room for it. */
  void keepAnswer(ByteString kept) {
    answer = KeptAnswer.of(kept, key.size() + value.size());
  }

  /** The place of the entry that the record replaces or removes; empty if it has none. */
  public ByteString former() {
    return former;
  }

  /** The first of the writes that the record has: this one, unless it is a transaction. */
  public @Nullable Write firstPart() {
    return this;
  }

  /** The next of the writes that the record has; null if there is none. */
  public @Nullable Write nextPart() {
    return nextPart;
  }

  /** The kind of outcome, for a write with a number. */
  public OutcomeKind outcomeKind() {
    if (kind == WriteKind.RANGE_END) {
      return OutcomeKind.RANGE;
    }
    if (unchanged) {
      return OutcomeKind.UNCHANGED;
    }
    return removesEntry() ? OutcomeKind.DELETED : OutcomeKind.WRITTEN;
  }

  /**
   * True for a repeated comparison that failed the first time, if the conflicting entry has gone
   * since.
   */
  public boolean isValueGone() {
    return valueGone;
  }

  /** Number of entries that were removed under the number of a range. */
  public long removed() {
    return unchanged ? detail >> 1 : detail;
  }

  /** Whether the range's removal has ended, before this write or with it. */
  public boolean hasRangeEnded() {
    return outcome() == DONE && kind.isOfRange() && unchanged;
  }

  /** Whether entries may be left in the range after the end of its removal. */
  public boolean mayBeMore() {
    return (detail & 1) != 0;
  }

  /** Whether the record has an entry. */
  public boolean writesEntry() {
    return switch (kind) {
      case PUT, COMPARE_AND_SET, INCREMENT, TOUCH -> !unchanged;
      default -> false;
    };
  }

  /** Whether the record removes an entry. */
  public boolean removesEntry() {
    return kind == WriteKind.DELETE || kind == WriteKind.RANGE_DELETE;
  }

  /** Reverts the results of a validation, as no record was appended. */
  void postponed() {
    positive = false;
    entry = null;
    unchanged = false;
    detail = 0;
    deadline = 0;
    answer = ByteString.EMPTY;
  }

  void found(boolean positive) {
    this.positive = positive;
  }

  void found(Entry entry) {
    this.entry = entry;
  }

  /** Sets the entry that the owner has found for the write. */
  void writes(ByteString ofKey, ByteString ofValue) {
    key = ofKey;
    value = ofValue;
  }

  /** Adds to the counter that was found, null for none; false if that is not possible. */
  boolean count(@Nullable Entry found) {
    final ByteString before = found == null ? null : found.getValue();
    final ByteString sum = CounterDescriptor.sum(before, expectedVersion);
    if (sum != null) {
      value = sum;
      detail = CounterDescriptor.number(sum);
      deadline = found == null ? deadline : found.getDeadlineMs();
    }
    return sum != null;
  }

  /** Notes that the write changes nothing, and what its record is to say. */
  void unchanged(long found) {
    unchanged = true;
    detail = found;
  }

  /** Adopts a kept outcome. */
  void kept(OutcomeKind kept, boolean isPositive, long keptDetail, ByteString keptAnswer) {
    if (answersPrevious) {
      entry = KeptAnswer.parse(Entry.parser(), keptAnswer);
    }
    final boolean isWritten = kept == OutcomeKind.WRITTEN;
    final boolean isApplied = kind == WriteKind.COMPARE_AND_SET || kind == WriteKind.TOUCH;
    positive = kept == OutcomeKind.DELETED || (isWritten && (isPositive || isApplied));
    if (isWritten && kind == WriteKind.INCREMENT) {
      detail = keptDetail;
      value = CounterDescriptor.value(detail);
    }
    if (kept == OutcomeKind.UNCHANGED || kept == OutcomeKind.RANGE) {
      unchanged(keptDetail);
    }
  }

  /** Sets the conflicting entry of a comparison; null if it has gone since. */
  void foundAgain(Entry again) {
    entry = again;
    valueGone = again == null;
  }

  void detail(long number) {
    detail = number;
  }

  void logged(long lsn) {
    version = lsn;
  }

  /** Ends the write. Unless the outcome is {@link #DONE}, the answer has nothing else. */
  @Override
  void answered(int answeredOutcome) {
    super.answered(answeredOutcome);
    if (answeredOutcome != DONE) {
      positive = false;
      version = 0;
      entry = null;
    }
  }

  @Override
  void onAnswer() {
    listener.onAnswer(this);
  }
}
