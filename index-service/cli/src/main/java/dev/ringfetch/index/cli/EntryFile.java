package dev.ringfetch.index.cli;

import java.io.BufferedInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * A file of entries, or standard input: decompresses gzip, detects the format, and counts the bytes
 * read. Used by one thread.
 */
final class EntryFile implements AutoCloseable {
  private static final int SNIFFED = 4096;
  private static final int BUFFER = 1 << 16;
  private static final byte[] GZIP = {0x1f, (byte) 0x8b};
  private static final byte[] BYTE_ORDER_MARK = {(byte) 0xef, (byte) 0xbb, (byte) 0xbf};

  private final String name;
  private final long size; // -1: not known
  private final Counted counted;
  private final BufferedInputStream in;

  /** A stream that counts the bytes read. */
  private static final class Counted extends FilterInputStream {
    private long count;

    Counted(InputStream in) {
      super(in);
    }

    @Override
    public int read() throws IOException {
      final int b = super.read();
      count += b < 0 ? 0 : 1;
      return b;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      final int read = super.read(bytes, offset, length);
      count += Math.max(0, read);
      return read;
    }
  }

  private EntryFile(String name, long size, InputStream in) throws IOException {
    this.name = name;
    this.size = size;
    this.counted = new Counted(in);
    final BufferedInputStream raw = new BufferedInputStream(counted, BUFFER);
    this.in =
        beginsWith(GZIP, raw) ? new BufferedInputStream(new GzipInput(name, raw), BUFFER) : raw;
    if (beginsWith(BYTE_ORDER_MARK, this.in)) {
      this.in.skipNBytes(BYTE_ORDER_MARK.length);
    }
  }

  private static boolean beginsWith(byte[] begin, BufferedInputStream in) throws IOException {
    in.mark(begin.length);
    final boolean found = Arrays.equals(begin, in.readNBytes(begin.length));
    in.reset();
    return found;
  }

  /** Opens a file, or standard input. */
  static EntryFile open(String file, Session session) throws IOException {
    final Path path = Path.of(file);
    final boolean stdin = file.equals(Input.STDIN);
    return new EntryFile(
        stdin ? "stdin" : file,
        !stdin && Files.isRegularFile(path) ? Files.size(path) : -1,
        session.open(file));
  }

  /** Name for messages. */
  String name() {
    return name;
  }

  /** Its length in bytes; -1 if that is not known. */
  long size() {
    return size;
  }

  /** Bytes read so far. */
  long bytesRead() {
    return counted.count;
  }

  InputStream in() {
    return in;
  }

  /** True if no input is available now, but more may come. */
  boolean isDry() throws IOException {
    return size < 0 && in.available() == 0;
  }

  /** The format by the name, or else by the first character: JSON begins with a brace. */
  FileFormat format() throws IOException {
    final FileFormat named = FileFormat.ofName(name);
    if (named != null) {
      return named;
    }
    in.mark(SNIFFED);
    FileFormat found = FileFormat.CSV;
    for (int i = 0; i < SNIFFED; i++) {
      final int c = in.read();
      if (c < 0 || !Character.isWhitespace(c)) {
        found = c == '{' || c == '[' ? FileFormat.JSONL : FileFormat.CSV;
        break;
      }
    }
    in.reset();
    return found;
  }

  @Override
  public void close() throws IOException {
    in.close();
  }
}
