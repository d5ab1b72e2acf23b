package dev.ringfetch.index.layout;

import com.google.protobuf.ByteString;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Layout of the box at the begin of each value of a spatial index. Little-endian.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------------------+
 *  |                     Min X (64-bit float)                     ...
 *  +---------------------------------------------------------------+
 *  |                     Min Y (64-bit float)                     ...
 *  +---------------------------------------------------------------+
 *  |                     Max X (64-bit float)                     ...
 *  +---------------------------------------------------------------+
 *  |                     Max Y (64-bit float)                     ...
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * <p>A box is closed and may be a point. Nodes have boxes of 32-bit floats, rounded outward: so a
 * node's box encloses the exact one.
 */
public final class BoxDescriptor {
  /** Length of a box in bytes. */
  public static final int LENGTH = 4 * Double.BYTES;

  /** The greatest absolute value of a coordinate: squares of distances are finite. */
  public static final double LIMIT = 1e30;

  private static final VarHandle DOUBLE =
      MethodHandles.byteArrayViewVarHandle(double[].class, ByteOrder.LITTLE_ENDIAN);

  private BoxDescriptor() {}

  /** A bound of a box: 0 for min x, 1 for min y, 2 for max x, 3 for max y. */
  public static double bound(byte[] array, int offset, int number) {
    return (double) DOUBLE.get(array, offset + number * Double.BYTES);
  }

  /** Sets a bound of a box. */
  public static void putBound(byte[] array, int offset, int number, double value) {
    DOUBLE.set(array, offset + number * Double.BYTES, value);
  }

  /** The bytes of a box. */
  public static ByteString bytes(double minX, double minY, double maxX, double maxY) {
    final byte[] array = new byte[LENGTH];
    putBound(array, 0, 0, minX);
    putBound(array, 0, 1, minY);
    putBound(array, 0, 2, maxX);
    putBound(array, 0, 3, maxY);
    return ByteString.copyFrom(array);
  }

  /** Whether a value begins with a legal box. */
  public static boolean isLegal(ByteString value) {
    if (value.size() < LENGTH) {
      return false;
    }
    final byte[] box = new byte[LENGTH];
    value.substring(0, LENGTH).copyTo(box, 0);
    return isLegal(bound(box, 0, 0), bound(box, 0, 1), bound(box, 0, 2), bound(box, 0, 3));
  }

  /** Whether all bounds are finite, within the limit, and in order. */
  public static boolean isLegal(double minX, double minY, double maxX, double maxY) {
    return minX >= -LIMIT
        && minY >= -LIMIT
        && maxX <= LIMIT
        && maxY <= LIMIT // false for NaN
        && minX <= maxX
        && minY <= maxY;
  }

  /** The greatest 32-bit float that is not above a value. */
  public static float down(double value) {
    final float rounded = (float) value;
    return rounded > value ? Math.nextDown(rounded) : rounded;
  }

  /** The least 32-bit float that is not below a value. */
  public static float up(double value) {
    final float rounded = (float) value;
    return rounded < value ? Math.nextUp(rounded) : rounded;
  }
}
