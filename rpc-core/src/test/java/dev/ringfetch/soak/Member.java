package dev.ringfetch.soak;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * One process of the soak, as its parent sees it. It answers each line that it is told with one
 * line of {@code name=number} pairs, and ends with its input, that is with its parent.
 */
final class Member implements AutoCloseable {
  private static final String END = "";

  /** A machine with more to do than it can takes its time to start a JVM. */
  private static final int ANSWER_S = 180;

  private final String name;
  private final Process process;
  private final Path log;
  private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

  private Member(String name, Process process, Path log) {
    this.name = name;
    this.process = process;
    this.log = log;
  }

  /**
   * Starts a process.
   *
   * @param log where its standard error goes.
   * @param flags of its JVM.
   */
  static Member start(String name, Path log, List<String> flags, Class<?> program, String... args)
      throws IOException {
    final List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(flags);
    command.add("-XX:ErrorFile=" + log + ".hs_err");
    command.addAll(List.of("-ea", "-cp", System.getProperty("java.class.path")));
    command.add(program.getName());
    command.addAll(List.of(args));
    final Member member =
        new Member(
            name,
            new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .start(),
            log);
    final Thread reader = new Thread(member::read, "reader-" + name);
    reader.setDaemon(true);
    reader.start();
    return member;
  }

  private void read() {
    try (BufferedReader output = process.inputReader(UTF_8)) {
      String line;
      while ((line = output.readLine()) != null) {
        lines.add(line);
      }
    } catch (IOException e) {
      lines.add(END); // it was killed; a reader learns it from this line
      return;
    }
    lines.add(END);
  }

  String name() {
    return name;
  }

  long pid() {
    return process.pid();
  }

  /** Awaits what the process says by itself: that it is ready. */
  Map<String, Long> greeting() throws Exception {
    return answer("greeting");
  }

  /** Tells a line, and awaits the answer. */
  Map<String, Long> ask(String line) throws Exception {
    process.outputWriter(UTF_8).append(line).append('\n').flush();
    return answer(line);
  }

  private Map<String, Long> answer(String asked) throws Exception {
    final String line = lines.poll(ANSWER_S, TimeUnit.SECONDS);
    if (line == null) {
      dump();
      throw new AssertionError(this + " does not answer: " + asked);
    }
    if (line.equals(END)) {
      process.waitFor(1, TimeUnit.SECONDS);
      throw new AssertionError(
          this + " died" + (process.isAlive() ? "" : ", exit " + process.exitValue()));
    }
    final Map<String, Long> answer = new HashMap<>();
    for (final String pair : line.split(" ", -1)) {
      final int sign = pair.indexOf('=');
      if (sign < 0) {
        throw new AssertionError(this + " says: " + line);
      }
      answer.put(pair.substring(0, sign), Long.parseLong(pair.substring(sign + 1)));
    }
    return answer;
  }

  /** Has the JVM write its threads to its standard output, and copies that to ours. */
  void dump() throws Exception {
    signal("CONT");
    signal("QUIT");
    String line;
    while ((line = lines.poll(5, TimeUnit.SECONDS)) != null && !line.equals(END)) {
      System.out.println(name + ": " + line);
    }
  }

  /** Sends a signal by its name, for example STOP. */
  void signal(String signal) throws Exception {
    final Process kill =
        new ProcessBuilder("sh", "-c", "kill -" + signal + " " + pid()).inheritIO().start();
    if (kill.waitFor() != 0) {
      throw new IOException("kill -" + signal + ": " + this);
    }
  }

  /** As {@code kill -9}; returns when the process is gone. */
  void kill() {
    process.destroyForcibly().onExit().join();
  }

  @Override
  public void close() {
    kill();
  }

  @Override
  public String toString() {
    return name + " (pid " + pid() + ", log " + log + ")";
  }
}
