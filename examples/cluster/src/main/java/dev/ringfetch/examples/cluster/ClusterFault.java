package dev.ringfetch.examples.cluster;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/**
 * A fault of one process of a cluster: it is killed and started again, or stopped and goes on.
 *
 * @param role what the process was when the fault was drawn
 * @param kills whether it is killed; else it is stopped
 * @param delayMs time before the fault
 * @param downMs time until its end is begun
 */
record ClusterFault(Role role, ClusterProcess process, boolean kills, long delayMs, long downMs) {
  private static final int DELAY_MS = 300;
  private static final int DOWN_MS = 2_000;

  /** Longer than a session of the coordinator lasts without it. */
  private static final int LONG_MS = 8_000;

  /** What a process is to the index. */
  enum Role {
    LEADER,
    MEMBER,
    COORDINATOR
  }

  /**
   * Draws what fails next, at once or shortly after each other: one process, or two of different
   * roles. Of three members one is left in any case.
   *
   * @param leader address of the leader
   */
  static List<ClusterFault> draw(Random random, LocalCluster cluster, String leader)
      throws IOException {
    final List<Role> roles = new ArrayList<>(List.of(Role.values()));
    Collections.shuffle(roles, random);
    final List<ClusterProcess> nodes = new ArrayList<>(cluster.nodes());
    Collections.shuffle(nodes, random);
    final List<ClusterFault> drawn = new ArrayList<>();
    final int count = random.nextInt(4) == 0 ? 2 : 1;
    for (final Role role : roles.subList(0, count)) {
      final ClusterProcess process =
          role == Role.COORDINATOR
              ? cluster.find(LocalCluster.COORDINATOR)
              : nodes.stream()
                  .filter(node -> node.address().equals(leader) == (role == Role.LEADER))
                  .findFirst()
                  .orElse(null);
      final boolean kills = random.nextBoolean();
      final long delayMs = random.nextInt(DELAY_MS);
      final boolean isLong = role == Role.COORDINATOR && random.nextInt(4) == 0;
      final long downMs = isLong ? LONG_MS : random.nextInt(DOWN_MS);
      if (process != null) {
        drawn.add(new ClusterFault(role, process, kills, delayMs, downMs));
      }
    }
    return drawn;
  }

  /** Lets the process fail. */
  void begin() throws IOException {
    if (kills) {
      process.kill();
    } else {
      process.pauseProcess();
    }
  }

  /** Starts the process again, at its address, or lets it go on. */
  void end(LocalCluster cluster, LocalCluster.NodeOptions options) throws IOException {
    if (!kills) {
      process.resume();
    } else if (role == Role.COORDINATOR) {
      cluster.startCoordinator(process.port());
    } else {
      cluster.start(process.name(), process.port(), options);
    }
  }

  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "%s %s %s for %d ms",
        role.name().toLowerCase(Locale.ROOT),
        process.name(),
        kills ? "killed" : "stopped",
        downMs);
  }
}
