package dev.ringfetch.index.peers;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.index.v1.Node;
import dev.ringfetch.index.v1.NodeProcess;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The monitor of the processes of nodes on this machine: detects the end of a process before its
 * connections end. Linux first frees the memory of a killed process, 15 to 60 ms for a JVM, and
 * then closes its sockets, but shows at once in {@code /proc} that its first thread has exited.
 *
 * <p>A detected end has the same effect as the end of a connection: a wrong one costs a change of
 * leader. Processes of another machine, boot or namespace of process ids are not monitored, nor any
 * process without {@code /proc}. {@link #takeEnded} checks each process, with one system call.
 *
 * <p>Safe for use by many threads, except {@link #takeEnded}: one thread at a time.
 */
public final class PeerProcesses implements AutoCloseable {
  private static final System.Logger LOGGER = System.getLogger(PeerProcesses.class.getName());
  private static final Path PROC = Path.of("/proc");
  private static final Pattern NAMESPACE = Pattern.compile("pid:\\[(\\d+)]");
  private static final int STAT_LENGTH = 512; // enough for the used fields

  /** Fields of {@code stat} behind the name, of which proc(5) gives the numbers from 3 on. */
  private static final int STATE = 0;

  private static final int FLAGS = 9 - 3;
  private static final int START = 22 - 3;

  /** Flag: the thread is exiting. */
  private static final long PF_EXITING = 0x4;

  private final Node self;
  private final Map<Long, Watched> watched = new ConcurrentHashMap<>();
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(STAT_LENGTH);

  @GuardedBy("this")
  private boolean closed;

  /**
   * A node whose process is alive, as far as is known.
   *
   * @param stat of the process's first thread; while it is open, it refers to this process
   */
  private record Watched(Node node, FileChannel stat) {}

  /** Creates it without processes. */
  public PeerProcesses(Node self) {
    this.self = self;
  }

  /** This process; empty if the system does not identify it. */
  public static Optional<NodeProcess> self() {
    final int id = (int) ProcessHandle.current().pid();
    try (FileChannel stat = open(id)) {
      final String[] fields = read(stat, ByteBuffer.allocate(STAT_LENGTH));
      final Matcher namespace =
          NAMESPACE.matcher(
              Files.readSymbolicLink(PROC.resolve("self/ns/pid")).getFileName().toString());
      final String seen = Files.readSymbolicLink(PROC.resolve("self")).toString();
      if (!namespace.matches() || !seen.equals(Integer.toUnsignedString(id)) || hasEnded(fields)) {
        return Optional.empty(); // for example, /proc belongs to another namespace
      }
      return Optional.of(
          NodeProcess.newBuilder()
              .setNamespace(Long.parseUnsignedLong(namespace.group(1)))
              .setId(id)
              .setStart(Long.parseUnsignedLong(fields[START]))
              .build());
    } catch (IOException | NumberFormatException e) {
      LOGGER.log(Level.DEBUG, "nodes see the end of this process by its connections alone", e);
      return Optional.empty();
    }
  }

  /** Monitors the process of a node, if possible; replaces an earlier process of the node. */
  void watch(Node node) {
    final Watched known = watched.get(node.getId());
    if (!isNear(node) || (known != null && known.node.getIncarnation() == node.getIncarnation())) {
      return;
    }
    FileChannel stat = null;
    try {
      stat = open(node.getProcess().getId());
      if (isAlive(node, stat) && put(new Watched(node, stat))) {
        stat = null;
      }
    } catch (IOException e) {
      LOGGER.log(Level.DEBUG, "a node's process cannot be watched: " + node.getAddress(), e);
    } finally {
      close(stat);
    }
  }

  private boolean isNear(Node node) {
    return node.hasProcess()
        && self.hasProcess()
        && !node.getProcess().equals(self.getProcess())
        && node.getProcess().getNamespace() == self.getProcess().getNamespace()
        && node.getBootId().equals(self.getBootId());
  }

  private synchronized boolean put(Watched added) {
    if (closed) {
      return false;
    }
    final Watched before = watched.put(added.node.getId(), added);
    if (before != null) {
      close(before.stat);
    }
    return true;
  }

  /** Reports the nodes whose processes have ended since the last call, each once. */
  void takeEnded(Consumer<Node> ended) {
    for (final Watched one : watched.values().stream().filter(this::hasEnded).toList()) {
      if (watched.remove(one.node.getId(), one)) { // unless another process has replaced it
        close(one.stat);
        ended.accept(one.node);
      }
    }
  }

  private boolean hasEnded(Watched one) {
    try {
      return hasEnded(read(one.stat, buffer));
    } catch (ClosedChannelException e) { // by this object or an interrupt: no longer monitored
      watched.remove(one.node.getId(), one);
      return false;
    } catch (IOException e) { // most likely the process is gone and was reaped
      return isGone(one.node);
    }
  }

  /** Whether a process with an unreadable state has ended. */
  private static boolean isGone(Node node) {
    try (FileChannel stat = open(node.getProcess().getId())) {
      return !isAlive(node, stat);
    } catch (NoSuchFileException e) {
      return true;
    } catch (IOException e) {
      LOGGER.log(Level.DEBUG, "a node's process cannot be looked at: " + node.getAddress(), e);
      return false;
    }
  }

  /** Whether a process is the node's, and has not begun to exit. */
  private static boolean isAlive(Node node, FileChannel stat) throws IOException {
    final String[] fields = read(stat, ByteBuffer.allocate(STAT_LENGTH));
    return Long.toUnsignedString(node.getProcess().getStart()).equals(fields[START])
        && !hasEnded(fields);
  }

  private static FileChannel open(int process) throws IOException {
    final String name = Integer.toUnsignedString(process);
    return FileChannel.open(
        PROC.resolve(name).resolve("task").resolve(name).resolve("stat"), StandardOpenOption.READ);
  }

  /** The fields after the name, which may itself contain blanks and brackets. */
  private static String[] read(FileChannel stat, ByteBuffer buffer) throws IOException {
    buffer.clear();
    if (stat.read(buffer, 0) <= 0) {
      throw new IOException("nothing to read");
    }
    final byte[] bytes = new byte[buffer.flip().remaining()];
    buffer.get(bytes);
    final String text = new String(bytes, StandardCharsets.ISO_8859_1);
    final String[] fields = text.substring(text.lastIndexOf(')') + 1).trim().split(" ");
    if (fields.length <= START) {
      throw new IOException("not what proc(5) describes: " + text);
    }
    return fields;
  }

  private static boolean hasEnded(String[] fields) throws IOException {
    final char state = fields[STATE].charAt(0);
    return state == 'Z'
        || state == 'X'
        || (Long.parseUnsignedLong(fields[FLAGS]) & PF_EXITING) != 0;
  }

  private static void close(FileChannel stat) {
    if (stat != null) {
      try {
        stat.close();
      } catch (IOException e) {
        LOGGER.log(Level.DEBUG, "closing what was only read", e);
      }
    }
  }

  @Override
  public synchronized void close() {
    closed = true;
    for (final Watched one : watched.values()) {
      close(one.stat);
    }
    watched.clear();
  }
}
