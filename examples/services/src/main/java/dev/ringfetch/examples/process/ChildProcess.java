package dev.ringfetch.examples.process;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * A child process: a JVM with this one's class path and flags. Its standard error goes to this
 * process's, and so does a message if it ends unexpectedly. It ends when this process ends.
 */
public final class ChildProcess implements AutoCloseable {
  private static final int LINE_TIMEOUT_SECONDS = 300;
  private static final int END_TIMEOUT_SECONDS = 45;
  private static final int REST_TIMEOUT_SECONDS = 5;
  private static final int MAX_SAID = 4_000; // characters

  private final String name;
  private final Process process;
  private final Writer input;
  private final Thread killer;
  private final Thread reader;
  private volatile boolean stopped;
  private volatile boolean ending; // was requested to

  /** What the child printed; empty at the end of its output. */
  private final BlockingQueue<Optional<String>> output = new LinkedBlockingQueue<>();

  private ChildProcess(String name, Process process) {
    this.name = name;
    this.process = process;
    this.input =
        new BufferedWriter(
            new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
    this.killer = new Thread(this::endWithParent, "end-" + name);
    Runtime.getRuntime().addShutdownHook(killer);
    this.reader = new Thread(this::readOutput, "output-of-" + name);
    reader.setDaemon(true);
    reader.start();
  }

  /**
   * Starts a JVM.
   *
   * @param flags of the JVM, beside those of this one.
   * @param main class whose main method it runs.
   * @param arguments of that method.
   */
  public static ChildProcess start(List<String> flags, Class<?> main, List<String> arguments)
      throws IOException {
    return start(flags, System.getProperty("java.class.path"), main, arguments);
  }

  /** Starts a JVM by a command that gets the JVM's command as its last arguments, else as above. */
  public static ChildProcess startBy(
      List<String> launcher, List<String> flags, Class<?> main, List<String> arguments)
      throws IOException {
    return start(launcher, flags, System.getProperty("java.class.path"), main, arguments);
  }

  /** Starts a JVM with a class path of its own, else as above. */
  public static ChildProcess start(
      List<String> flags, String classPath, Class<?> main, List<String> arguments)
      throws IOException {
    return start(List.of(), flags, classPath, main, arguments);
  }

  private static ChildProcess start(
      List<String> launcher,
      List<String> flags,
      String classPath,
      Class<?> main,
      List<String> arguments)
      throws IOException {
    final List<String> command = new ArrayList<>(launcher);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
    command.addAll(flags);
    command.addAll(List.of("-cp", classPath, main.getName()));
    command.addAll(arguments);
    return new ChildProcess(
        main.getSimpleName(),
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
  }

  private void readOutput() {
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        output.add(Optional.of(line));
      }
    } catch (IOException e) {
      // It is gone, as at the end of its output.
    }
    final boolean expected = ending; // read before a waiting thread sees the end, and closes
    output.add(Optional.empty());
    if (!expected) {
      reportEnd();
    }
  }

  /**
   * Reports an unexpected end, as no thread may be reading: a caller that waits for another process
   * only sees the failing calls of that process.
   */
  private void reportEnd() {
    try {
      if (!process.waitFor(REST_TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
        return; // it has closed its output, and goes on
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return;
    }
    final StringBuilder said = new StringBuilder();
    for (final Optional<String> line : output) {
      line.ifPresent(text -> said.append(System.lineSeparator()).append(text));
    }
    said.setLength(Math.min(said.length(), MAX_SAID)); // a crashing JVM prints the reason first
    System.err.println(
        name + ", process " + pid() + ", has ended: exit=" + process.exitValue() + said);
  }

  /** Id of the process. */
  public long pid() {
    return process.pid();
  }

  /** The next line that the child prints. */
  public String readLine() {
    final Optional<String> line;
    try {
      line = output.poll(LINE_TIMEOUT_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ChildFailure("interrupted while waiting for " + name);
    }
    if (line == null) {
      throw new ChildFailure(name + " says nothing for " + LINE_TIMEOUT_SECONDS + " s");
    }
    return line.orElseThrow(() -> new ChildFailure(name + " has ended"));
  }

  /** Runs a command in the child's {@link CommandLoop}, and waits for the answer. */
  public Answer ask(String command, Object... arguments) {
    final String line =
        command
            + Arrays.stream(arguments)
                .map(argument -> " " + argument)
                .collect(Collectors.joining());
    try {
      input.write(line + "\n");
      input.flush();
    } catch (IOException e) {
      throw new ChildFailure(name + " has ended: " + e.getMessage());
    }
    final String answer = readLine();
    final int tab = answer.indexOf('\t');
    if (tab < 0) {
      throw new ChildFailure(name + " says " + withRest(answer));
    }
    if (!answer.startsWith(CommandLoop.OK)) {
      throw new ChildFailure(answer.substring(tab + 1));
    }
    return Answer.parse(answer.substring(tab + 1));
  }

  /** Collects the lines of an output that is no answer, such as that of a crashing JVM. */
  private String withRest(String first) {
    final StringBuilder said = new StringBuilder(first);
    try {
      Optional<String> line;
      while (said.length() < MAX_SAID
          && (line = output.poll(REST_TIMEOUT_SECONDS, TimeUnit.SECONDS)) != null) {
        if (line.isEmpty()) {
          output.add(line); // other readers get the end, too
          break;
        }
        said.append(System.lineSeparator()).append(line.get());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return said.toString();
  }

  /** Stops the process where it is: nothing in it goes on until {@link #goOn}. */
  public void stop() {
    stopped = true;
    signal("STOP");
  }

  /** Continues the process, if it was stopped. */
  public void goOn() {
    if (stopped) {
      signal("CONT");
      stopped = false;
    }
  }

  private void signal(String signal) {
    try {
      final int exit =
          new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid()))
              .inheritIO()
              .start()
              .waitFor();
      if (exit != 0 && process.isAlive()) {
        throw new ChildFailure(name + " cannot be sent SIG" + signal + ": exit=" + exit);
      }
    } catch (IOException e) {
      throw new ChildFailure(name + " cannot be sent SIG" + signal + ": " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ChildFailure("interrupted while SIG" + signal + " was sent to " + name);
    }
  }

  /** Kills the child at the end of this process. A stopped child would react to no other signal. */
  private void endWithParent() {
    ending |= process.isAlive();
    if (stopped) {
      process.destroyForcibly();
    } else {
      process.destroy();
    }
  }

  /** Sends SIGTERM and waits for the end. Returns the exit code: 143 if the signal ended it. */
  public int terminate() {
    ending |= process.isAlive();
    goOn();
    process.toHandle().destroy(); // the process itself would also close the child's input
    return awaitEnd();
  }

  /** Expects that another process ends the child: that is not reported. */
  public void expectEnd() {
    ending = true;
  }

  /** Sends SIGKILL and waits for the end: the child can do nothing about it. */
  public void kill() {
    ending |= process.isAlive();
    process.destroyForcibly();
    awaitEnd();
  }

  private int awaitEnd() {
    try {
      if (!process.waitFor(END_TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw new ChildFailure(name + " does not end within " + END_TIMEOUT_SECONDS + " s");
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
      throw new ChildFailure("interrupted while waiting for the end of " + name);
    }
    try {
      Runtime.getRuntime().removeShutdownHook(killer);
    } catch (IllegalStateException e) {
      // This process is ending too: the hook has run or will, and does no harm.
    }
    return process.exitValue();
  }

  /** Ends the child's input, which ends its command loop, and waits for the end. */
  @Override
  public void close() {
    ending |= process.isAlive();
    goOn();
    try {
      process.getOutputStream().close();
    } catch (IOException e) {
      if (process.isAlive()) {
        throw new UncheckedIOException(e);
      }
    }
    if (process.isAlive()) {
      awaitEnd();
    } else {
      awaitReport();
    }
  }

  /** Waits, so that the report comes before the caller's next output. */
  private void awaitReport() {
    try {
      reader.join(TimeUnit.SECONDS.toMillis(REST_TIMEOUT_SECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
