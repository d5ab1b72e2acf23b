package dev.ringfetch.mutants;

import dev.ringfetch.mutants.Verdict.Outcome;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A {@link Worker} in a JVM of its own, which ends with this one. */
final class Fork implements AutoCloseable {
  private static final int MAX_THREADS = 12;

  private final Process process;
  private final BufferedWriter in;
  private final BufferedReader out;
  private final Thread killer;
  private boolean spent;

  /**
   * Starts the JVM.
   *
   * @param flags of it.
   * @param classPath of it.
   * @param log that gets what the tests print.
   */
  Fork(List<String> flags, String classPath, Path log) throws IOException {
    final List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(flags);
    command.addAll(
        List.of(
            "-ea",
            "-Dringfetch.hunt=2", // what the default run has no time for
            "-Xmx768m",
            "-XX:+UseSerialGC",
            "-XX:+EnableDynamicAgentLoading",
            "-XX:+ExitOnOutOfMemoryError",
            "-cp",
            classPath,
            Worker.class.getName()));
    process =
        new ProcessBuilder(command)
            .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()))
            .start();
    killer = new Thread(this::kill, "end-worker");
    Runtime.getRuntime().addShutdownHook(killer);
    in =
        new BufferedWriter(
            new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
    out =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  /**
   * Runs a suite.
   *
   * @param folders that classes of ours are loaded from; empty for the class path.
   * @param limitNs of processor time.
   */
  Verdict run(Suite suite, List<Path> folders, long limitNs) throws IOException {
    final String loaded =
        String.join(File.pathSeparator, folders.stream().map(Path::toString).toList());
    String answer;
    try {
      in.write(suite.className() + "\t" + loaded + "\t" + limitNs + "\n");
      in.flush();
      answer = out.readLine();
    } catch (IOException e) { // its end of the pipe is gone
      answer = null;
    }
    if (answer == null || answer.startsWith("Terminating due to")) { // says HotSpot, out of memory
      spent = true;
      return new Verdict(Outcome.DIED, suite.simpleName(), "the JVM ended", 0, 0);
    }
    final Verdict verdict = Verdict.decode(answer);
    spent = verdict.outcome() == Outcome.TIMED_OUT || verdict.threads() > MAX_THREADS;
    return verdict;
  }

  /** True when nothing more should be run in it. */
  boolean isSpent() {
    return spent;
  }

  private void kill() {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }

  @Override
  public void close() throws IOException {
    Runtime.getRuntime().removeShutdownHook(killer);
    kill();
    try {
      process.waitFor(10, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
