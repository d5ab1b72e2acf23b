package dev.ringfetch.system;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingChannelBuilder;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import dev.ringfetch.system.HostilePeer.Manner;
import io.grpc.StatusRuntimeException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/**
 * A Ringfetch server or client in a JVM of its own. It answers each line that it is told with one
 * line, and ends with its input, that is with the test's JVM.
 */
public final class SystemChild implements AutoCloseable {
  private static final long END_S = 30;

  private final Process process;
  private final BufferedReader output;

  private SystemChild(Process process) {
    this.process = process;
    this.output = process.inputReader(UTF_8);
  }

  /** Starts a server on a port, 0 for any. Its first line is the port. */
  static SystemChild server(Path directory, int port) throws IOException {
    return start(List.of(), directory, "server", port);
  }

  /** Starts a server that takes so many sessions, all on one poller. Its first line is the port. */
  static SystemChild serverOf(Path directory, int maxSessions) throws IOException {
    return start(List.of(), directory, "server", 0, maxSessions);
  }

  /** Starts a client that misbehaves. Its first line comes after it has done so once. */
  static SystemChild hostile(Path directory, int port, Manner manner) throws IOException {
    final String seed = "-Dringfetch.seed=" + Long.getLong("ringfetch.seed", 1);
    return start(
        List.of(),
        List.of("-XX:TieredStopAtLevel=1", seed),
        SystemChild.class,
        List.of(directory.toString(), "hostile", Integer.toString(port), manner.toString()));
  }

  /** Starts a process that burns as much of a core as it is told, and does nothing else. */
  static SystemChild burner(Path directory) throws IOException {
    return start(List.of(), directory, "burner");
  }

  /** Starts a client with calls under way. Its first line comes when the ring carries them. */
  static SystemChild client(Path directory, int port, int hanging) throws IOException {
    return start(List.of(), directory, "load", port, hanging);
  }

  /** Starts a client that opens and closes sessions for as long as it lives. */
  static SystemChild churn(Path directory, int port) throws IOException {
    return start(List.of(), directory, "churn", port);
  }

  /** Starts a client that makes the calls it is told to make. */
  static SystemChild caller(Path directory, int port) throws IOException {
    return start(List.of(), directory, "caller", port);
  }

  /** Starts a server that may have this many descriptors, and can be told to use them up. */
  static SystemChild serverWithDescriptors(int limit, Path directory) throws IOException {
    return start(inShell("ulimit -n " + limit, ""), directory, "server", 0);
  }

  /** Starts a caller that may have this many descriptors, and can be told to use them up. */
  static SystemChild callerWithDescriptors(int limit, Path directory, int port) throws IOException {
    return start(inShell("ulimit -n " + limit, ""), directory, "caller", port);
  }

  /** Starts a process that merely opens and closes a channel. */
  static SystemChild visitor(Path directory) throws IOException {
    return start(List.of(), directory, "visit");
  }

  /** Starts server and client in one JVM, on a file system of its own mounted on the directory. */
  static SystemChild onFileSystem(String mountOptions, Path directory) throws IOException {
    return start(mounted(mountOptions, directory), directory, "fallback");
  }

  /** What starts a command that sees memory of its own mounted on the directory. */
  static List<String> mounted(String mountOptions, Path directory) {
    return inShell("mount -t tmpfs -o " + mountOptions + " none '" + directory + "'", "unshare -m");
  }

  /** What starts a command after another one in the same shell, which may be wrapped. */
  public static List<String> inShell(String before, String wrapper) {
    final List<String> prefix = new ArrayList<>();
    if (!wrapper.isEmpty()) {
      prefix.addAll(List.of(wrapper.split(" ", -1)));
    }
    prefix.addAll(List.of("sh", "-c", before + " && exec \"$@\"", "child"));
    return prefix;
  }

  private static SystemChild start(
      List<String> prefix, Path directory, String role, Object... options) throws IOException {
    final List<String> arguments = new ArrayList<>(List.of(directory.toString(), role));
    for (final Object option : options) {
      arguments.add(option.toString());
    }
    return start(prefix, List.of("-XX:TieredStopAtLevel=1"), SystemChild.class, arguments);
  }

  /**
   * Starts a program of a test's own.
   *
   * @param prefix what starts the JVM; empty for nothing.
   * @param flags of the JVM.
   */
  public static SystemChild start(
      List<String> prefix, List<String> flags, Class<?> program, List<String> arguments)
      throws IOException {
    final List<String> command = new ArrayList<>(prefix);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(flags);
    command.addAll(List.of("-ea", "-cp", System.getProperty("java.class.path"), program.getName()));
    command.addAll(arguments);
    return new SystemChild(
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
  }

  public long pid() {
    return process.pid();
  }

  public String readLine() throws IOException {
    final String line = output.readLine();
    if (line == null) {
      throw new IOException("the child has said nothing more");
    }
    return line;
  }

  /** Tells a line, and returns the answer. */
  public String ask(String line) throws IOException {
    tell(line);
    return readLine();
  }

  /** Asks for a number. */
  public long count(String what) throws IOException {
    return Long.parseLong(ask(what));
  }

  public void tell(String line) throws IOException {
    process.outputWriter(UTF_8).append(line).append('\n').flush();
  }

  /** Sends a signal by its name, for example STOP. */
  void signal(String name) throws Exception {
    // The shell's own: the program of that name is not on every machine.
    final Process kill =
        new ProcessBuilder("sh", "-c", "kill -" + name + " " + pid()).inheritIO().start();
    if (kill.waitFor() != 0) {
      throw new IOException("kill -" + name + " " + pid() + ": " + kill.exitValue());
    }
  }

  /** As {@code kill -9}, without waiting for the end. */
  public void kill() {
    process.destroyForcibly();
  }

  void awaitEnd() throws Exception {
    if (!process.waitFor(END_S, TimeUnit.SECONDS)) {
      throw new AssertionError("the child does not end");
    }
  }

  @Override
  public void close() {
    process.destroyForcibly().onExit().join();
  }

  /** Plays a role (second argument) in a directory (first argument). */
  public static void main(String[] args) throws Exception {
    final Path directory = Path.of(args[0]);
    final int port = args.length > 2 ? Integer.parseInt(args[2]) : 0;
    switch (args[1]) {
      case "server" -> serve(directory, port, args.length > 3 ? Integer.parseInt(args[3]) : 0);
      case "hostile" -> HostilePeer.run(directory, port, Manner.valueOf(args[3]));
      case "burner" -> Burner.run();
      case "load" -> load(directory, port, Integer.parseInt(args[3]));
      case "churn" -> comeAndGo(directory, port);
      case "caller" -> call(directory, port);
      case "visit" -> channelBuilder(directory, 1).build().shutdownNow();
      case "fallback" -> fallBack(directory);
      default -> throw new IllegalArgumentException("role=" + args[1]);
    }
    System.exit(0);
  }

  static RingChannelBuilder channelBuilder(Path directory, int port) {
    return RingChannelBuilder.forAddress("localhost", port).usePlaintext().shmDirectory(directory);
  }

  public static BufferedReader input() {
    return new BufferedReader(new InputStreamReader(System.in, UTF_8));
  }

  private static void serve(Path directory, int port, int maxSessions) throws IOException {
    final HashIndex index = new HashIndex();
    final Descriptors descriptors = new Descriptors();
    final RingServerBuilder builder =
        RingServerBuilder.forPort(port).shmDirectory(directory).addService(index);
    if (maxSessions > 0) {
      builder.maxSessions(maxSessions).pollers(1);
    }
    final RingServer server = builder.build().start();
    System.out.println(server.getPort());
    final BufferedReader input = input();
    String line;
    while ((line = input.readLine()) != null) {
      switch (line) {
        case "sessions" -> System.out.println(server.sessionCount());
        case "hanging" -> System.out.println(index.hanging());
        case "cancelled" -> System.out.println(index.cancelled());
        case "served" -> System.out.println(index.served());
        default -> System.out.println(descriptors.obey(line));
      }
    }
  }

  /** Waits for a ring, without asking for more than a call at a time. */
  static void awaitRing(RingChannel channel) throws Exception {
    final GetRequest request = HashIndex.request(1);
    Await.until(
        "a ring",
        30,
        () -> {
          try {
            HashIndex.isAnswer(request, IndexGrpc.newBlockingStub(channel).get(request));
          } catch (StatusRuntimeException e) {
            return false; // no server yet
          }
          return channel.transport().isRing();
        });
  }

  private static void load(Path directory, int port, int hanging) throws Exception {
    final RingChannel channel = channelBuilder(directory, port).build();
    awaitRing(channel);
    try (Load load = new Load(channel).hang(hanging).start(2)) {
      final long before = channel.ringCalls();
      Await.until("ring calls", 30, () -> channel.ringCalls() > before + 1_000);
      System.out.println("loaded");
      final BufferedReader input = input();
      String line;
      while ((line = input.readLine()) != null) {
        switch (line) {
          case "answered" -> System.out.println(load.answered());
          case "failures" -> System.out.println(load.unavailable() + load.failures().size());
          case "ring" -> System.out.println(channel.ringCalls());
          case "grpc" -> System.out.println(channel.grpcCalls());
          default -> throw new IllegalArgumentException("line=" + line);
        }
      }
    }
  }

  private static void comeAndGo(Path directory, int port) throws Exception {
    final Thread thread =
        new Thread(
            () -> {
              try {
                for (int i = 0; ; i++) {
                  final RingChannel channel = channelBuilder(directory, port).build();
                  awaitRing(channel);
                  channel.shutdownNow();
                  if (i == 0) {
                    System.out.println("churning");
                  }
                }
              } catch (Exception | AssertionError e) {
                throw new IllegalStateException(e); // told by the thread's handler
              }
            },
            "churn");
    thread.setDaemon(true);
    thread.start();
    while (System.in.read() >= 0) {}
  }

  private static void call(Path directory, int port) throws Exception {
    final RingChannel channel = channelBuilder(directory, port).build();
    final Descriptors descriptors = new Descriptors();
    awaitRing(channel);
    System.out.println("connected");
    final BufferedReader input = input();
    String line;
    while ((line = input.readLine()) != null) {
      if (Descriptors.isOrder(line)) {
        System.out.println(descriptors.obey(line));
        continue;
      }
      if ("ring".equals(line)) {
        System.out.println(channel.ringCalls());
        continue;
      }
      if ("transport".equals(line)) {
        System.out.println(channel.transport());
        continue;
      }
      if (line.startsWith("measure ")) {
        System.out.println(Latencies.measure(channel, Long.parseLong(line.substring(8))));
        continue;
      }
      final String[] words = line.split(" ", -1); // "call", or "hang <ms> of deadline"
      final GetRequest request =
          "hang".equals(words[0]) ? HashIndex.hangingRequest() : HashIndex.request(1);
      final Duration deadline =
          words.length > 1 ? Duration.ofMillis(Long.parseLong(words[1])) : Duration.ofSeconds(30);
      try {
        System.out.println(
            HashIndex.isAnswer(
                    request,
                    IndexGrpc.newBlockingStub(channel).withDeadlineAfter(deadline).get(request))
                ? "OK"
                : "another's answer");
      } catch (StatusRuntimeException e) {
        System.out.println(e.getStatus().getCode());
      }
    }
  }

  /** Why there is no ring, once the present attempt has ended, if one is under way. */
  private static String reasonBetweenAttempts(RingChannel channel) throws Exception {
    final AtomicReference<String> reason = new AtomicReference<>();
    Await.until(
        "the end of an attempt",
        10,
        () -> {
          reason.set(channel.transport().reason());
          return !reason.get().contains("is being opened");
        });
    return reason.get();
  }

  /** Calls for two seconds, while again and again no ring can be had; says what was logged. */
  private static void fallBack(Path directory) throws Exception {
    final List<String> logged = Collections.synchronizedList(new ArrayList<>());
    final Logger logger = Logger.getLogger("dev.ringfetch");
    logger.setUseParentHandlers(false);
    logger.addHandler(new Recorder(logged));
    final RingServer server =
        RingServerBuilder.forPort(0)
            .shmDirectory(directory)
            .addService(new HashIndex())
            .build()
            .start();
    final RingChannel channel =
        channelBuilder(directory, server.getPort()).ringLengths(1 << 20, 1 << 20).build();
    final Load load = new Load(channel).start(1);
    final long startNs = System.nanoTime();
    Await.until("two seconds of calls", 10, () -> Await.millisSince(startNs) > 2_000);
    load.stop(10);
    System.out.println("answered " + load.answered());
    System.out.println("failed " + (load.unavailable() + load.failures().size()));
    System.out.println("ring " + channel.ringCalls());
    System.out.println("grpc " + channel.grpcCalls());
    System.out.println("reason " + reasonBetweenAttempts(channel));
    System.out.println("fabrics " + server.fabrics());
    Await.until( // the reason is known a moment before it is logged
        "a logged reason",
        10,
        () -> List.copyOf(logged).stream().anyMatch(line -> line.contains("there is no ring")));
    for (final String message : List.copyOf(logged)) {
      System.out.println("logged " + message.replace('\n', ' '));
    }
    System.out.println("end");
  }

  /** Keeps what is logged. */
  private static final class Recorder extends Handler {
    private final List<String> messages;
    private final SimpleFormatter formatter = new SimpleFormatter();

    Recorder(List<String> messages) {
      this.messages = messages;
    }

    @Override
    public void publish(LogRecord record) {
      messages.add(record.getLevel() + " " + formatter.formatMessage(record));
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }
}
