package dev.ringfetch.index.layout;

/**
 * The lengths of blocks: multiples of 4 bytes up to 256, then eight per power of two, up to 1 MiB
 * and an eighth. At most an eighth of a long block is unused.
 */
public final class SizeClasses {
  private static final int FINE = 64;
  private static final int FINE_LENGTH = 256;

  /** Number of classes; they count from 1. */
  public static final int COUNT = FINE + 12 * 8 + 1;

  /** Length of the longest block in bytes. */
  public static final int MAX_LENGTH = (1 << 20) + (1 << 17);

  private static final int[] LENGTHS = new int[COUNT + 1];

  static {
    for (int i = 1; i <= COUNT; i++) {
      if (i <= FINE) {
        LENGTHS[i] = 4 * i;
      } else {
        final int power = 8 + (i - FINE - 1) / 8;
        LENGTHS[i] = (1 << power) + (((i - FINE - 1) % 8 + 1) << (power - 3));
      }
    }
  }

  private SizeClasses() {}

  /**
   * The class of the shortest blocks with at least {@code length} bytes, from 1 to {@link
   * #MAX_LENGTH}.
   */
  public static int of(int length) {
    if (length <= FINE_LENGTH) {
      return (length + 3) >>> 2;
    }
    final int last = length - 1;
    final int power = 31 - Integer.numberOfLeadingZeros(last);
    return FINE + 1 + (power - 8) * 8 + ((last >>> (power - 3)) & 7);
  }

  /** Length of the blocks of a class in bytes; 0 if there is no such class. */
  public static int length(int sizeClass) {
    return sizeClass >= 0 && sizeClass <= COUNT ? LENGTHS[sizeClass] : 0;
  }
}
