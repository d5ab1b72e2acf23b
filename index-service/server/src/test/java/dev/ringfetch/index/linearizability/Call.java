package dev.ringfetch.index.linearizability;

import java.util.EnumSet;
import java.util.Set;

/**
 * What is asked of one key.
 *
 * @param kind the operation
 * @param value number of the value to be written, see {@link Values}; 0 if nothing is written
 * @param expected the version that a compare-and-set asks for; 0 for absence, and for the others
 */
public record Call(Kind kind, long value, long expected) {
  /** The operations of the index. */
  public enum Kind {
    GET,
    /** One key of a batch: a read of its own, see {@link Operation}. */
    BATCH_GET,
    PUT,
    /** One entry of a batch: a write of its own. */
    BATCH_PUT,
    DELETE,
    COMPARE_AND_SET,
    /**
     * The end of an entry whose deadline has come, which has the call's value; or, without a value,
     * the removal of whatever the range of a call has under the key.
     */
    REMOVAL;

    /** The kinds of calls for single keys and batches. */
    static final Set<Kind> OF_KEYS = EnumSet.complementOf(EnumSet.of(REMOVAL));

    boolean isRead() {
      return this == GET || this == BATCH_GET;
    }

    boolean isPut() {
      return this == PUT || this == BATCH_PUT;
    }
  }

  public static Call read(Kind kind) {
    return new Call(kind, 0, 0);
  }

  public static Call put(long value) {
    return new Call(Kind.PUT, value, 0);
  }

  static Call batchPut(long value) {
    return new Call(Kind.BATCH_PUT, value, 0);
  }

  public static Call delete() {
    return new Call(Kind.DELETE, 0, 0);
  }

  /** The end of the entry with a value; 0: of any. */
  static Call removal(long value) {
    return new Call(Kind.REMOVAL, value, 0);
  }

  public static Call compareAndSet(long expected, long value) {
    return new Call(Kind.COMPARE_AND_SET, value, expected);
  }
}
