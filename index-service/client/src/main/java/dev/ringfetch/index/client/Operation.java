package dev.ringfetch.index.client;

import java.util.Locale;

/** The operations of a client, as exceptions and metrics name them. */
public enum Operation {
  /** A read of one entry. */
  GET(false),
  /** A read of many entries. */
  GET_ALL(false),
  /** A read of a chain of entries. */
  FOLLOW(false),
  /** A run of a kernel of the server's. */
  RUN_KERNEL(false),
  /** A write of one entry. */
  PUT(true),
  /** A write of one entry that is absent. */
  PUT_IF_ABSENT(true),
  /** A write of many entries. */
  PUT_ALL(true),
  /** A write of records to a partition of a topic. */
  APPEND(true),
  /** A removal of one entry. */
  REMOVE(true),
  /** A write of one entry with a known version. */
  COMPARE_AND_SET(true),
  /** A read of one entry and its conditional write, as often as needed. */
  UPDATE(true),
  /** An addition to a counter. */
  INCREMENT(true),
  /** A write of one entry that answers with the value before. */
  GET_AND_SET(true),
  /** A removal of one entry with a known version. */
  REMOVE_IF(true),
  /** A change of the deadline of one entry. */
  TOUCH(true),
  /** Comparisons, reads and writes of several entries in one step. */
  TRANSACTION(true),
  /** A count of entries. */
  COUNT(false),
  /** A read of one page of a range. */
  SCAN(false),
  /** A read of one page of a search by boxes. */
  SEARCH(false),
  /** A read of the entries nearest to a point. */
  NEAREST(false),
  /** The begin of a watch. */
  WATCH(false),
  /** A removal of a range. */
  DELETE_RANGE(true),
  /** A list of indexes. */
  LIST(false),
  /** A creation of an index. */
  CREATE(true),
  /** A description of an index, or of the server. */
  DESCRIBE(false),
  /** A removal of an index. */
  DROP(true);

  private final boolean writing;
  private final String label;

  Operation(boolean writing) {
    this.writing = writing;
    this.label = name().toLowerCase(Locale.ROOT);
  }

  /** Whether it changes entries: the client repeats such an operation only if it has a number. */
  public boolean isWriting() {
    return writing;
  }

  /** Its name in texts: lower case, with underscores. */
  public String label() {
    return label;
  }
}
