package dev.ringfetch.index;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** An index server as a child process. */
public final class ServerProcess implements AutoCloseable {
  static final int DEADLINE_SECONDS = 120;
  private static final Pattern LISTENING = Pattern.compile("index server listening on port (\\d+)");

  private final Process process;
  private final BufferedReader out;

  private ServerProcess(Process process) {
    this.process = process;
    out = process.inputReader();
  }

  /** Starts the program with these arguments. */
  public static ServerProcess start(String... arguments) throws IOException {
    return startUnder(List.of(), arguments);
  }

  /** Starts the program with these arguments as the operand of another command, such as strace. */
  static ServerProcess startUnder(List<String> prefix, String... arguments) throws IOException {
    return start(prefix, IndexServer.class, arguments);
  }

  /** Starts the program in a directory of shared memory that has so many bytes. */
  static ServerProcess startOnSmallHost(long length, String... arguments) throws IOException {
    final List<String> all = new ArrayList<>(List.of(Long.toString(length)));
    all.addAll(List.of(arguments));
    return start(List.of(), SmallHostServer.class, all.toArray(String[]::new));
  }

  private static ServerProcess start(List<String> prefix, Class<?> program, String... arguments)
      throws IOException {
    final List<String> command = new ArrayList<>(prefix);
    command.addAll(TestJvm.command());
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(program.getName());
    command.addAll(List.of(arguments));
    return new ServerProcess(new ProcessBuilder(command).start());
  }

  /** Waits for the line that says that it serves; returns the port in it. */
  public int awaitPort() throws Exception {
    String line = readLine();
    while (line != null && line.startsWith("recovering: ")) {
      line = readLine();
    }
    final Matcher matcher = LISTENING.matcher(String.valueOf(line));
    if (!matcher.matches()) {
      throw new AssertionError("instead of the line with the port: " + line + "\n" + errors());
    }
    return Integer.parseInt(matcher.group(1));
  }

  /** Waits for the next line on standard output; null at its end. */
  String readLine() throws Exception {
    return CompletableFuture.supplyAsync(this::blockingReadLine)
        .get(DEADLINE_SECONDS, TimeUnit.SECONDS);
  }

  /** Sends SIGTERM. */
  void terminate() {
    // Not through the process itself: that would close its output, which is still to be read.
    process.toHandle().destroy();
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** Waits for its end; returns the exit code. */
  public int awaitExit() throws Exception {
    return awaitExit(DEADLINE_SECONDS);
  }

  /** As {@link #awaitExit()}, for not more than so many seconds. */
  int awaitExit(int seconds) throws Exception {
    if (!process.waitFor(seconds, TimeUnit.SECONDS)) {
      throw new AssertionError("still alive after " + seconds + " s");
    }
    return process.exitValue();
  }

  /**
   * The lines that it wrote to standard error, less those of newer JVMs about what netty does,
   * which end with an empty one; waits for its end first.
   */
  List<String> errors() throws Exception {
    awaitExit();
    try (BufferedReader err = process.errorReader()) {
      return err.lines().filter(line -> !line.isEmpty() && !line.startsWith("WARNING: ")).toList();
    }
  }

  @Override
  public void close() {
    process.descendants().forEach(ProcessHandle::destroyForcibly); // under a tracer
    process.destroyForcibly();
  }

  private String blockingReadLine() {
    try {
      return out.readLine();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
