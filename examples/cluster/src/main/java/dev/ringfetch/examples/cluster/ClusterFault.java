package dev.ringfetch.examples.cluster;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/**
 * A fault of one process of a cluster: it is killed and started again, or stopped and goes on, or
 * its network is cut.
 *
 * @param role what the process was when the fault was drawn
 * @param delayMs time before the fault
 * @param downMs time until its end is begun
 */
record ClusterFault(Role role, ClusterProcess process, Kind kind, long delayMs, long downMs) {
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

  /** What happens to a process. */
  enum Kind {
    KILLED("killed"),
    STOPPED("stopped"),
    CUT_OFF("cut off"),
    KEPT_APART("kept apart");

    private final String words;

    Kind(String words) {
      this.words = words;
    }
  }

  /**
   * Draws what fails next, at once or shortly after each other: one process, or two of different
   * roles. Of three members one is left in any case.
   *
   * @param leader address of the leader
   */
  static List<ClusterFault> draw(Random random, LocalCluster cluster, String leader)
      throws IOException {
    final List<ClusterProcess> nodes = new ArrayList<>(cluster.nodes());
    Collections.shuffle(nodes, random);
    if (cluster.networks() != null && random.nextInt(4) == 0) {
      return apart(random, nodes, leader);
    }
    final List<Role> roles = new ArrayList<>(List.of(Role.values()));
    Collections.shuffle(roles, random);
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
      final Kind kind = kind(random, role != Role.COORDINATOR && cluster.networks() != null);
      final long delayMs = random.nextInt(DELAY_MS);
      final boolean isLong =
          (role == Role.COORDINATOR || kind == Kind.CUT_OFF) && random.nextInt(4) == 0;
      final long downMs = isLong ? LONG_MS : random.nextInt(DOWN_MS);
      if (process != null) {
        drawn.add(new ClusterFault(role, process, kind, delayMs, downMs));
      }
    }
    return drawn;
  }

  private static Kind kind(Random random, boolean cuts) {
    if (cuts && random.nextBoolean()) {
      return Kind.CUT_OFF;
    }
    return random.nextBoolean() ? Kind.KILLED : Kind.STOPPED;
  }

  /** Leader and member, or two members, that do not reach each other, but all the rest. */
  private static List<ClusterFault> apart(
      Random random, List<ClusterProcess> nodes, String leader) {
    final long downMs = random.nextInt(2 * DOWN_MS);
    return nodes.stream()
        .limit(2)
        .map(
            node ->
                new ClusterFault(
                    node.address().equals(leader) ? Role.LEADER : Role.MEMBER,
                    node,
                    Kind.KEPT_APART,
                    0,
                    downMs))
        .toList();
  }

  /** Lets the process fail. */
  void begin(LocalCluster cluster) throws IOException {
    switch (kind) {
      case KILLED -> process.kill();
      case STOPPED -> process.pauseProcess();
      case CUT_OFF -> cluster.networks().cut(process.name(), true);
      case KEPT_APART -> cluster.networks().keepApart(process.name(), true);
    }
  }

  /** Starts the process again, at its address, or lets it go on. */
  void end(LocalCluster cluster, LocalCluster.NodeOptions options) throws IOException {
    switch (kind) {
      case KILLED -> {
        if (role == Role.COORDINATOR) {
          cluster.startCoordinator(process.port());
        } else {
          cluster.start(process.name(), process.port(), options);
        }
      }
      case STOPPED -> process.resume();
      case CUT_OFF -> cluster.networks().cut(process.name(), false);
      case KEPT_APART -> cluster.networks().keepApart(process.name(), false);
    }
  }

  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "%s %s %s for %d ms",
        role.name().toLowerCase(Locale.ROOT),
        process.name(),
        kind.words,
        downMs);
  }
}
