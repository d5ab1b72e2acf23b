package dev.ringfetch.index.replication;

import java.util.List;
import java.util.Random;

/** What goes wrong in a simulated cluster, as often as a seed says. */
final class ReplicationFaults {
  private final ReplicationWorld world;
  private final Coverage coverage;
  private final Random random;
  private final int kills;
  private final int pauses;
  private final int cuts;
  private final int ends;
  private final int sessions;

  ReplicationFaults(ReplicationWorld world, Coverage coverage) {
    this.world = world;
    this.coverage = coverage;
    random = world.time().random();
    kills = random.nextInt(4);
    pauses = random.nextInt(4);
    cuts = random.nextInt(4);
    ends = random.nextInt(4);
    sessions = random.nextInt(4);
    world.coordinator().loses = random.nextBoolean();
    world.network().damages = random.nextInt(3) == 0;
    world.storesFail(random.nextInt(3) == 0);
  }

  /** Lets the cluster work for so long, with faults. */
  void run(long ms) {
    final long endNs = world.time().nowNs() + ms * ReplicationWorld.MS;
    while (world.time().nowNs() < endNs) {
      world.time().run((long) (random.nextDouble() * 250 * ReplicationWorld.MS));
      world.checkErrors();
      act();
    }
  }

  private void act() {
    final List<Long> ids = List.copyOf(world.nodes().keySet());
    final SimulatedNode leader = world.leader();
    final long id =
        leader != null && random.nextInt(3) == 0
            ? leader.id()
            : ids.get(random.nextInt(ids.size()));
    final long other = ids.get(random.nextInt(ids.size()));
    final SimulatedNode node = world.nodes().get(id);
    final int choice = random.nextInt(20);
    if (choice < kills) {
      if (id != other && random.nextBoolean() && world.survives(id, other)) {
        world.network().memory().damage(world.nodes().get(other)); // by a leader that ends with it
      }
      if (node.isAlive() && world.survives(id)) {
        world.crash(id, random.nextInt(3) > 0, random.nextInt(2_000));
      }
    } else if (choice - 4 >= 0 && choice - 4 < pauses) {
      if (node.isAlive() && !node.isPaused()) {
        world.pause(id, 1 + random.nextInt(random.nextBoolean() ? 100 : 2_500));
      }
    } else if (choice - 8 >= 0 && choice - 8 < cuts && id != other) {
      cut(id, other);
    } else if (choice - 12 >= 0 && choice - 12 < ends && id != other) {
      coverage.count("ended connections");
      world.network().end(id, other, 0);
    } else if (choice - 16 >= 0 && choice - 16 < sessions && node.isAlive()) {
      coverage.count("lost sessions");
      node.session().connect(false);
      world
          .time()
          .after(random.nextInt(3_000) * ReplicationWorld.MS, () -> node.session().connect(true));
    }
  }

  private void cut(long one, long other) {
    coverage.count("cut links");
    final boolean both = random.nextBoolean();
    world.network().cut(one, other);
    if (both) {
      world.network().cut(other, one);
    }
    world
        .time()
        .after(
            random.nextInt(3_000) * ReplicationWorld.MS,
            () -> {
              world.network().heal(one, other);
              world.network().heal(other, one);
            });
  }
}
