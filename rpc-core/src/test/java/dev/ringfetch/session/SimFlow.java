package dev.ringfetch.session;

import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.unit.Unit;
import java.util.ArrayDeque;
import java.util.SplittableRandom;

/**
 * One end of a simulated stream, as a call uses it: writes what its script says, heeding whether
 * there is room or not, and reads, soon, late, or not at all for some time. It looks only when it
 * was told to, so that what is not told is missed. Reading and writing are two threads' at times.
 */
abstract class SimFlow {
  private static final int MAX_PAUSE_NS = 60_000;
  private static final int WINDOW_NS = 3_000_000;

  final SimProcess process;
  final Simulation simulation;
  final Stream stream;
  private final Session session;
  private final Flow flow;
  private final SimScript out;
  private final SimScript in;
  private final int maxInboundLength;
  private final ArrayDeque<Unit> taken = new ArrayDeque<>();
  private final boolean heedsRoom;
  private final boolean pauses;
  private long maxCost;
  private SimFlow peer; // null until both are there
  private int nextOut;
  private int nextIn;
  private boolean readNews = true;
  private boolean writeNews = true;
  private boolean reading;
  private boolean writing;
  private boolean looking;
  private boolean full;
  private boolean ended; // the last unit has come in
  private boolean over;
  private boolean stopped;
  private long pausedUntilNs;
  private long offered; // as windows count
  private long consumed;

  /**
   * One end.
   *
   * @param in what the other side sends, after its first unit if this is the server.
   * @param maxInboundLength longest unit that is kept.
   */
  SimFlow(
      SimProcess process,
      Session session,
      Stream stream,
      Flow flow,
      SimScript out,
      SimScript in,
      int maxInboundLength) {
    this.process = process;
    this.simulation = process.simulation;
    this.session = session;
    this.stream = stream;
    this.flow = flow;
    this.out = out;
    this.in = in;
    this.maxInboundLength = maxInboundLength;
    this.maxCost = in.maxCost();
    this.ended = in.units() == 0;
    final SplittableRandom random = simulation.timeline.random();
    this.heedsRoom = random.nextBoolean();
    this.pauses = random.nextInt(3) == 0;
  }

  /** True if this end may send its last unit. */
  abstract boolean mayEnd();

  /** Looks for an end that is told with the outbound half. */
  abstract void lookForEnd();

  /** What is no message ended the inbound half. True when that was in order. */
  abstract boolean isEnd(Unit unit);

  /** All has come in, and the stream has ended. */
  abstract void onOutcome(Outcome outcome);

  /** Both ends know each other: only to check one by the other. */
  final void meet(SimFlow other) {
    peer = other;
    other.peer = this;
  }

  /** The first unit was sent with the stream, or taken by the side that accepted it. */
  final void first(Unit unit, boolean own) {
    if (own) {
      offered += unit.cost();
    } else {
      maxCost = Math.max(maxCost, unit.cost());
      taken.add(unit);
    }
  }

  /** There is something new. */
  final void onFlow() {
    if (over || process.isDead()) {
      return;
    }
    readNews = true;
    writeNews = true;
    if (simulation.timeline.oneIn(3) && canGoOn(simulation.timeline.nowNs())) {
      step();
    }
  }

  /** No call of the application's for this stream follows. */
  final void over() {
    simulation.check(!over, "a stream ended twice");
    over = true;
    process.flows.remove(this);
  }

  final boolean isOver() {
    return over;
  }

  /** True when the last unit has come in. */
  final boolean hasEnded() {
    return ended;
  }

  /** True when all units were taken in. */
  final boolean hasAll() {
    return nextIn == in.units();
  }

  /** True when all units were handed over. */
  final boolean hasOffered() {
    return nextOut == out.units();
  }

  /** Reads nothing until told otherwise. */
  final void stop(boolean stop) {
    stopped = stop;
  }

  /** Reads nothing for some time. */
  final void pause() {
    pauseFor(simulation.timeline.random().nextInt(MAX_PAUSE_NS));
  }

  /** Reads nothing for so long that its peer fills a window, over any fabric. */
  final void pauseForWindow() {
    pauseFor(WINDOW_NS);
  }

  private void pauseFor(long ns) {
    pausedUntilNs = simulation.timeline.nowNs() + ns;
  }

  final Flow flow() {
    return flow;
  }

  /** Bytes that this end has read and not consumed, as windows count. */
  final long heldLength() {
    long length = 0;
    for (final Unit unit : taken) {
      length += unit.cost();
    }
    return length;
  }

  boolean canGoOn(long nowNs) {
    return !over && (canRead(nowNs) || canWrite());
  }

  /** When it reads again. */
  final long wakeNs() {
    return stopped || pausedUntilNs <= simulation.timeline.nowNs() ? Long.MAX_VALUE : pausedUntilNs;
  }

  private boolean canRead(long nowNs) {
    return !reading
        && !stopped
        && (pausedUntilNs <= nowNs || simulation.isQuiet())
        && (readNews || looking || !taken.isEmpty());
  }

  private boolean canWrite() {
    return !writing && (writeNews || (!full && hasNext()));
  }

  private boolean hasNext() {
    return nextOut < out.units() && (!out.isLast(nextOut) || mayEnd());
  }

  /** Reads or writes. */
  void step() {
    final boolean canRead = canRead(simulation.timeline.nowNs());
    if (canRead && (!canWrite() || simulation.timeline.random().nextBoolean())) {
      reading = true;
      read();
      reading = false;
    } else if (canWrite()) {
      writing = true;
      write();
      writing = false;
    }
    checkHeld();
  }

  private void write() {
    if (writeNews) {
      writeNews = false;
      if (flow.takeRoom()) {
        full = false;
      }
      lookForEnd();
    }
    for (int burst = simulation.timeline.random().nextInt(4); burst > 0; burst--) {
      if (full || !hasNext() || (over && !simulation.timeline.oneIn(4))) {
        return; // what is written after the end is without effect
      }
      final Unit unit =
          out.unit(nextOut, (buffer, bytes) -> simulation.marshal(session, buffer, bytes));
      nextOut++;
      offered += unit.cost();
      session.write(stream, unit);
      full = heedsRoom && !flow.isReady();
    }
  }

  private void read() {
    if (readNews) {
      readNews = false;
      looking = true;
    }
    if (!taken.isEmpty() && (!looking || simulation.timeline.oneIn(3))) {
      consume(taken.remove());
    } else if (looking) {
      final Outcome outcome = flow.outcome(); // first: what came before it is in line by then
      final Unit unit = flow.peek();
      if (unit != null) {
        flow.remove();
        take(unit);
      } else {
        looking = false;
        if (outcome != null) {
          onOutcome(outcome);
        }
      }
    }
  }

  private void take(Unit unit) {
    simulation.check(!ended, "a unit after the end: flags=" + unit.flags());
    if (isEnd(unit)) {
      ended = true;
      return;
    }
    final String difference = in.difference(nextIn, unit, maxInboundLength);
    simulation.check(difference == null, difference);
    ended = in.isLast(nextIn);
    nextIn++;
    if (simulation.timeline.random().nextBoolean()) {
      consume(unit);
    } else {
      taken.add(unit);
    }
    if (pauses && simulation.timeline.oneIn(6)) {
      pause();
    }
  }

  private void consume(Unit unit) {
    consumed += unit.cost();
    session.consumed(stream, unit);
  }

  /** A window and one message: what a side holds, and what the other has sent for it to hold. */
  private void checkHeld() {
    final long max = Flow.WINDOW_LENGTH + flow.grown() + maxCost;
    if (flow.heldLength() > max) {
      simulation.check(false, "a stream holds " + flow.heldLength());
    }
    if (peer != null) {
      final long sent = peer.offered - peer.flow.queuedLength();
      if (sent - consumed > max) {
        simulation.check(false, "a peer has sent too much: " + (sent - consumed));
      }
    }
  }

  /** True when this end writes, and the window is closed. */
  final boolean isHeldBack() {
    return !over && flow.isClosed() && !flow.isLoaded() && flow.queuedLength() > 0;
  }

  /** True when a unit is half in the ring. */
  final boolean isPartial() {
    return !over && flow.isLoaded() && stream.outboundBegun;
  }
}
