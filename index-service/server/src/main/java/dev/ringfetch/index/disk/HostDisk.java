package dev.ringfetch.index.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A directory of this host's file system, on Linux, whose files only their owner may use.
 *
 * <p>An interrupt of a thread that uses a file closes the file: the thread must be the disk's own.
 */
public final class HostDisk implements Disk {
  private final Path directory;
  private final Set<OpenOption> opening;

  /** Uses a directory that is there. */
  public HostDisk(Path directory) {
    this(
        directory,
        Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS));
  }

  private HostDisk(Path directory, Set<OpenOption> opening) {
    this.directory = directory;
    this.opening = opening;
  }

  /** Uses a directory whose files are only read, and may be read-only. */
  public static HostDisk readOnly(Path directory) {
    return new HostDisk(directory, Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS));
  }

  @Override
  public List<String> list() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .filter(file -> Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS))
          .map(file -> file.getFileName().toString())
          .sorted()
          .toList();
    }
  }

  /** The bytes of all files, without those that are removed meanwhile. */
  public long bytes() throws IOException {
    long bytes = 0;
    for (final String name : list()) {
      try {
        bytes += Files.size(directory.resolve(name));
      } catch (NoSuchFileException e) {
        // Removed since it was listed.
      }
    }
    return bytes;
  }

  @Override
  public DiskFile create(String name) throws IOException {
    return new HostFile(
        FileChannel.open(
            directory.resolve(name),
            Set.of(
                StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))),
        directory.resolve(name));
  }

  @Override
  public DiskFile open(String name) throws IOException {
    return new HostFile(
        FileChannel.open(directory.resolve(name), opening), directory.resolve(name));
  }

  @Override
  public void rename(String from, String to) throws IOException {
    Files.move(directory.resolve(from), directory.resolve(to), StandardCopyOption.ATOMIC_MOVE);
  }

  @Override
  public void delete(String name) throws IOException {
    Files.deleteIfExists(directory.resolve(name));
  }

  @Override
  public void syncDirectory() throws IOException {
    try (FileChannel channel = FileChannel.open(directory)) {
      channel.force(true);
    }
  }

  @Override
  public String describe(String name) {
    return directory.resolve(name).toString();
  }

  @Override
  public String toString() {
    return directory.toString();
  }

  private record HostFile(FileChannel channel, Path path) implements DiskFile {
    /** The JDK keeps a direct buffer as long as the longest of a call with another one. */
    private static final int CALL_LENGTH = 1 << 20;

    @Override
    public long length() throws IOException {
      return channel.size();
    }

    @Override
    public int read(long position, ByteBuffer buffer) throws IOException {
      final int start = buffer.position();
      try {
        while (buffer.hasRemaining()) {
          final ByteBuffer part = part(buffer);
          final int length = channel.read(part, position + buffer.position() - start);
          if (length < 0) {
            break;
          }
          buffer.position(buffer.position() + length);
        }
      } catch (IOException e) {
        throw withPath(e);
      }
      return buffer.position() - start;
    }

    @Override
    public void write(long position, ByteBuffer buffer) throws IOException {
      final int start = buffer.position();
      try {
        while (buffer.hasRemaining()) {
          final int length = channel.write(part(buffer), position + buffer.position() - start);
          buffer.position(buffer.position() + length);
        }
      } catch (IOException e) {
        throw withPath(e);
      }
    }

    private static ByteBuffer part(ByteBuffer buffer) {
      return buffer.slice(buffer.position(), Math.min(buffer.remaining(), CALL_LENGTH));
    }

    @Override
    public void sync() throws IOException {
      try {
        channel.force(false); // fdatasync: also what is needed to find the data again
      } catch (IOException e) {
        throw withPath(e);
      }
    }

    /** Adds the file to what the system says, which is no more than the error's name. */
    private IOException withPath(IOException failure) {
      return failure.getClass() == IOException.class
          ? new IOException(failure.getMessage() + ": file=" + path, failure)
          : failure;
    }

    @Override
    public void close() throws IOException {
      channel.close();
    }
  }
}
