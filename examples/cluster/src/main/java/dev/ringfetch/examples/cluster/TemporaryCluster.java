package dev.ringfetch.examples.cluster;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A cluster in a directory of its own, which ends with the command that uses it: when that closes
 * it, or is ended by a signal. Nothing of it is left then but logs, if the command has failed. Safe
 * for use by two threads, as the signal's is one.
 */
public final class TemporaryCluster implements AutoCloseable {
  private final LocalCluster cluster;
  private final Thread hook = new Thread(this::end, "end-of-cluster");

  @GuardedBy("this")
  private boolean ended;

  /** The work of a command. */
  @FunctionalInterface
  public interface Work {
    /** Does it; returns whether all was as it has to be. */
    boolean run(LocalCluster cluster) throws IOException, InterruptedException;
  }

  private TemporaryCluster(LocalCluster cluster) {
    this.cluster = cluster;
  }

  /**
   * Creates the directory; nothing runs yet.
   *
   * @param command that uses it
   */
  public static TemporaryCluster open(String command) throws IOException {
    final TemporaryCluster opened =
        new TemporaryCluster(
            LocalCluster.open(
                Files.createTempDirectory("ringfetch-cluster-" + command + "-"), true));
    Runtime.getRuntime().addShutdownHook(opened.hook);
    return opened;
  }

  /** The cluster. */
  public LocalCluster cluster() {
    return cluster;
  }

  /** Does the work of a command; where that fails, keeps what the processes have said. */
  public boolean run(Work work) throws IOException, InterruptedException {
    boolean isRight = false;
    try {
      isRight = work.run(cluster);
    } finally {
      if (!isRight) {
        keepLogs();
      }
    }
    return isRight;
  }

  private synchronized void keepLogs() {
    if (ended) { // by a signal
      return;
    }
    try {
      final Path folder = Files.createTempDirectory("ringfetch-cluster-logs-");
      cluster.copyLogs(folder);
      System.err.println("cluster: what the processes have said is in " + folder);
    } catch (IOException e) {
      System.err.println("cluster: what the processes have said is not kept: " + e.getMessage());
    }
  }

  private synchronized void end() {
    if (ended) {
      return;
    }
    ended = true;
    try {
      cluster.down();
      cluster.delete();
      cluster.close();
    } catch (IOException | ClusterFailure e) {
      System.err.println("cluster: not all is cleaned up: " + e.getMessage());
    } finally {
      if (cluster.networks() != null) {
        cluster.networks().close();
      }
    }
  }

  @Override
  public void close() {
    end();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // It runs: by a signal.
    }
  }
}
