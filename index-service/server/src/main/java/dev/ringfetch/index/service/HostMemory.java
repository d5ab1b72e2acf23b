package dev.ringfetch.index.service;

import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The memory that this process can have: of the host, of the containers (control groups) around the
 * process, and of the file system with shared memory. It gives index memory its default limit, and
 * says before each segment whether there is room.
 *
 * <p>Pages of shared memory count to the control group of the process, which ends the process at
 * the limit, without an error that the process could handle. So the room is compared before.
 *
 * <p>Safe for use by many threads; each question reads the system's files again.
 */
public class HostMemory {
  /** See {@link IndexMemoryContext#BUDGET_DEFAULT}. */
  static final long BUDGET_DEFAULT = 1L << 30;

  /** See {@link IndexMemoryContext#BUDGET_MIN}. */
  static final long BUDGET_MIN = 16L << 20;

  private static final Logger LOGGER = System.getLogger(HostMemory.class.getName());

  /** Memory of a server's JVM besides heap and direct buffers: some 60 MB with gRPC and Netty. */
  static final long JVM_LENGTH = 64L << 20;

  /** Room to leave on a file system for admissions of clients, and for a successor's start. */
  static final long SPARE_LENGTH = 1L << 20;

  /** Default limits are multiples of this, the length of a segment where memory is short. */
  private static final long STEP = 4L << 20;

  private final Path root;
  private final long heapLimit;
  private final LongSupplier heap;

  /** The memory of this process. */
  public HostMemory() {
    this(Path.of("/"), Runtime.getRuntime().maxMemory(), Runtime.getRuntime()::totalMemory);
  }

  /**
   * The memory that the files of a system say.
   *
   * @param root directory of the system's files, such as {@code /}
   * @param heapLimit the most bytes that the JVM's heap can have
   * @param heap bytes that the heap has now
   */
  public HostMemory(Path root, long heapLimit, LongSupplier heap) {
    this.root = root;
    this.heapLimit = heapLimit;
    this.heap = heap;
  }

  /**
   * A limit of index memory.
   *
   * @param reason where a limit that nobody has set comes from; empty if it was set
   */
  public record Budget(long bytes, String reason) {
    @Override
    public String toString() {
      return mebibytes(bytes) + (reason.isEmpty() ? "" : ", " + reason);
    }
  }

  /**
   * The limit of index memory that nobody has set: {@link #BUDGET_DEFAULT}, or what the smallest
   * container, or the host, leaves beside the JVM, or three quarters of the file system with shared
   * memory, which rings need, too.
   *
   * @param directory of shared memory; null: index memory is not there
   */
  final Budget budget(@Nullable Path directory) {
    final String beside = ", beside a heap of up to " + mebibytes(heapLimit);
    Budget least = new Budget(BUDGET_DEFAULT, "the default");
    for (final ControlGroup each : ControlGroup.around(root)) {
      least = less(least, besideJvm(each.limit()), "a container of " + each + beside);
    }
    final long host = hostLength();
    if (host > 0) {
      least = less(least, besideJvm(host), "a host of " + mebibytes(host) + beside);
    }
    if (directory != null) {
      final long length = length(directory);
      if (length > 0) {
        least = less(least, length - length / 4, directory + " of " + mebibytes(length));
      }
    }
    return least;
  }

  /** The rest of a limit after heap, direct buffers and the JVM itself. */
  private long besideJvm(long limit) {
    return limit - heapLimit - JVM_LENGTH - limit / 8;
  }

  private Budget less(Budget least, long bytes, String reason) {
    if (bytes >= least.bytes) {
      return least;
    }
    final long rounded = Math.max(BUDGET_MIN, bytes - Math.floorMod(bytes, STEP));
    return new Budget(rounded, "the default for " + reason);
  }

  /**
   * Why a segment would be more than there is room for, with sizes and what to do; null if there is
   * room.
   *
   * @param directory of shared memory; null: the segment is not there
   */
  final @Nullable String shortage(int length, @Nullable Path directory) {
    if (directory != null) {
      final long free = free(directory);
      if (free < length + SPARE_LENGTH) {
        return "directory="
            + directory
            + " has too little room for a segment of "
            + mebibytes(length)
            + ": free="
            + mebibytes(free)
            + " of "
            + mebibytes(length(directory))
            + "; make it larger (docker: --shm-size), or name another (--shm-directory). Memory of"
            + " a killed server stays there until a server starts on the same --data";
      }
    }
    final long heapToCome = Math.max(0, heapLimit - heap.getAsLong());
    for (final ControlGroup each : ControlGroup.around(root)) {
      final long free = each.limit() - each.used() - heapToCome - each.limit() / 16;
      if (free < length) {
        return "the container's memory has too little room for a segment of "
            + mebibytes(length)
            + ": limit="
            + mebibytes(each.limit())
            + " used="
            + mebibytes(each.used())
            + ", and the heap may take "
            + mebibytes(heapToCome)
            + " more (-Xmx); group="
            + each.directory();
      }
    }
    return null;
  }

  /** Bytes of the file system of a directory; 0: not known. */
  protected long length(Path directory) {
    final FileStore store = store(directory);
    try {
      return store == null ? 0 : store.getTotalSpace();
    } catch (IOException e) {
      return unknown(directory, e, 0);
    }
  }

  /** Bytes that are free in the file system of a directory; very many if not known. */
  protected long free(Path directory) {
    final FileStore store = store(directory);
    try {
      return store == null || store.getTotalSpace() <= 0 ? Long.MAX_VALUE : store.getUsableSpace();
    } catch (IOException e) {
      return unknown(directory, e, Long.MAX_VALUE);
    }
  }

  private static FileStore store(Path directory) {
    try {
      return Files.getFileStore(directory);
    } catch (IOException e) {
      return unknown(directory, e, null);
    }
  }

  private long hostLength() {
    final Path file = root.resolve("proc/meminfo");
    try {
      for (final String line : Files.readAllLines(file)) {
        if (line.startsWith("MemTotal:")) {
          return Long.parseLong(line.replaceAll("\\D", "")) << 10;
        }
      }
      return 0;
    } catch (IOException | NumberFormatException e) {
      return unknown(file, e, 0L);
    }
  }

  /** Goes on without what the system does not say, as before there were such questions. */
  static <T> T unknown(Path path, Exception e, T instead) {
    LOGGER.log(Level.DEBUG, "the system does not say how much memory there is: " + path, e);
    return instead;
  }

  static String mebibytes(long bytes) {
    return (bytes >> 20) + " MiB";
  }
}
