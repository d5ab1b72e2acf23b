package dev.ringfetch.index.outcome;

/**
 * What a write did. Each has the number that it has in records: its place.
 *
 * <p>A kept outcome has a detail besides: see each.
 */
public enum OutcomeKind {
  /** A lost comparison, the delete of no entry. Detail: version of the entry found; 0: none. */
  UNCHANGED,
  /** A put, or a comparison that held. The version is the LSN; no detail. */
  WRITTEN,
  /** A delete of an entry, or a range's that has not ended. Detail: number of deletes. */
  DELETED,
  /** The end of a range's removal. Detail: see {@link #range}. */
  RANGE;

  private static final OutcomeKind[] KINDS = values();

  /** The kind of a number, or null if there is none. */
  public static OutcomeKind of(long number) {
    return number < 0 || number >= KINDS.length ? null : KINDS[(int) number];
  }

  /** The detail of a range: how many entries were removed, and whether some may be left. */
  public static long range(long removed, boolean more) {
    return removed << 1 | (more ? 1 : 0);
  }
}
