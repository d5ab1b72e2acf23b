package dev.ringfetch.call;

import dev.ringfetch.session.unit.UnitBuffer;
import java.io.OutputStream;

/** Output stream that appends a message of unknown length to a unit. */
final class UnitOutput extends OutputStream {
  private final UnitBuffer unit;
  private final int start;
  private final int maxLength;

  /**
   * Creates a stream that appends to a unit.
   *
   * @param maxLength longest message in bytes.
   */
  UnitOutput(UnitBuffer unit, int maxLength) {
    this.unit = unit;
    this.start = unit.length();
    this.maxLength = maxLength;
  }

  @Override
  public void write(int value) {
    Messages.check(unit.length() - start + 1, maxLength);
    final int index = unit.extend(1); // first: it may replace the array
    unit.array()[index] = (byte) value;
  }

  @Override
  public void write(byte[] source, int offset, int length) {
    Messages.check(unit.length() - start + length, maxLength);
    unit.addBytes(source, offset, length);
  }
}
