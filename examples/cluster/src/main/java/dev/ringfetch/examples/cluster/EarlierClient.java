package dev.ringfetch.examples.cluster;

import dev.ringfetch.index.client.IndexClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * A process that loads an index of its own by the client of an earlier version: a {@link Workload}
 * of this program, with the earlier version's jars and no other class of this version.
 *
 * <p>It loads until its input has the addresses with which it is to verify, or ends.
 */
final class EarlierClient implements AutoCloseable {
  /** Kept: a logger's level is forgotten with it. */
  private static final Logger CHANNELS = Logger.getLogger("dev.ringfetch.rpc");

  private static final String INDEX = "earlier";
  private static final String BEGUN = "begun";
  private static final String RIGHT = "right ";
  private static final int ANSWER_SECONDS = 90; // longer than an operation and a look at all keys

  private final Process process;
  private final BufferedReader said;

  private EarlierClient(Process process) {
    this.process = process;
    said = process.inputReader(StandardCharsets.UTF_8);
  }

  /** The program of the process; its arguments are addresses of nodes and a seed. */
  public static void main(String[] arguments) throws IOException, InterruptedException {
    CHANNELS.setLevel(Level.WARNING); // the end of each ring to a node that ends is expected here
    final BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try (Workload workload =
        new Workload(INDEX, arguments[0], 1, 1, 1, Long.parseLong(arguments[1]))) {
      workload.start();
      System.out.println(BEGUN);
      final String target = in.readLine();
      workload.stop();
      if (target == null) { // the parent has ended
        return;
      }
      try (IndexClient fresh = Workload.client(target)) {
        final Workload.Verdict verdict = workload.verify(fresh);
        System.out.println(
            (workload.isRight(verdict) ? RIGHT : "wrong ") + workload.counts(verdict));
      }
    }
  }

  /**
   * Starts the process, and waits until it loads.
   *
   * @param target addresses of nodes, with commas between
   */
  static EarlierClient start(String classPath, String target, long seed) throws IOException {
    final EarlierClient started =
        new EarlierClient(
            new ProcessBuilder(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-Xmx256m",
                    "-cp",
                    classPath,
                    EarlierClient.class.getName(),
                    target,
                    Long.toString(seed))
                .redirectError(Redirect.INHERIT)
                .start());
    if (!started.answer().equals(BEGUN)) {
      started.close();
      throw new ClusterFailure("the earlier client has not begun");
    }
    return started;
  }

  /** The next line of the process; empty if it has ended, or says nothing for too long. */
  private String answer() throws IOException {
    final CompletableFuture<Void> limit =
        CompletableFuture.runAsync(
            process::destroyForcibly,
            CompletableFuture.delayedExecutor(ANSWER_SECONDS, TimeUnit.SECONDS));
    final String line = said.readLine();
    limit.cancel(false);
    return line == null ? "" : line;
  }

  /**
   * Ends the load.
   *
   * @param target addresses of the nodes now
   * @return whether all that it has written is there, and it has found all as it has to be
   */
  boolean verify(String target) throws IOException {
    final PrintStream in = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
    in.println(target);
    final String verdict = answer();
    System.out.println("EARLIER " + verdict);
    return verdict.startsWith(RIGHT);
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
