package dev.ringfetch.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A control group with half a core of processor time in each tenth of a second, for the processes
 * of a peer; of cgroup v2 or v1. Its processes have ended before it is closed.
 *
 * @param group its directory.
 */
record CpuQuota(Path group) implements AutoCloseable {
  private static final Path ROOT = Path.of("/sys/fs/cgroup");
  private static final String PERIOD_US = "100000";
  private static final String QUOTA_US = "50000";

  /**
   * Creates the group.
   *
   * @throws IOException where the system permits none.
   */
  static CpuQuota create() throws IOException {
    final boolean unified = Files.exists(ROOT.resolve("cgroup.controllers"));
    final Path parent = unified ? ROOT : ROOT.resolve("cpu");
    final CpuQuota quota =
        new CpuQuota(
            Files.createDirectory(parent.resolve("ringfetch-" + ProcessHandle.current().pid())));
    try {
      if (unified) {
        Files.writeString(quota.group.resolve("cpu.max"), QUOTA_US + " " + PERIOD_US);
      } else {
        Files.writeString(quota.group.resolve("cpu.cfs_period_us"), PERIOD_US);
        Files.writeString(quota.group.resolve("cpu.cfs_quota_us"), QUOTA_US);
      }
      return quota;
    } catch (IOException e) {
      quota.close();
      throw e;
    }
  }

  /** Moves both processes of a peer into the group. */
  void confine(PeerContender peer) throws IOException {
    for (final long pid : List.of(peer.client().pid(), peer.server().pid())) {
      Files.writeString(group.resolve("cgroup.procs"), Long.toString(pid));
    }
  }

  @Override
  public void close() throws IOException {
    Files.delete(group);
  }
}
