package dev.ringfetch.index.cli;

import java.io.BufferedInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A file of entries that is read, or standard input: finds out the format, and counts the bytes
 * that were read. Used by one thread.
 */
final class EntryFile implements AutoCloseable {
  /** The name of standard input. */
  static final String STDIN = "-";

  private static final int SNIFFED = 4096;

  private final String name;
  private final long size; // -1: not known
  private final Counted counted;
  private final BufferedInputStream in;

  /** A stream that counts what is read of it. */
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

  private EntryFile(String name, long size, InputStream in) {
    this.name = name;
    this.size = size;
    this.counted = new Counted(in);
    this.in = new BufferedInputStream(counted, 1 << 16);
  }

  /** Opens a file, or standard input, which stays open. */
  static EntryFile open(String file, Stdio stdio) throws IOException {
    if (file.equals(STDIN)) {
      return new EntryFile("stdin", -1, stdio.in());
    }
    final Path path = Path.of(file);
    if (Files.isDirectory(path)) {
      throw new CommandFailure(ExitCode.FAILED, file + ": is a directory, not a file");
    }
    final InputStream opened = Files.newInputStream(path);
    return new EntryFile(file, Files.isRegularFile(path) ? Files.size(path) : -1, opened);
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

  /** Whether there is nothing more for now, but there may be later. */
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
    if (!name.equals("stdin")) {
      in.close();
    }
  }
}
