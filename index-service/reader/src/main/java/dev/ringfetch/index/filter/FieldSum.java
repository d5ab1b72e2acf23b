package dev.ringfetch.index.filter;

import dev.ringfetch.index.v1.Field;
import dev.ringfetch.index.v1.FieldSummary;

/** The summary of a numeric field over entries, as it grows. Used by one thread at a time. */
public final class FieldSum {
  private final EntryField field;
  private long entries;
  private long sum;
  private long least;
  private long greatest;
  private double floatingSum;
  private double floatingLeast = Double.POSITIVE_INFINITY;
  private double floatingGreatest = Double.NEGATIVE_INFINITY;

  /**
   * Creates the summary of no entries.
   *
   * @throws IllegalArgumentException if the message describes no number, or one beyond 63 bits
   */
  public FieldSum(Field message) {
    field = new EntryField(message);
    if (field.encoding() == Field.Encoding.BYTES) {
      throw new IllegalArgumentException("a summary of " + field + ": it is no number");
    }
    if (message.getEncoding() == Field.Encoding.UNSIGNED && message.getLength() == Long.BYTES) {
      throw new IllegalArgumentException(
          "a summary of " + field + ": it may be beyond 63 bits, give fewer bytes or SIGNED");
    }
  }

  /** Adds an entry, whose value follows its key in the array. */
  public void add(byte[] array, int keyOffset, int keyLength, int valueLength, long version) {
    final int begin = field.begin(keyOffset, keyLength, valueLength);
    if (begin == EntryField.ABSENT) {
      return;
    }
    if (field.isFloating()) {
      final double number = field.floating(array, begin);
      floatingSum += number;
      floatingLeast = Math.min(floatingLeast, number);
      floatingGreatest = Math.max(floatingGreatest, number);
    } else {
      final long number = field.integer(array, begin, version);
      sum += number;
      least = entries == 0 ? number : Math.min(least, number);
      greatest = entries == 0 ? number : Math.max(greatest, number);
    }
    entries++;
  }

  /** The message. */
  public FieldSummary message() {
    final FieldSummary.Builder message = FieldSummary.newBuilder().setEntries(entries);
    return field.isFloating()
        ? message
            .setFloatingSum(floatingSum)
            .setFloatingLeast(entries == 0 ? 0 : floatingLeast)
            .setFloatingGreatest(entries == 0 ? 0 : floatingGreatest)
            .build()
        : message.setSum(sum).setLeast(least).setGreatest(greatest).build();
  }
}
