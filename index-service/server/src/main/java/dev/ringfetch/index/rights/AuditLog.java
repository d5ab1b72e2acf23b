package dev.ringfetch.index.rights;

import io.grpc.Attributes;
import io.grpc.Grpc;
import io.grpc.Status;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The log of who did what: a line for each call that needs a certain right, and for each one that
 * was refused. A line names user, address, method, index and status; never a key, a value or a
 * secret.
 *
 * <p>A thread of its own writes the lines, so that no call waits for a disk. A line that it cannot
 * write, or that comes while {@value #MAX_WAITING} wait, is missing: this logs so once, and the
 * next line that it can write is preceded by one with the number of those that are missing.
 * Thread-safe.
 */
public final class AuditLog implements AutoCloseable {
  /** The target of lines among those of the server's own log. */
  public static final String LOG = "log";

  private static final Logger LOGGER = System.getLogger(AuditLog.class.getName());

  /** Lines that wait for the disk; at some hundred bytes each. */
  static final int MAX_WAITING = 10_000;

  private static final int END_SECONDS = 5;

  /** Longer names are cut: a request may have any. */
  private static final int MAX_NAME_LENGTH = 255;

  private final @Nullable Path file; // null: the server's log
  private final Right from;
  private final Clock clock = Clock.systemUTC();

  private final AtomicLong missing = new AtomicLong(); // lines that were not written
  private final BoundedThread thread = new BoundedThread("index-audit", MAX_WAITING);

  // Of the thread's tasks, one after the other.
  private @Nullable FileChannel channel; // null: the server's log
  private @Nullable Object fileKey; // of the open file

  /**
   * Opens the log.
   *
   * @param target a file, to which lines are added, or {@link #LOG}
   * @param from the lowest right whose calls are logged
   * @throws IOException if the file cannot be written
   */
  public AuditLog(String target, Right from) throws IOException {
    this.from = from;
    file = target.equals(LOG) ? null : Path.of(target);
    open();
  }

  private void open() throws IOException {
    if (file == null) {
      return;
    }
    final FileAttribute<?>[] ofOwner =
        FileSystems.getDefault().supportedFileAttributeViews().contains("posix")
            ? new FileAttribute<?>[] {
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-r-----"))
            }
            : new FileAttribute<?>[0];
    channel =
        FileChannel.open(
            file, Set.of(StandardOpenOption.CREATE, StandardOpenOption.APPEND), ofOwner);
    fileKey = key();
  }

  private @Nullable Object key() throws IOException {
    return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
  }

  /** Opens the file anew if it was moved or removed, as rotation of logs does. */
  void refresh() {
    if (file != null) {
      final boolean unused = thread.run(this::reopen); // else the next time
    }
  }

  private void reopen() {
    try {
      if (channel.isOpen() && Files.exists(file) && Objects.equals(fileKey, key())) {
        return;
      }
      final FileChannel former = channel;
      open();
      former.close();
    } catch (IOException e) {
      LOGGER.log(
          Level.ERROR, "cannot open the audit log anew: file={0}: {1}", file, e.getMessage());
    }
  }

  /** Whether calls that need a right are logged; null: each user may make them. */
  boolean covers(@Nullable Right right) {
    return from.compareTo(right == null ? Right.READ : right) <= 0;
  }

  /**
   * Adds a line.
   *
   * @param user its name; empty if the caller is unknown
   * @param method the full name
   * @param status null: the call begins, and may last
   */
  void add(
      String user, Attributes caller, String method, String index, Status.@Nullable Code status) {
    final String text =
        "user="
            + name(user)
            + " peer="
            + peer(caller)
            + " method="
            + method.substring(method.lastIndexOf('.') + 1)
            + " index="
            + name(index)
            + " status="
            + (status == null ? "BEGUN" : status);
    if (file == null) {
      LOGGER.log(Level.INFO, text);
    } else {
      final String line = clock.instant().truncatedTo(ChronoUnit.MILLIS) + " " + text + "\n";
      if (!thread.run(() -> write(line))) {
        miss("more lines than the disk takes", 1);
      }
    }
  }

  private void write(String line) {
    final long lost = missing.getAndSet(0);
    final String whole =
        lost == 0
            ? line
            : clock.instant().truncatedTo(ChronoUnit.MILLIS) + " missing=" + lost + "\n" + line;
    try {
      final ByteBuffer bytes = ByteBuffer.wrap(whole.getBytes(StandardCharsets.UTF_8));
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
    } catch (IOException e) {
      miss(String.valueOf(e.getMessage()), lost + 1);
    }
  }

  private void miss(String reason, long lines) {
    if (missing.getAndAdd(lines) == 0) {
      LOGGER.log(Level.ERROR, "the audit log lacks lines: file={0}: {1}", file, reason);
    }
  }

  /** The address of a caller's host; "-" if it has none. */
  static String host(Attributes caller) {
    return caller.get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR) instanceof InetSocketAddress address
            && address.getAddress() != null
        ? address.getAddress().getHostAddress()
        : "-";
  }

  private static String peer(Attributes caller) {
    return caller.get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR) instanceof InetSocketAddress address
            && address.getAddress() != null
        ? host(caller) + ":" + address.getPort()
        : "-";
  }

  /** A name in a line: one word, whatever a request has in it. */
  static String name(String name) {
    if (name.isEmpty()) {
      return "-";
    }
    final StringBuilder word = new StringBuilder();
    name.chars()
        .limit(MAX_NAME_LENGTH)
        .forEach(
            c -> {
              if (c <= ' ' || c == '\\' || c > '~') {
                word.append(String.format("\\u%04x", c));
              } else {
                word.append((char) c);
              }
            });
    return name.length() > MAX_NAME_LENGTH ? word + "..." : word.toString();
  }

  /** Writes the lines that wait, for a few seconds at most. */
  @Override
  public void close() {
    try {
      if (!thread.end(END_SECONDS)) {
        LOGGER.log(Level.ERROR, "the audit log lacks lines: file={0}: the disk stalls", file);
      } else if (channel != null) {
        channel.close();
      }
    } catch (IOException e) {
      miss(String.valueOf(e.getMessage()), 0);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
