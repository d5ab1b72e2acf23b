package dev.ringfetch.index.replication;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.MemberGates;
import dev.ringfetch.index.layout.PostedGates;
import dev.ringfetch.index.linearizability.Answer;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.Member;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Clients that read a leader's entries without it, also while it is paused, and after it was
 * killed: each has a grant as long as it can, loads an entry, looks at all members' gates, and
 * keeps what it has loaded if all are open. Mapped gates are looked at later than the entry, and
 * all at once; others by READs that are under way from the begin of the read on, and that take each
 * word at a moment of its own. They send nothing, so worlds live as without them.
 */
final class SimulatedReaders {
  /** How long a look by READs may take, and how often its completion is looked for. */
  private static final long LOOK_LIMIT_NS = 400_000_000;

  private static final long POLL_NS = 20_000;

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
  private record Grant(SimulatedNode leader, int generation, Gates gates, long epoch) {}

  /** The looks at the members' gates: at mapped ones, and by READs; null where there are none. */
  private record Gates(MemberGates mapped, PostedGates posted) {
    private void begin() {
      if (posted != null) {
        posted.post();
      }
    }

    private boolean areOpen() {
      return (mapped == null || mapped.areOpen()) && (posted == null || posted.wereOpen());
    }
  }

  /** One client. */
  private final class Reader {
    private Grant grant; // null: none

    void think() {
      if (!stopped) {
        final long most = random.nextInt(20) == 0 ? 500_000_000 : 4_000_000;
        world.time().after((long) (random.nextDouble() * most), this::begin);
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
      final Grant present = grant; // another one may come meanwhile
      present.gates.begin();
      world.time().after(delayNs(), () -> load(present, key, invokedNs));
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
        final Gates gates = gates(configuration);
        coverage.count("grants");
        world // the client learns of it later
            .time()
            .after(
                delayNs(),
                () -> grant = new Grant(leader, generation, gates, configuration.getEpoch()));
      }
    }

    /** Maps the gates of all members, of none, or of some. */
    private Gates gates(Configuration configuration) {
      final int mapped = random.nextInt(4); // 3: all, 2: each by chance, else none
      final List<MemberGates.Member> near = new ArrayList<>();
      final List<PostedGates.Member> far = new ArrayList<>();
      for (final Member member : configuration.getMembersList()) {
        final SimulatedNode process = world.process(member);
        if (mapped == 3 || (mapped == 2 && random.nextBoolean())) {
          near.add(process.gates());
        } else {
          far.add(
              new SimulatedGates(
                      process, world.time(), random, SimulatedReaders.this::delayNs, coverage)
                  .member());
        }
      }
      final long epoch = configuration.getEpoch();
      return new Gates(
          near.isEmpty() ? null : new MemberGates(epoch, near),
          far.isEmpty() ? null : new PostedGates(epoch, far));
    }

    private void load(Grant present, int key, long invokedNs) {
      final SimulatedNode leader = present.leader;
      if (leader.isLost() || leader.store().generation() != present.generation) {
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
      final Gates gates = present.gates;
      if (gates.posted == null) {
        world.time().after(delayNs(), () -> look(key, entry, gates, invokedNs));
      } else {
        await(gates, world.time().nowNs(), () -> look(key, entry, gates, invokedNs));
      }
    }

    /** Waits for the READs of a look, as long as it may take. */
    private void await(Gates gates, long fromNs, Runnable next) {
      if (!gates.posted.isLooking()) {
        next.run();
        return;
      }
      if (world.time().nowNs() - fromNs > LOOK_LIMIT_NS) {
        coverage.count("looks that are given up");
        gates.posted.giveUp();
      }
      world.time().after(POLL_NS, () -> await(gates, fromNs, next));
    }

    private void look(int key, Entry entry, Gates gates, long invokedNs) {
      if (!gates.areOpen()) {
        coverage.count("closed gates");
        end();
        return;
      }
      coverage.count(gates.posted == null ? "direct reads" : "direct reads with posted looks");
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
