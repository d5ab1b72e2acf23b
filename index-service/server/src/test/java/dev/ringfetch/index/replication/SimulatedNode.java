package dev.ringfetch.index.replication;

import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.GateDescriptor;
import dev.ringfetch.fabric.GatePage;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.index.layout.GatesDescriptor;
import dev.ringfetch.index.layout.MemberGates;
import dev.ringfetch.index.log.GroupStore;
import dev.ringfetch.index.log.NodeRecovery;
import dev.ringfetch.index.v1.Node;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;

/** A process of a simulated node: it lives, is paused, or has ended for good. */
final class SimulatedNode {
  private static final int PLACE = 1;

  private final ReplicationWorld world;
  private final Node node;
  private final Map<Long, Node> wanted = new HashMap<>();
  private final ArrayDeque<Runnable> backlog = new ArrayDeque<>();
  private final SimulatedCoordinator.Session session;
  private final SimulatedDirectory directory;
  private final GatePage page; // stays with the directory
  private final MemoryRegion words = new DirectRegion(GatesDescriptor.LENGTH);
  private final SimulatedStops stops;
  private Replicas replicas;
  private HandOver handOver; // null: it goes on
  private boolean alive = true;
  private boolean paused;
  private boolean recovering;
  private boolean lost;
  private boolean due;
  private int steps;

  /**
   * Creates the process.
   *
   * @param directory with the node's journal; null: it has none
   * @param stops what earlier processes have left
   */
  SimulatedNode(
      ReplicationWorld world,
      Node node,
      SimulatedCoordinator.Session session,
      SimulatedDirectory directory,
      SimulatedStops stops) {
    this.stops = stops;
    this.world = world;
    this.node = node;
    this.directory = directory;
    this.session = session;
    page =
        directory == null
            ? GatePage.in(new DirectRegion(GateDescriptor.LENGTH))
            : directory.gatePage();
  }

  /** Begins to work. */
  void start() {
    page.move(node.getIncarnation()); // first: clients of an earlier process turn away
    stops.start();
    session.announce(node);
    session.wakeUp(this::alarm);
    final GroupStore.Factory stores = group -> new SimulatedStore(world, this, group.getGroup());
    replicas =
        new Replicas(
            new NodeContext()
                .self(node)
                .coordinator(session)
                .peers(world.network().of(this))
                .stores(stores)
                .disks(directory == null ? null : group -> directory.open(this::run))
                .gates(group -> new Gate())
                .stops(stops)
                .background(this::onDisk)
                .clock(world.time()::nowNs)
                .nonces(() -> world.time().random().nextLong() | 1)
                .alarm(this::alarm)
                .logLimits(world.logLimit(), 10 * world.logLimit())
                .logMemory(world.logMemory())
                .errors(world::onError));
    if (directory != null) {
      recovering = true;
      final NodeRecovery recovery = directory.recover(stores, world.logLimit());
      recovering = false;
      recovery.takeGroups().forEach(replicas::recover);
    }
    recovering = true;
    stops.recover(stores, world.logLimit(), replicas::recover);
    recovering = false;
    step();
  }

  /** Works, and rests until the replicas ask for more. */
  private void step() {
    replicas.work();
    final long untilNs = replicas.rest() + world.time().random().nextInt(3_000_000);
    final int step = ++steps;
    world
        .time()
        .at(
            untilNs,
            () ->
                run(
                    () -> {
                      if (step == steps) {
                        step();
                      }
                    }));
  }

  private void alarm() {
    if (!due) {
      due = true;
      world
          .time()
          .after(
              10_000,
              () ->
                  run(
                      () -> {
                        due = false;
                        step();
                      }));
    }
  }

  /** Carries a task out after the time of a disk. */
  private void onDisk(Runnable task) {
    final int slowNs = stops.damages.isEmpty() ? 20_000_000 : 2_000_000_000;
    final int delayNs = world.time().random().nextInt(world.time().oneIn(2) ? slowNs : 200_000);
    world.time().after(delayNs, () -> run(task));
  }

  /** Begins to end in order; the process itself ends later. */
  void stop(Runnable ended) {
    if (handOver == null) {
      handOver = new HandOver(replicas, world.time()::nowNs);
      stepHandOver(ended);
    }
  }

  private void stepHandOver(Runnable ended) {
    run(
        () -> {
          if (!handOver.isDone()) {
            world.time().after(1_000_000, () -> stepHandOver(ended));
            return;
          }
          handOver.end();
          final boolean isSlow = world.time().oneIn(2); // the disk is
          final var begun = new OrderlyStop(replicas, stops, () -> {}, world::onStopFailed);
          stepStop(begun, isSlow, ended);
        });
  }

  private void stepStop(OrderlyStop begun, boolean isSlow, Runnable ended) {
    final int delayNs = world.time().random().nextInt(isSlow ? 20_000_000 : 200_000);
    world
        .time()
        .after(
            delayNs,
            () ->
                run(
                    () -> {
                      if (begun.isDone()) {
                        ended.run();
                      } else {
                        begun.work();
                        stepStop(begun, isSlow, ended);
                      }
                    }));
  }

  /** Whether it ends in order. */
  boolean isStopping() {
    return handOver != null;
  }

  /** What earlier processes have left. */
  SimulatedStops stops() {
    return stops;
  }

  /** Runs something in the process, now or when it goes on; not if it has ended. */
  void run(Runnable action) {
    if (alive && paused) {
      backlog.add(action);
    } else if (alive) {
      action.run();
    }
  }

  void pause() {
    paused = true;
  }

  void resume() {
    paused = false;
    while (!backlog.isEmpty() && alive && !paused) {
      backlog.poll().run();
    }
  }

  /**
   * The process ends at once.
   *
   * @param isLost whether its memory goes with it, as the host's
   */
  void end(boolean isLost) {
    alive = false;
    lost = isLost;
    backlog.clear();
    if (directory != null) {
      directory.end();
    }
  }

  /** Takes a snapshot of its directory, if it lives. */
  void snapshot() {
    run(() -> directory.snapshot(new ReplicaSnapshots(replicas, () -> {}, () -> {})));
  }

  /** Its directory; null if it has none. */
  SimulatedDirectory directory() {
    return directory;
  }

  /** Whether its memory is gone. */
  boolean isLost() {
    return lost;
  }

  /** The gates at which clients look, also when the process has ended. */
  MemberGates.Member gates() {
    return new MemberGates.Member(page.region(), node.getIncarnation(), words, PLACE);
  }

  /** The gate of the group. */
  private final class Gate implements GroupGate {
    private long last;

    @Override
    public void move(long epoch) {
      last = epoch;
      words.putLong(GatesDescriptor.word(PLACE), epoch);
    }

    @Override
    public void end() {
      words.putLong(GatesDescriptor.word(PLACE), -last);
    }
  }

  long id() {
    return node.getId();
  }

  Node node() {
    return node;
  }

  boolean isAlive() {
    return alive;
  }

  /** Whether it reads its directory. */
  boolean isRecovering() {
    return recovering;
  }

  boolean isPaused() {
    return paused;
  }

  /** The nodes to which it wants connections. */
  Map<Long, Node> wanted() {
    return wanted;
  }

  Replicas replicas() {
    return replicas;
  }

  SimulatedCoordinator.Session session() {
    return session;
  }

  Replica replica() {
    return replica(world.group());
  }

  /** The replica of one of several groups. */
  Replica replica(long group) {
    return replicas.find(group);
  }

  SimulatedStore store() {
    return store(world.group());
  }

  SimulatedStore store(long group) {
    return replica(group) == null ? null : (SimulatedStore) replica(group).store();
  }
}
