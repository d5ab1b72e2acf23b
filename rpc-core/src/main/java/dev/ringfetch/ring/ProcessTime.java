package dev.ringfetch.ring;

/**
 * The encoding of the time that a server has had a request, in the high byte of the {@linkplain
 * FrameDescriptor code} of its answer: RFP's response time (EuroSys'17, section 3), in 5 bits of
 * exponent and 3 of mantissa.
 *
 * <p>In units of 16 ns: mantissa times two to the exponent less one, where the mantissa has a
 * leading bit that is not written; without one where the exponent is 0. So it is a sixteenth off at
 * the most, and reaches four minutes. 0 says nothing.
 */
public final class ProcessTime {
  private static final int UNIT_NS = 16;
  private static final int MANTISSA_BITS = 3;
  private static final int LEADING = 1 << MANTISSA_BITS;
  private static final long LONGEST = (2L * LEADING - 1) << 30; // in units

  private static final int SHIFT = 8; // in the code
  private static final int STATUS = (1 << SHIFT) - 1;

  private ProcessTime() {}

  /** The code of an answer with this status that has taken so long, in nanoseconds. */
  public static int code(int status, long nanos) {
    return status | (encode(nanos) << SHIFT);
  }

  /** What the code of an answer says that it has taken, in nanoseconds. */
  public static long ofCode(int code) {
    return decode((code >>> SHIFT) & STATUS);
  }

  /** The status in the code of an answer. */
  public static int status(int code) {
    return code & STATUS;
  }

  private static int encode(long nanos) {
    final long units = Math.min(Math.max(0, nanos) / UNIT_NS, LONGEST);
    if (units < LEADING) {
      return (int) units;
    }
    final int shift = Long.SIZE - 1 - MANTISSA_BITS - Long.numberOfLeadingZeros(units);
    return ((shift + 1) << MANTISSA_BITS) | ((int) (units >>> shift) & (LEADING - 1));
  }

  /** The middle of what is written alike. */
  private static long decode(int encoded) {
    final int exponent = encoded >>> MANTISSA_BITS;
    if (exponent == 0) {
      return (long) UNIT_NS * encoded;
    }
    final long units = (long) (LEADING | (encoded & (LEADING - 1))) << (exponent - 1);
    return UNIT_NS * units + (UNIT_NS * ((1L << (exponent - 1)) - 1)) / 2;
  }
}
