package dev.ringfetch.examples.cluster;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.ProcessBuilder.Redirect;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A process of a cluster on this machine, as its files in the cluster's directory have it: {@code
 * NAME.process} with id and address, {@code NAME.log} with what it says. Other commands find it
 * again by them. A process counts as this one only while its command line names it, so a later
 * process with the same id is never taken for it.
 *
 * <p>Used by one thread at a time, and by one command at a time.
 */
public final class ClusterProcess {
  private static final String MARK = "-Dringfetch.cluster.process=";
  private static final int START_SECONDS = 60;
  private static final int END_SECONDS = 15;
  private static final int KILL_SECONDS = 10;
  private static final int POLL_MS = 20;
  private static final int MOST_SAID = 2_000; // characters of the log in a message

  /** The end of the name of a log. */
  static final String LOG = ".log";

  private static final String PID = "pid";
  private static final String ADDRESS = "address";

  /** What a process is in. */
  enum State {
    /** It goes on. */
    RUNS,
    /** A signal has stopped it. */
    PAUSED,
    /** There is no such process. */
    ENDED
  }

  private final Path directory;
  private final String name;
  private long pid;
  private String address; // empty: not known

  private ClusterProcess(Path directory, String name, long pid, String address) {
    this.directory = directory;
    this.name = name;
    this.pid = pid;
    this.address = address;
  }

  /** All processes that were started in a directory and not forgotten, by their names. */
  static List<ClusterProcess> all(Path directory) throws IOException {
    final List<ClusterProcess> found = new ArrayList<>();
    try (var files = Files.newDirectoryStream(directory, "*.process")) {
      for (final Path file : files) {
        final String name = file.getFileName().toString().replace(".process", "");
        final Properties properties = new Properties();
        try (InputStream in = Files.newInputStream(file)) {
          properties.load(in);
        }
        found.add(
            new ClusterProcess(
                directory,
                name,
                Long.parseLong(properties.getProperty(PID, "0")),
                properties.getProperty(ADDRESS, "")));
      }
    }
    found.sort((one, other) -> one.name.compareTo(other.name));
    return found;
  }

  /** All processes of this machine whose command lines name the directory, recorded or not. */
  static List<ProcessHandle> strays(Path directory) {
    final String mark = MARK + directory + "/";
    return ProcessHandle.allProcesses()
        .filter(process -> arguments(process).stream().anyMatch(each -> each.startsWith(mark)))
        .toList();
  }

  /**
   * The command line, of which the handle's own information has the begin alone; empty at its end.
   */
  private static List<String> arguments(ProcessHandle process) {
    try {
      return Arrays.asList(
          Files.readString(
                  Path.of("/proc", Long.toString(process.pid()), "cmdline"),
                  StandardCharsets.ISO_8859_1)
              .split("\0", -1));
    } catch (IOException e) { // it has ended, or is another user's
      return List.of("");
    }
  }

  /**
   * Starts a process, and does not wait until it is ready.
   *
   * @param bound whether it ends with this process
   * @param before words before its command, of a command that executes its arguments
   * @param flags of its JVM, beside those of this one
   * @param classPath of its JVM
   * @param arguments of {@link ClusterChild}
   */
  static ClusterProcess start(
      Path directory,
      String name,
      boolean bound,
      List<String> before,
      List<String> flags,
      String classPath,
      List<String> arguments)
      throws IOException {
    final List<String> command = new ArrayList<>(before);
    if (!bound && Files.isExecutable(Path.of("/usr/bin/setsid"))) {
      command.add("/usr/bin/setsid"); // no signal of this terminal reaches it; it keeps its id
    }
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add(MARK + directory + "/" + name);
    if (bound) {
      command.add("-D" + ClusterChild.PARENT + "=" + ProcessHandle.current().pid());
    }
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
    command.addAll(flags);
    command.addAll(List.of("-cp", classPath, ClusterChild.class.getName()));
    command.addAll(arguments);
    final ClusterProcess started = new ClusterProcess(directory, name, 0, "");
    Files.writeString(started.log(), ""); // of an earlier one of this name
    final Process process =
        new ProcessBuilder(command)
            .redirectInput(Redirect.from(Path.of("/dev/null").toFile()))
            .redirectErrorStream(true)
            .redirectOutput(Redirect.appendTo(started.log().toFile()))
            .start();
    started.pid = process.pid();
    started.save();
    return started;
  }

  private void save() throws IOException {
    final Properties properties = new Properties();
    properties.setProperty(PID, Long.toString(pid));
    properties.setProperty(ADDRESS, address);
    final Path file = directory.resolve(name + ".process");
    final Path next = directory.resolve(name + ".next");
    try (OutputStream out = Files.newOutputStream(next)) {
      properties.store(out, null);
    }
    Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
  }

  /**
   * Waits until the process has printed that it is ready.
   *
   * @param line what it prints then; the group of the pattern is appended to the prefix
   * @param prefix begin of its address
   */
  void awaitReady(Pattern line, String prefix) throws IOException {
    final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
    int missed = 0; // one that executes its program has no command line for a moment
    while (true) {
      missed = state() == State.ENDED ? missed + 1 : 0; // before the log is read
      final boolean ended = missed > 1;
      final Matcher matcher = line.matcher(said());
      if (matcher.find()) {
        address = prefix + matcher.group(1);
        save();
        return;
      }
      if (ended || System.nanoTime() - endNs > 0) {
        throw new ClusterFailure(
            name
                + (ended ? " has ended" : " is not ready within " + START_SECONDS + " s")
                + (lastSaid().isEmpty() ? ", and has said nothing" : ": " + lastSaid()));
      }
      pause();
    }
  }

  private static void pause() {
    try {
      Thread.sleep(POLL_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ClusterFailure("interrupted", e);
    }
  }

  /** Its log, in which any byte is legal. */
  private String said() throws IOException {
    return new String(Files.readAllBytes(log()), StandardCharsets.UTF_8);
  }

  /** The last of what it said. */
  String lastSaid() throws IOException {
    final String all = said().strip();
    return all.substring(Math.max(0, all.length() - MOST_SAID));
  }

  /** Its name, such as {@code node-1}: the same when it is started again. */
  public String name() {
    return name;
  }

  /** Id of the process. */
  public long pid() {
    return pid;
  }

  /** Host and port; empty before it was ready. */
  public String address() {
    return address;
  }

  /** The port of its address. */
  public int port() {
    return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
  }

  /** What it says. */
  Path log() {
    return directory.resolve(name + LOG);
  }

  private Optional<ProcessHandle> handle() {
    return ProcessHandle.of(pid)
        .filter(process -> arguments(process).contains(MARK + directory + "/" + name));
  }

  State state() {
    if (handle().isEmpty()) {
      return State.ENDED;
    }
    try {
      final String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
      final String state = stat.substring(stat.lastIndexOf(')') + 2);
      return state.startsWith("T") ? State.PAUSED : State.RUNS;
    } catch (IOException e) {
      return State.ENDED;
    }
  }

  boolean isAlive() {
    return handle().isPresent();
  }

  /** Sends SIGSTOP: nothing in it goes on until {@link #resume}. */
  void pauseProcess() throws IOException {
    signal("STOP");
  }

  /** Sends SIGCONT. */
  void resume() throws IOException {
    signal("CONT");
  }

  private void signal(String signal) throws IOException {
    if (!isAlive()) {
      throw new ClusterFailure(name + " does not run");
    }
    try {
      final int exit =
          new ProcessBuilder("kill", "-" + signal, Long.toString(pid))
              .inheritIO()
              .start()
              .waitFor();
      if (exit != 0 && isAlive()) {
        throw new ClusterFailure(name + " cannot be sent SIG" + signal + ": exit=" + exit);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ClusterFailure("interrupted", e);
    }
  }

  /** Sends SIGKILL and waits for the end. */
  public void kill() {
    handle().ifPresent(process -> kill(process, name));
  }

  /** Kills a process and waits for its end. */
  static void kill(ProcessHandle process, String name) {
    process.destroyForcibly();
    if (!awaitEnd(process, KILL_SECONDS)) {
      throw new ClusterFailure(name + ", process " + process.pid() + ", survives SIGKILL");
    }
  }

  /** Sends SIGTERM, if it runs; does not wait. */
  void requestEnd() throws IOException {
    if (state() == State.PAUSED) {
      resume();
    }
    handle().ifPresent(ProcessHandle::destroy);
  }

  /** Waits for the end that was requested; kills the process if that takes too long. */
  void awaitEnd() {
    handle()
        .ifPresent(
            process -> {
              if (!awaitEnd(process, END_SECONDS)) {
                System.err.println(
                    name + " does not end within " + END_SECONDS + " s: it is killed");
                kill(process, name);
              }
            });
  }

  private static boolean awaitEnd(ProcessHandle process, int seconds) {
    try {
      final var unused = process.onExit().get(seconds, TimeUnit.SECONDS);
      return true;
    } catch (TimeoutException e) {
      return arguments(process).equals(List.of("")); // a zombie: its parent does not ask for it
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ClusterFailure("interrupted", e);
    }
  }

  /** Removes its files but what it has said. */
  void forgetProcess() throws IOException {
    Files.deleteIfExists(directory.resolve(name + ".process"));
  }
}
