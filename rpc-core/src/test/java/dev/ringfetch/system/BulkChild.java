package dev.ringfetch.system;

import com.google.common.base.Throwables;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.Status;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.Stream;

/**
 * A server, or a client that calls it with long messages without end, in a JVM of its own. Both say
 * what they are asked for, and their registered memory can be found and taken away from outside.
 */
final class BulkChild {
  private static final int THREADS = 2;
  private static final int MAX_LENGTH = 300_000;

  private final AtomicLong numbers = new AtomicLong();
  private final AtomicLong answered = new AtomicLong();
  private final Queue<String> unavailable = new ConcurrentLinkedQueue<>(); // why
  private final Queue<String> failures = new ConcurrentLinkedQueue<>();
  private final AtomicLongArray ended = new AtomicLongArray(THREADS);
  private final RingChannel channel;

  private BulkChild(RingChannel channel) {
    this.channel = channel;
  }

  /** Starts a server. Its first line is the port. */
  static SystemChild server(Path directory) throws IOException {
    return start(directory, "server", 0);
  }

  /** Starts a client. Its first line comes when both sides' memory is in use. */
  static SystemChild client(Path directory, int port) throws IOException {
    return start(directory, "client", port);
  }

  private static SystemChild start(Path directory, String role, int port) throws IOException {
    return SystemChild.start(
        List.of(),
        List.of(
            "-Xmx256m", "-XX:-CreateCoredumpOnCrash", "-XX:ErrorFile=" + crashReport(directory)),
        BulkChild.class,
        List.of(directory.toString(), role, Integer.toString(port)));
  }

  /** What a JVM writes on its way down. */
  static Path crashReport(Path directory) {
    return directory.resolve("hs_err.log");
  }

  /** Files of registered memory that a process owns, as it has them open. */
  static List<Path> files(Path directory, long pid) throws IOException {
    final List<Path> found = new ArrayList<>();
    try (Stream<Path> descriptors = Files.list(Path.of("/proc/" + pid + "/fd"))) {
      for (final Path descriptor : descriptors.toList()) {
        if (isRegistered(directory, descriptor)) {
          found.add(descriptor);
        }
      }
    }
    return found;
  }

  private static boolean isRegistered(Path directory, Path descriptor) throws IOException {
    final String file = file(descriptor);
    return file.startsWith(directory.toString()) && file.contains("registered-");
  }

  /** What a descriptor is of; nothing if it was closed since it was listed. */
  static String file(Path descriptor) throws IOException {
    try {
      return Files.readSymbolicLink(descriptor).toString();
    } catch (NoSuchFileException e) {
      return "";
    }
  }

  /** Whether a process, its owner or not, has an open file in its memory. */
  static boolean isMapped(Path descriptor, long pid) throws IOException {
    final String file = file(descriptor);
    try (Stream<String> maps = Files.lines(Path.of("/proc/" + pid + "/maps"))) {
      return !file.isEmpty() && maps.anyMatch(line -> line.endsWith(file));
    }
  }

  /** Takes the memory of a file away. */
  static void truncate(Path descriptor) throws IOException {
    try (FileChannel file = FileChannel.open(descriptor, StandardOpenOption.WRITE)) {
      file.truncate(0);
    }
  }

  /** Plays a role (second argument) in a directory (first argument). */
  public static void main(String[] args) throws Exception {
    final Path directory = Path.of(args[0]);
    if ("server".equals(args[1])) {
      serve(directory);
    } else {
      new BulkChild(SystemChild.channelBuilder(directory, Integer.parseInt(args[2])).build())
          .call(directory);
    }
    System.exit(0);
  }

  private static void serve(Path directory) throws Exception {
    final HashIndex index = new HashIndex();
    final RingServer server =
        RingServerBuilder.forPort(0)
            .shmDirectory(directory)
            .pollers(1) // of all sessions
            .addService(index)
            .build()
            .start();
    System.out.println(server.getPort());
    final BufferedReader input = SystemChild.input();
    String line;
    while ((line = input.readLine()) != null) {
      switch (line) {
        case "sessions" -> System.out.println(server.sessionCount());
        case "served" -> System.out.println(index.served());
        case "files" -> System.out.println(ownFiles(directory));
        default -> throw new IllegalArgumentException("line=" + line);
      }
    }
  }

  private static int ownFiles(Path directory) throws IOException {
    System.gc(); // what is kept goes with the last that refers to it
    return files(directory, ProcessHandle.current().pid()).size();
  }

  private void call(Path directory) throws Exception {
    SystemChild.awaitRing(channel);
    for (int i = 0; i < THREADS; i++) {
      final int index = i;
      final Thread thread = new Thread(() -> callWithoutEnd(index), "bulk-" + i);
      thread.setDaemon(true);
      thread.start();
    }
    Await.until("registered memory", 30, () -> ownFiles(directory) > 0);
    Await.until("calls", 30, () -> answered.get() > 50);
    System.out.println("loaded");
    final BufferedReader input = SystemChild.input();
    String line;
    while ((line = input.readLine()) != null) {
      switch (line) {
        case "answered" -> System.out.println(answered);
        case "unavailable" -> System.out.println(line(unavailable));
        case "failures" -> System.out.println(line(failures));
        case "ended" -> System.out.println(Math.min(ended.get(0), ended.get(1)));
        case "files" -> System.out.println(ownFiles(directory));
        default -> throw new IllegalArgumentException("line=" + line);
      }
    }
  }

  private static String line(Queue<String> texts) {
    return List.copyOf(texts).toString().replace('\n', ' ');
  }

  private void callWithoutEnd(int thread) {
    for (; ; ended.incrementAndGet(thread)) {
      final long number = numbers.incrementAndGet();
      final GetRequest request =
          HashIndex.request(
              number,
              (int) (number * 7919 % MAX_LENGTH), // both shorter and longer than the threshold
              (int) (number * 104_729 % MAX_LENGTH));
      try {
        if (HashIndex.isAnswer(request, IndexGrpc.newBlockingStub(channel).get(request))) {
          answered.incrementAndGet();
        } else {
          failures.add("another's answer");
        }
      } catch (Throwable t) { // whatever the call ends with: the test judges it
        final Status status = Status.fromThrowable(t);
        if (LostServer.endsWith(status)) {
          unavailable.add(String.valueOf(status.getDescription()));
        } else {
          failures.add(Throwables.getStackTraceAsString(t));
        }
      }
    }
  }
}
