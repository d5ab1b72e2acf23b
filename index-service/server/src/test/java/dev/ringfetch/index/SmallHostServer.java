package dev.ringfetch.index;

import dev.ringfetch.index.service.HostMemory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;

/**
 * The program on a host whose directory of shared memory has so many bytes as its first argument
 * says, as a small {@code /dev/shm} has.
 */
final class SmallHostServer {
  private SmallHostServer() {}

  /** Runs the program with the other arguments; ends the JVM. */
  public static void main(String[] arguments) {
    final HostMemory host = new SmallHost(Long.parseLong(arguments[0]));
    final String[] rest = Arrays.copyOfRange(arguments, 1, arguments.length);
    System.exit(IndexServer.commandLine(new IndexServer(host)).execute(rest));
  }

  private static final class SmallHost extends HostMemory {
    private final long length;

    SmallHost(long length) {
      this.length = length;
    }

    @Override
    protected long length(Path directory) {
      return length;
    }

    @Override
    protected long free(Path directory) {
      try (Stream<Path> files = Files.walk(directory)) {
        return length - files.mapToLong(SmallHost::size).sum();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private static long size(Path file) {
      try {
        return Files.isRegularFile(file) ? Files.size(file) : 0;
      } catch (IOException e) { // it has gone
        return 0;
      }
    }
  }
}
