package dev.ringfetch.index.partition;

/** The kind of a write. */
public enum WriteKind {
  /** Writes an entry, whether or not there is one. */
  PUT,
  /** Removes the entry if there is one, with the expected version if one is expected. */
  DELETE,
  /** Writes an entry if the one that is there has the expected version. */
  COMPARE_AND_SET,
  /** Adds to the counter that the entry is, or creates it. */
  INCREMENT,
  /** Writes the entry that is there with another deadline. */
  TOUCH,
  /** Compares, reads and writes several entries: a {@link Transaction}. */
  TRANSACTION,
  /** Writes nothing: reads the progress of a numbered removal of a range. */
  RANGE_BEGIN,
  /** Removes one entry of a range under the range's number, if there is one. */
  RANGE_DELETE,
  /** Ends the removal of a range, and so gives it an outcome. */
  RANGE_END,
  /** Writes nothing: the owner reads the entry because readers could not decide. */
  READ,
  /** Writes no entry: advances the partition's clock if a deadline has passed. */
  TICK;

  /** Whether it is a step of the removal of a range. */
  boolean isOfRange() {
    return this == RANGE_BEGIN || this == RANGE_DELETE || this == RANGE_END;
  }
}
