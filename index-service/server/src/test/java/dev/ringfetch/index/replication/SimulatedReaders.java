package dev.ringfetch.index.replication;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.MemberGates;
import dev.ringfetch.index.linearizability.Answer;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.Member;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Clients that read a leader's entries without it, also while it is paused, and after it was
 * killed: each has a grant as long as it can, loads an entry, looks at all members' gates later,
 * and keeps what it has loaded if all are open. They send nothing, so worlds live as without them.
 */
final class SimulatedReaders {
  private final ReplicationWorld world;
  private final Coverage coverage;
  private final Random random;
  private boolean stopped;

  SimulatedReaders(ReplicationWorld world, long seed, Coverage coverage) {
    this.world = world;
    this.coverage = coverage;
    random = new Random(seed ^ 0x5DEE_CE66DL);
  }

  /** Starts some, which read until the end. */
  void start(int count) {
    for (int i = 0; i < count; i++) {
      new Reader().think();
    }
  }

  void stop() {
    stopped = true;
  }

  private long delayNs() {
    final int choice = random.nextInt(100);
    final long most =
        choice < 70 ? 400_000 : choice < 90 ? 5_000_000 : choice < 98 ? 120_000_000 : 1_500_000_000;
    return 1_000 + (long) (random.nextDouble() * most);
  }

  /** What a leader has granted. */
  private record Grant(SimulatedNode leader, int generation, MemberGates gates, long epoch) {}

  /** One client. */
  private final class Reader {
    private Grant grant; // null: none

    void think() {
      if (!stopped) {
        world.time().after((long) (random.nextDouble() * 4_000_000), this::begin);
      }
    }

    private void begin() {
      if (grant == null) {
        ask();
        think();
        return;
      }
      final int key = random.nextInt(ReplicationWorld.KEYS);
      final long invokedNs = world.time().nowNs();
      world.time().after(delayNs(), () -> load(key, invokedNs));
    }

    private void ask() {
      final List<SimulatedNode> granting = new ArrayList<>();
      for (final SimulatedNode node : world.nodes().values()) {
        if (node.isAlive()
            && !node.isPaused()
            && node.replica() != null
            && node.replica().status().readable() != null) {
          granting.add(node);
        }
      }
      if (!granting.isEmpty()) {
        final SimulatedNode leader = granting.get(random.nextInt(granting.size()));
        final Configuration configuration = leader.replica().status().readable();
        final int generation = leader.store().generation();
        final MemberGates gates = gates(configuration);
        coverage.count("grants");
        world // the client learns of it later
            .time()
            .after(
                delayNs(),
                () -> grant = new Grant(leader, generation, gates, configuration.getEpoch()));
      }
    }

    private MemberGates gates(Configuration configuration) {
      final List<MemberGates.Member> members = new ArrayList<>();
      for (final Member member : configuration.getMembersList()) {
        members.add(world.process(member).gates());
      }
      return new MemberGates(configuration.getEpoch(), members);
    }

    private void load(int key, long invokedNs) {
      final SimulatedNode leader = grant.leader;
      if (leader.isLost() || leader.store().generation() != grant.generation) {
        coverage.count("grants of memory that is gone");
        end();
        return;
      }
      if (!leader.isAlive()) {
        coverage.count("loads from killed leaders");
      } else if (leader.isPaused()) {
        coverage.count("loads from paused leaders");
      }
      final Entry entry = leader.store().read(ReplicationWorld.name(key));
      final MemberGates gates = grant.gates; // another grant may come meanwhile
      world.time().after(delayNs(), () -> look(key, entry, gates, invokedNs));
    }

    private void look(int key, Entry entry, MemberGates gates, long invokedNs) {
      if (!gates.areOpen()) {
        coverage.count("closed gates");
        end();
        return;
      }
      coverage.count("direct reads");
      final ByteString value = entry == null ? null : entry.getValue();
      world.read(
          key,
          value == null
              ? Answer.ABSENT
              : new Answer(true, entry.getVersion(), ReplicationWorld.number(value)),
          invokedNs);
      think();
    }

    private void end() {
      grant = null;
      think();
    }
  }
}
