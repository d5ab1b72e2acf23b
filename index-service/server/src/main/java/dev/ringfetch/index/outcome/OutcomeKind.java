package dev.ringfetch.index.outcome;

import org.jspecify.annotations.Nullable;

/**
 * The kind of an outcome, with its number in records.
 *
 * <p>A kept outcome also has a detail, which depends on the kind, and may have an answer.
 */
public enum OutcomeKind {
  /**
   * A failed comparison, or the delete of an absent entry. Detail: version of the found entry; 0
   * for none. Of a refused increment, also in a transaction: length of the value that it found.
   */
  UNCHANGED(0),
  /**
   * A put, or another write of an entry. The version is the LSN. Detail: of an increment the number
   * that it wrote; else none. A get-and-set keeps the entry that it replaced.
   */
  WRITTEN(1),
  /** A delete of an entry, or an unfinished removal of a range. Detail: number of deletes. */
  DELETED(2),
  /** The end of a range's removal. Detail: see {@link #range}. */
  RANGE(3),
  /**
   * A transaction, which is positive if it changed something. Detail: 1 if all comparisons held,
   * else 0. It keeps its answers.
   */
  TRANSACTION(4);

  private static final OutcomeKind[] KINDS = values();

  private final int number;

  OutcomeKind(int number) {
    this.number = number;
  }

  /** Its number in records. */
  public int number() {
    return number;
  }

  /** The kind of a number, or null if there is none. */
  public static @Nullable OutcomeKind of(long number) {
    return number < 0 || number >= KINDS.length ? null : KINDS[(int) number];
  }

  /** The detail of a range: the number of removed entries, and whether some may be left. */
  public static long range(long removed, boolean more) {
    return removed << 1 | (more ? 1 : 0);
  }
}
