package dev.ringfetch.session;

import dev.ringfetch.session.ClientStream.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A client of a simulation: keeps a session open, has another one take its place now and then, and
 * has threads that call.
 */
final class SimClient extends SimProcess {
  static final String OUTGROWN = "outgrown";

  private static final int THREADS = 2;
  private static final int BACKOFF_NS = 30_000;
  private static final int REST_NS = 30_000;

  /** Calls that have not ended. */
  final List<SimCall> calls = new ArrayList<>();

  private final List<SimLink> outgrown = new ArrayList<>(); // whose sessions end after their calls
  private SimLink link; // whose session takes calls, or is being opened; null: neither
  private SimLink growing; // whose session is to take the place of that one, or null
  private long restUntilNs;

  SimClient(Simulation simulation, int index) {
    super(simulation);
    simulation.add(new PollerThread("client " + index + " poller"));
    for (int i = 0; i < THREADS; i++) {
      simulation.add(new Caller("client " + index + " caller"));
      simulation.add(new StreamThread("client " + index + " streams"));
    }
    openLater();
  }

  private void openLater() {
    simulation.timeline.after(
        1L + simulation.timeline.random().nextInt(BACKOFF_NS), "open", this::open);
  }

  private void open() {
    if (isDead() || link != null) {
      return;
    }
    if (simulation.server.isDead() || !isRunning(simulation.timeline.nowNs())) {
      openLater();
      return;
    }
    link = new SimLink(this);
    link.start();
  }

  /** Opens another session to take the place of the one that is open, unless one is to already. */
  void grow() {
    if (isDead() || !isOpen() || growing != null) {
      return;
    }
    if (!simulation.server.isDead() && isRunning(simulation.timeline.nowNs())) {
      growing = new SimLink(this);
      growing.start();
    }
  }

  /** A link's rings are too short. Those of its successor are as short here. */
  void onCrowded(SimLink crowded) {
    final SplittableRandom random = simulation.timeline.random();
    if (crowded == link && random.nextInt(4) == 0) {
      simulation.timeline.after(1L + random.nextInt(BACKOFF_NS), "grow", this::growUnlessQuiet);
    }
  }

  private void growUnlessQuiet() {
    if (!simulation.isQuiet()) {
      grow();
    }
  }

  /** A link's session is open. */
  void onOpened(SimLink opened) {
    if (opened == growing) {
      final SimLink before = link;
      outgrown.add(before);
      link = opened;
      growing = null;
      before.session().drain(OUTGROWN);
    }
  }

  /** A link has come to nothing, or its session has ended. */
  void onOver(SimLink over) {
    outgrown.remove(over);
    if (over == growing) {
      growing = null;
    } else if (over == link) {
      link = growing;
      growing = null;
      if (link == null) {
        openLater();
      }
    }
  }

  /** The session that takes calls, or null while there is none. */
  ClientSession session() {
    return link == null ? null : link.session();
  }

  /** The control stream of that session, or of one that is being opened; 0: there is none. */
  long channel() {
    return link == null ? 0 : link.control.channel;
  }

  /** True while another session is to take the place of one that takes calls. */
  boolean isGrowing() {
    return growing != null;
  }

  /** True while a session that another one has taken the place of has calls. */
  boolean hasOutgrown() {
    for (int i = 0; i < outgrown.size(); i++) {
      final ClientSession session = outgrown.get(i).session();
      if (session != null && session.mustArmToLeave()) {
        return true;
      }
    }
    return false;
  }

  /** True when the session of a link ends because another one has taken its place. */
  boolean isOutgrown(SimLink one) {
    return outgrown.contains(one);
  }

  /** The link that a fault is to strike in a state: any one where the state is of several. */
  SimLink linkIn(SimState state) {
    if (state != SimState.GROWING && state != SimState.OUTGROWN) {
      return link;
    }
    final List<SimLink> links = links();
    return links.get(simulation.timeline.random().nextInt(links.size()));
  }

  /** The link whose session takes calls, or is being opened; null: neither. */
  SimLink link() {
    return link;
  }

  /** What it has, of whatever kind. */
  List<SimLink> links() {
    final List<SimLink> links = new ArrayList<>(outgrown);
    if (link != null) {
      links.add(link);
    }
    if (growing != null) {
      links.add(growing);
    }
    return links;
  }

  /** Makes no new call for some time. */
  void rest() {
    restUntilNs = simulation.timeline.nowNs() + REST_NS;
  }

  /** Cancels a call, if there is one, but not a stream that a fault waits for. */
  void cancelOne() {
    if (!calls.isEmpty()) {
      final SimCall call = calls.get(simulation.timeline.random().nextInt(calls.size()));
      if (!(call instanceof SimStreamCall stream && stream.isKept())) {
        call.cancel();
      }
    }
  }

  /** True while calls are welcome. */
  boolean isOpen() {
    return session() != null && !session().isDraining() && !session().hasEnded();
  }

  private boolean isCalling() {
    return isOpen() && simulation.timeline.nowNs() >= restUntilNs;
  }

  private long drawTimeoutNs() {
    final SplittableRandom random = simulation.timeline.random();
    final boolean timed = simulation.sizes.deadlines() && random.nextInt(4) == 0;
    return timed ? random.nextInt(200_000) : Stream.NO_DEADLINE;
  }

  /**
   * Has a stream whose writer uses up its window, since its reader rests: the one that is there,
   * otherwise another one, if one can be.
   */
  void fillWindow(SimShape shape) {
    for (final SimCall call : calls) {
      if (call instanceof SimStreamCall stream
          && stream.isKept(shape)
          && call.session == session()) {
        stream.restReader();
        return;
      }
    }
    if (isCalling()) {
      final SimStreamCall begun = prepareStream(shape, Stream.NO_DEADLINE, false);
      if (begun != null) {
        begun.keep();
        begun.send(false);
      }
    }
  }

  /** Makes a call with a request that takes several reads, if one may be so long. */
  void callLong() {
    final int length =
        Math.min(8 * simulation.sizes.bulkSegmentLength(), simulation.sizes.maxInboundLength() / 2);
    final SimCall call =
        isCalling()
            ? prepare(simulation.ledger.newRequest(channel(), length), Stream.NO_DEADLINE)
            : null;
    if (call != null) {
      call.send(false);
    }
  }

  /** Opens a call, if there is a stream for it. */
  SimCall prepare(byte[] request, long timeoutNs) {
    final ClientSession session = session();
    final ClientStream stream = session.open();
    return stream == null ? null : new SimUnaryCall(this, session, stream, request, timeoutNs);
  }

  /**
   * Opens a stream, if there is one.
   *
   * @param stopped true: neither side reads before it is told to.
   */
  SimStreamCall prepareStream(SimShape shape, long timeoutNs, boolean stopped) {
    final ClientSession session = session();
    final ClientStream stream = session.open();
    return stream == null
        ? null
        : new SimStreamCall(
            this,
            session,
            stream,
            simulation.ledger.newRequest(channel()),
            timeoutNs,
            shape,
            stopped);
  }

  /** A thread of the application. */
  private final class Caller extends SimActor {
    private ClientSession held;

    Caller(String name) {
      super(name, SimClient.this);
    }

    @Override
    boolean isReady(long nowNs) {
      return held != null || (session() != null && !simulation.isQuiet());
    }

    @Override
    void step() {
      final SplittableRandom random = simulation.timeline.random();
      if (held != null) {
        leave();
        return;
      }
      switch (random.nextInt(10)) {
        case 0, 1, 2 -> call(false);
        case 4 -> call(true);
        case 7, 8 -> stream(SimShape.draw(random, simulation.sizes));
        case 5 -> {
          if (simulation.sizes.cancels()) {
            cancelOne();
          }
        }
        case 6 -> hold(random.nextBoolean());
        default -> {} // thinks
      }
    }

    private void call(boolean blocking) {
      if (isCalling()) {
        final byte[] request = simulation.ledger.newRequest(channel());
        start(prepare(request, drawTimeoutNs()), blocking);
      }
    }

    private void stream(SimShape shape) {
      if (isCalling()) {
        start(prepareStream(shape, drawTimeoutNs(), false), false);
      }
    }

    private void start(SimCall call, boolean blocking) {
      if (call != null) {
        call.send(blocking);
      }
    }

    /** Loses the processor while it owns the session. */
    private void hold(boolean poll) {
      final ClientSession session = session();
      if (session.driver.tryAcquire()) {
        held = session;
        if (poll) {
          session.driver.disarm();
        }
        session.work(poll);
      }
    }

    private void leave() {
      final ClientSession left = held;
      held = null;
      if (left.driver.leave()) {
        left.driver.drive();
      }
    }
  }

  /** Tells what became of a call that is over for this client. */
  void over(SimCall call, Outcome outcome) {
    calls.remove(call);
    simulation.ledger.over(call, outcome);
  }
}
