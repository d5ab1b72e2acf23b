package dev.ringfetch.index.cli;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileSystemException;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/**
 * The content of gzip data (RFC 1952): one member, or several in a row. Exceptions name the input.
 *
 * <p>{@link java.util.zip.GZIPInputStream} is not used because it treats a damaged header of a
 * later member as the end.
 */
final class GzipInput extends InputStream {
  private static final int BUFFER = 1 << 16;
  private static final int MAGIC_FIRST = 0x1f;
  private static final int MAGIC_SECOND = 0x8b;
  private static final int DEFLATE = 8;

  // Flags of a header: the parts that it has.
  private static final int HEADER_SUM = 2;
  private static final int EXTRA = 4;
  private static final int FILE_NAME = 8;
  private static final int COMMENT = 16;
  private static final int RESERVED = 0xe0;

  private final String name;
  private final InputStream in;
  private final Inflater inflater = new Inflater(true);
  private final CRC32 sum = new CRC32(); // of a header, then of its member's content
  private final byte[] buffer = new byte[BUFFER];
  private int position; // in the buffer, between members; within one, the inflater knows
  private int limit;
  private boolean inMember;
  private boolean first = true;

  GzipInput(String name, InputStream in) {
    this.name = name;
    this.in = in;
  }

  @Override
  public int read() throws IOException {
    final byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    while (inMember || begin()) {
      final int count;
      try {
        count = inflater.inflate(bytes, offset, length);
      } catch (DataFormatException e) {
        throw damaged(e.getMessage());
      }
      if (count > 0) {
        sum.update(bytes, offset, count);
        return count;
      }
      if (inflater.finished()) {
        end();
      } else if (inflater.needsDictionary()) {
        throw damaged("it needs a dictionary");
      } else if (fill()) {
        inflater.setInput(buffer, 0, limit);
      } else {
        throw cut();
      }
    }
    return -1;
  }

  /** Reads the header of a member; false at the end of the input. */
  private boolean begin() throws IOException {
    if (position == limit && !fill()) {
      return false;
    }
    sum.reset();
    if (next() != MAGIC_FIRST || next() != MAGIC_SECOND) {
      throw failure(
          first ? "no gzip data" : "other bytes are behind the gzip data, which are not read");
    }
    first = false;
    if (next() != DEFLATE) {
      throw damaged("unknown compression");
    }
    final int flags = next();
    if ((flags & RESERVED) != 0) {
      throw damaged("unknown flags");
    }
    pass(6); // time, level, operating system
    if ((flags & EXTRA) != 0) {
      pass(number(2));
    }
    if ((flags & FILE_NAME) != 0) {
      skipText();
    }
    if ((flags & COMMENT) != 0) {
      skipText();
    }
    if ((flags & HEADER_SUM) != 0) {
      final long expected = sum.getValue() & 0xffff;
      if (number(2) != expected) {
        throw damaged("checksum of a header");
      }
    }
    sum.reset();
    inflater.reset();
    inflater.setInput(buffer, position, limit - position);
    inMember = true;
    return true;
  }

  /** Compares the trailer of a member with its content. */
  private void end() throws IOException {
    position = limit - inflater.getRemaining();
    final long expected = sum.getValue();
    if (number(4) != expected) {
      throw damaged("checksum");
    }
    if (number(4) != (inflater.getBytesWritten() & 0xffffffffL)) {
      throw damaged("length");
    }
    inMember = false;
  }

  private void pass(long count) throws IOException {
    for (long i = 0; i < count; i++) {
      next();
    }
  }

  private void skipText() throws IOException {
    while (next() != 0) {
      // Its next character.
    }
  }

  /** A number of so many bytes, the lowest first. */
  private long number(int length) throws IOException {
    long number = 0;
    for (int i = 0; i < length; i++) {
      number |= (long) next() << (8 * i);
    }
    return number;
  }

  private int next() throws IOException {
    if (position == limit && !fill()) {
      throw cut();
    }
    final int next = buffer[position++] & 0xff;
    sum.update(next);
    return next;
  }

  private boolean fill() throws IOException {
    position = 0;
    limit = Math.max(0, in.read(buffer, 0, BUFFER));
    return limit > 0;
  }

  private FileSystemException cut() {
    return failure("the gzip data ends in the midst");
  }

  private FileSystemException damaged(String reason) {
    return failure("the gzip data is damaged: " + reason);
  }

  private FileSystemException failure(String reason) {
    return new FileSystemException(name, null, reason);
  }

  /**
   * Returns 0 if the next read may wait for the input, and at the end of a member, after which the
   * read may fail: streams that read ahead lose data that they have read if a later read fails.
   */
  @Override
  public int available() throws IOException {
    if (!inMember || inflater.finished()) {
      return 0;
    }
    return inflater.needsInput() ? in.available() : 1;
  }

  @Override
  public void close() throws IOException {
    inflater.end();
    in.close();
  }
}
