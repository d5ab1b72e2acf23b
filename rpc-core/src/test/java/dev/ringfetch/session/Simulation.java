package dev.ringfetch.session;

import dev.ringfetch.fabric.sim.SimContext.StoreOrder;
import dev.ringfetch.fabric.sim.SimNetwork;
import dev.ringfetch.fabric.sim.SimRegion;
import dev.ringfetch.fabric.sim.Timeline;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.session.bulk.MemoryQuota;
import dev.ringfetch.session.unit.SegmentOutput;
import dev.ringfetch.session.unit.UnitBuffer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;

/**
 * A server and its clients, each a process with several threads, in one thread and virtual time: a
 * seed determines which thread goes on next, where it loses the processor, what its peers see of
 * its stores, and which faults happen. Whatever happens, every call ends once and rightly, and
 * after the last fault everything comes to rest, with nothing lost.
 */
final class Simulation {
  private static final int MAX_DEPTH = 3; // of threads that lost the processor to another one
  private static final int CALLS_PER_FAULT = 60;
  private static final int FAULTS_PER_SEED = 17;
  private static final int HINT_WAIT_NS = 3_000;
  private static final int RESTART_NS = 50_000;
  private static final int PATIENCE = 6_000; // steps that a fault waits for its state
  private static final int CARDS_PATIENCE = 3 * PATIENCE;
  private static final int PROVOCATION_INTERVAL = 100; // steps

  final Timeline timeline;
  final SimSizes sizes;
  final SimNetwork network;
  final SessionContext context;
  final CallLedger ledger = new CallLedger(this);
  final List<SimClient> clients = new ArrayList<>();
  SimServer server;

  final FaultMatrix matrix;
  final SimKind kind;
  private final StoreOrder storeOrder;
  private final List<SimActor> actors = new ArrayList<>();
  private final List<SimActor> ready = new ArrayList<>();
  private FaultMatrix.Cell cell;
  private long cellSteps;
  private long nextCell;
  private long nextFaultAt;
  private long lastChannel;
  private int depth;
  private boolean quiet;
  private String failure;

  /** Sets up the processes. */
  Simulation(long seed, SimKind kind, StoreOrder order) {
    this(new Timeline(seed), null, kind, order);
  }

  /** As {@link #Simulation(long, SimKind, StoreOrder)}, with sizes that are not drawn. */
  Simulation(long seed, SimSizes sizes, SimKind kind, StoreOrder order) {
    this(new Timeline(seed), sizes, kind, order);
  }

  private final boolean drawn; // its sizes
  private MemoryQuota budget;

  private Simulation(Timeline timeline, SimSizes given, SimKind kind, StoreOrder order) {
    this.timeline = timeline;
    this.kind = kind;
    this.storeOrder = order;
    this.matrix = new FaultMatrix(kind.states());
    this.nextCell =
        timeline.seed() * FAULTS_PER_SEED; // so that seeds in a row strike in every cell
    this.drawn = given == null;
    this.sizes = drawn ? SimSizes.draw(timeline.random()) : given;
    this.network = new SimNetwork(timeline, kind.options(order).preemption(this::preempted));
    this.context =
        new SessionContext()
            .clock(timeline)
            .spinNs(sizes.spinNs())
            .replyPolicy(kind.mode)
            .replyTrialCalls(1)
            .hintWaitNs(HINT_WAIT_NS)
            .requestRingLength(sizes.ringLength())
            .responseRingLength(sizes.ringLength())
            .maxFrameLength(sizes.maxFrameLength())
            .maxStreams(sizes.maxStreams())
            .maxInboundLength(sizes.maxInboundLength())
            .maxHeldLength(sizes.maxHeldLength())
            .bulkThreshold(sizes.bulkThreshold())
            .bulkLength(sizes.bulkLength())
            .bulkSegmentLength(sizes.bulkSegmentLength());
    drawBudget();
    if (sizes.turnNs() > 0) {
      context.turnThreshold(1).turnGroup(1).turnLengthNs(sizes.turnNs());
    }
    add(new Machine());
    add(new StoreBuffers());
    server = new SimServer(this);
    for (int i = 0; i < sizes.clients(); i++) {
      clients.add(new SimClient(this, i));
    }
    drawNextFault();
  }

  /** Another thread, or what the machine does by itself, goes on from now on. */
  void add(SimActor actor) {
    actors.add(actor);
  }

  long nextChannel() {
    return ++lastChannel;
  }

  /** Adds a message to a unit, as calls do. */
  void marshal(Session session, UnitBuffer unit, byte[] message) {
    if (message.length > session.bulk().threshold()) {
      new SegmentOutput(unit, session.bulk(), message.length).write(message, 0, message.length);
    } else {
      unit.addBytes(message, 0, message.length);
    }
  }

  /** True while no new call is made and nothing goes wrong. */
  boolean isQuiet() {
    return quiet;
  }

  /** Fails the simulation unless something holds; also where exceptions do not come through. */
  void check(boolean holds, String otherwise) {
    if (!holds && failure == null) {
      failure = otherwise;
      timeline.note(otherwise, 0);
    }
  }

  /** Between honest peers no session ends because one broke the protocol. */
  void checkReason(String reason) {
    final boolean expected =
        switch (reason) {
          case "drained", "aborted", "the fabric broke" -> true;
          default -> reason.startsWith("the peer has ");
        };
    check(expected, "session ended: " + reason);
  }

  /**
   * Runs with faults until so many calls have ended, then without, so many times.
   *
   * @throws AssertionError that names the seed and the last steps, if something does not hold.
   */
  void rounds(int rounds, long calls) {
    final Thread thread = Thread.currentThread();
    final Thread.UncaughtExceptionHandler before = thread.getUncaughtExceptionHandler();
    thread.setUncaughtExceptionHandler((in, e) -> check(false, "a callback threw " + e));
    try {
      for (int round = 0; round < rounds; round++) {
        run(calls);
        quiesce();
      }
    } catch (RuntimeException | Error e) {
      throw new AssertionError(e.getMessage() + "; " + this + "\n" + timeline.lastSteps(), e);
    } finally {
      thread.setUncaughtExceptionHandler(before);
    }
  }

  private void run(long calls) {
    final long until = ledger.over() + calls;
    final long maxSteps = timeline.steps() + 10_000 + calls * 5_000;
    while (ledger.over() < until) {
      step();
      checkCredit();
      strike();
      if (timeline.steps() > maxSteps) {
        check(false, "calls do not end: over=" + ledger.over() + " of " + until);
      }
      throwFailure();
    }
  }

  /** Nobody is ever further ahead than the ring is long, nor behind what the other has consumed. */
  private void checkCredit() {
    final int slots = sizes.ringLength() / FrameDescriptor.SLOT_LENGTH;
    for (final SimClient client : clients) {
      for (final SimLink link : client.links()) {
        final ClientSession own = link.session();
        final ServerSession other = server.sessions.get(link.control.channel);
        if (own != null && other != null) {
          final long requests = own.writePosition() - other.pollPosition();
          final long responses = other.writePosition() - own.pollPosition();
          if (requests < 0 || requests > slots || responses < 0 || responses > slots) {
            check(false, "slots ahead: requests=" + requests + " responses=" + responses);
          }
        }
      }
    }
  }

  /** More than before when a frame was taken, or a call has ended; less when a session has. */
  long progress() {
    long sum = ledger.over();
    for (final SimClient client : clients) {
      for (final SimLink link : client.links()) {
        sum += link.session() == null ? 0 : link.session().pollPosition();
      }
    }
    for (final ServerSession session : server.sessions.values()) {
      sum += session.pollPosition();
    }
    return sum;
  }

  /** Lets one of those that can go on do one step. */
  void step() {
    timeline.pass(timeline.random().nextInt(60));
    final long nowNs = timeline.nowNs();
    ready.clear();
    long wakeNs = timeline.nextNs();
    for (int i = 0; i < actors.size(); i++) {
      final SimActor actor = actors.get(i);
      if (actor.canGoOn(nowNs)) {
        ready.add(actor);
      } else if (!actor.busy && actor.process != null && !actor.process.isDead()) {
        wakeNs = Math.min(wakeNs, Math.max(actor.wakeNs(), actor.process.stalledUntilNs()));
      }
    }
    if (!ready.isEmpty()) {
      step(ready.get(timeline.random().nextInt(ready.size())));
    } else if (depth == 0 && wakeNs != Long.MAX_VALUE) {
      timeline.passUntil(wakeNs);
    }
  }

  private void step(SimActor actor) {
    timeline.note(actor.name, ledger.over());
    actor.busy = true;
    try {
      actor.step();
    } finally {
      actor.busy = false;
    }
  }

  /** A thread has lost the processor in the midst of a step. */
  private void preempted() {
    if (depth < MAX_DEPTH) {
      depth++;
      try {
        for (int steps = 1 + timeline.random().nextInt(6); steps > 0; steps--) {
          step();
        }
      } finally {
        depth--;
      }
    }
  }

  private void strike() {
    if (ledger.over() < nextFaultAt) {
      return;
    }
    if (cell == null) {
      cell = matrix.cell(nextCell++);
      cellSteps = timeline.steps();
    } else if (timeline.oneIn(PROVOCATION_INTERVAL)) {
      cell.state().provoke(this, clients.get(timeline.random().nextInt(clients.size())));
    }
    for (final SimClient client : List.copyOf(clients)) {
      final var states = SimState.of(this, client);
      if (states.contains(cell.state())) {
        timeline.note(cell.toString(), 0);
        final SimLink link = client.linkIn(cell.state());
        if (cell.fault().strike(this, client, link)) {
          matrix.struck(cell.fault(), link == client.link() ? states : EnumSet.of(cell.state()));
          cell = null;
          drawNextFault();
        }
        return;
      }
    }
    if (timeline.steps() - cellSteps > (kind.hasCards() ? CARDS_PATIENCE : PATIENCE)) {
      cell = null; // these sizes may never come to that state
    }
  }

  private void drawNextFault() {
    nextFaultAt = ledger.over() + timeline.random().nextInt(2 * CALLS_PER_FAULT);
  }

  /** A server process has a budget of its own: of one message at a time, or as good as none. */
  private void drawBudget() {
    budget = new MemoryQuota(drawn && sizes.maxStreams() % 2 == 0 ? 1 : Long.MAX_VALUE);
    context.messageQuota(budget);
  }

  void kill(SimClient client, boolean keepStores) {
    client.fabric.kill(keepStores);
    client.links().forEach(link -> link.control.end());
    ledger.lost(client);
    actors.removeIf(actor -> actor.process == client);
    final int index = clients.indexOf(client);
    clients.set(index, new SimClient(this, index));
  }

  /** False when it is dead already. */
  boolean killServer(boolean keepStores) {
    final SimServer dead = server;
    if (dead.isDead()) {
      return false;
    }
    dead.fabric.kill(keepStores);
    List.copyOf(dead.controls).forEach(SimControl::end);
    actors.removeIf(actor -> actor.process == dead);
    timeline.after(
        timeline.random().nextInt(RESTART_NS),
        "server restarts",
        () -> {
          if (server == dead) {
            drawBudget();
            server = new SimServer(this);
          }
        });
    return true;
  }

  /** No new calls but a test's. */
  void makeNoCalls() {
    quiet = true;
  }

  /**
   * No more faults and no new calls: what is pending ends in time, nothing is lost, and sessions
   * work.
   */
  void quiesce() {
    quiet = true;
    for (final SimClient client : clients) {
      release(client);
    }
    release(server);
    new Rest(this).check();
    check(budget.reserved() == 0, "budget not given back: " + budget.reserved());
    ledger.forget();
    quiet = false;
    throwFailure();
  }

  private void release(SimProcess process) {
    process.stallUntil(0);
    process.fabric.holdRingsUntil(0);
    process.fabric.holdWritesUntil(0);
  }

  /** Throws what was found wrong. */
  void throwFailure() {
    check(network.violations().isEmpty(), network.violations().toString());
    if (failure != null) {
      throw new AssertionError(failure);
    }
  }

  /** Sessions that were opened, or tried to. */
  long sessions() {
    return lastChannel;
  }

  @Override
  public String toString() {
    return String.format(
        "seed=%d steps=%d calls=%d faults=%d trace=%016x fabric=%s storeOrder=%s %s",
        timeline.seed(),
        timeline.steps(),
        ledger.over(),
        matrix.faults(),
        timeline.trace(),
        kind,
        storeOrder,
        sizes);
  }

  /** Has happen what is due. */
  private final class Machine extends SimActor {
    Machine() {
      super("machine", null);
    }

    @Override
    boolean isReady(long nowNs) {
      return timeline.isDue();
    }

    @Override
    void step() {
      busy = false; // what happens may lose the processor, and something else happens meanwhile
      timeline.runNext();
      // Cards keep up with what is posted: they would be ever later otherwise, and everybody waits.
      while (kind.hasCards() && timeline.isDue() && !timeline.oneIn(8)) {
        timeline.runNext();
      }
    }
  }

  /** Makes stores visible, one at a time. */
  private final class StoreBuffers extends SimActor {
    private final List<SimRegion> full = new ArrayList<>();

    StoreBuffers() {
      super("store", null);
    }

    @Override
    boolean isReady(long nowNs) {
      for (int i = 0; i < network.regions().size(); i++) {
        if (network.regions().get(i).canDrain()) {
          return true;
        }
      }
      return false;
    }

    @Override
    void step() {
      full.clear();
      for (final SimRegion region : network.regions()) {
        if (region.canDrain()) {
          full.add(region);
        }
      }
      if (!full.isEmpty()) {
        final SimRegion region = full.get(timeline.random().nextInt(full.size()));
        for (int stores = 1 + timeline.random().nextInt(12); stores > 0; stores--) {
          region.drainOne();
        }
      }
    }
  }
}
