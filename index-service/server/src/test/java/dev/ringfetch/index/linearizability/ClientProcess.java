package dev.ringfetch.index.linearizability;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ringfetch.index.TestJvm;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A {@link ClientMain} or {@link SurvivorMain} as a child process. What it complains of goes to our
 * standard error.
 */
final class ClientProcess implements AutoCloseable {
  private static final int DEADLINE_SECONDS = 180;

  private final Process process;
  private final BufferedWriter in;
  private final BufferedReader out;
  private final Path file;

  private ClientProcess(Process process, Path file) {
    this.process = process;
    this.file = file;
    in = process.outputWriter(UTF_8);
    out = process.inputReader(UTF_8);
  }

  /** Starts a {@link ClientMain} with these arguments; its histories come in that file. */
  static ClientProcess start(Path file, Object... arguments) throws IOException {
    return start(ClientMain.class, file, arguments);
  }

  /** As {@link #start(Path, Object...)}, with another program. */
  static ClientProcess start(Class<?> program, Path file, Object... arguments) throws IOException {
    final List<String> command = TestJvm.command();
    command.add("-ea");
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(program.getName());
    for (final Object argument : arguments) {
      command.add(argument.toString());
    }
    return new ClientProcess(
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start(), file);
  }

  /** Has it begin a round. */
  void begin(int round) throws IOException {
    in.write(round + " " + file + "\n");
    in.flush();
  }

  /** Waits until a {@link SurvivorMain} has read directly. */
  void awaitDirectRead() throws Exception {
    final String line =
        CompletableFuture.supplyAsync(this::readLine).get(DEADLINE_SECONDS, TimeUnit.SECONDS);
    if (line == null) {
      throw new AssertionError("a client process has ended, see above");
    }
  }

  /** Has a {@link SurvivorMain} end its round. */
  void stop() throws IOException {
    in.write("end\n");
    in.flush();
  }

  /** Waits for the end of the round. */
  Report end() throws Exception {
    final String line =
        CompletableFuture.supplyAsync(this::readLine).get(DEADLINE_SECONDS, TimeUnit.SECONDS);
    if (line == null) {
      throw new AssertionError("a client process has ended, see above");
    }
    final String[] words = line.split(" ", -1);
    final List<Operation> history = HistoryFile.read(file);
    Files.delete(file);
    return new Report(
        history, Long.parseLong(words[0]), Long.parseLong(words[1]), Long.parseLong(words[2]));
  }

  private String readLine() {
    try {
      return out.readLine();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }

  /**
   * What a process has done.
   *
   * @param history of the round
   * @param ringCalls calls that rings have carried since the start
   * @param fallbackCalls calls that should have gone over a ring and did not, since the start
   * @param directReads reads that needed no call, since the start
   */
  record Report(List<Operation> history, long ringCalls, long fallbackCalls, long directReads) {}
}
