package dev.ringfetch.index.outcome;

/**
 * What a write did. Each has the number that it has in records.
 *
 * <p>A kept outcome has a detail besides: see each.
 */
public enum OutcomeKind {
  /** A lost comparison, the delete of no entry. Detail: version of the entry found; 0: none. */
  UNCHANGED(0),
  /** A put, or a comparison that held. The version is the LSN; no detail. */
  WRITTEN(1),
  /** A delete of an entry, or a range's that has not ended. Detail: number of deletes. */
  DELETED(2),
  /** The end of a range's removal. Detail: see {@link #range}. */
  RANGE(3);

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
  public static OutcomeKind of(long number) {
    return number < 0 || number >= KINDS.length ? null : KINDS[(int) number];
  }

  /** The detail of a range: how many entries were removed, and whether some may be left. */
  public static long range(long removed, boolean more) {
    return removed << 1 | (more ? 1 : 0);
  }
}
