package dev.ringfetch.index.linearizability;

/**
 * What came back for one key.
 *
 * @param yes get: found; put: created; delete: existed; compare-and-set: applied
 * @param version of the entry in the answer, or the one that a put was told; 0 if there is none
 * @param value number of the value in the answer, see {@link Values}; 0 if there is none
 * @param incarnation of the index, as the answer names it; 0 where a test does without
 */
public record Answer(boolean yes, long version, long value, long incarnation) {
  /** None came, the call ended with an error: it may have been carried out, or may be still. */
  public static final Answer OPEN = new Answer(false, -1, 0);

  /** There was no entry. */
  public static final Answer ABSENT = new Answer(false, 0, 0);

  /** An answer of an index with one incarnation. */
  public Answer(boolean yes, long version, long value) {
    this(yes, version, value, 0);
  }

  boolean isOpen() {
    return version < 0;
  }

  @Override
  public String toString() {
    return isOpen() ? "open" : (yes ? "yes" : "no") + " " + Values.text(value) + "@" + version;
  }
}
