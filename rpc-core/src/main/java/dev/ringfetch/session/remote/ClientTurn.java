package dev.ringfetch.session.remote;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Tally;
import dev.ringfetch.ring.ControlFlyweight;
import dev.ringfetch.session.carrier.CarrierParts;
import dev.ringfetch.session.carrier.CarrierSession;
import dev.ringfetch.session.carrier.SendingTurn;
import dev.ringfetch.session.owner.OwnedBy;
import dev.ringfetch.session.poller.Dated;
import org.agrona.concurrent.NanoClock;

/**
 * The client's side of {@link TurnSchedule}: decides when to send, as its server has told. It is
 * advice: a missing or old message does not count, and output waits no longer than from turn to
 * turn.
 *
 * <p>Times are of the server's clock. The offset to this side's clock is the minimum of the times
 * between the writing of a line and the look at it: so lines that came late, or were seen late, do
 * not move the turn.
 */
@OwnedBy("session")
public final class ClientTurn implements SendingTurn {
  /** Longest time from turn to turn, in nanoseconds: others are not heeded. */
  public static final int MAX_PERIOD_NS = 100_000_000;

  private static final int LIFETIME = 64; // periods
  private static final int DRIFT_SHIFT = 10; // clocks go apart by less than one 1024th

  private final CarrierSession session;
  private final ControlFlyweight line;
  private final NanoClock clock;
  private final Tally tally;

  private long stamp;
  private boolean heard; // ever
  private long heardNs;
  private long offsetNs; // this side's clock less the server's, and the way
  private long originNs; // when one of the turns begins
  private long lengthNs;
  private long periodNs; // 0: at any time

  private boolean holding;
  private boolean watched; // the poller stays until nothing is held
  private long sinceNs;
  private long untilNs;

  /** Creates the turn of a client, read from the line that the server writes. */
  ClientTurn(CarrierParts parts) {
    this.session = parts.session();
    this.line = parts.rings().peerControl();
    this.clock = parts.clock();
    this.tally = parts.tally();
  }

  /** Looks whether the server has told something new; each round. */
  void look() {
    final long told = line.turnStamp();
    if (told != stamp) {
      hear(told);
    }
  }

  private void hear(long told) {
    final int begin = line.turnBegin();
    final int length = line.turnLength();
    final int period = line.turnPeriod();
    if (!line.isTurn(told, begin, length, period)) {
      return; // the rest comes
    }
    stamp = told;
    periodNs = 0;
    if (period > 0 && period <= MAX_PERIOD_NS && length > 0 && length <= period) {
      final long now = clock.nanoTime();
      final long seen = now - told;
      final long aged = offsetNs + ((now - heardNs) >> DRIFT_SHIFT);
      offsetNs = heard && aged - seen < 0 ? aged : seen;
      heard = true;
      heardNs = now;
      originNs = told + offsetNs + begin;
      lengthNs = length;
      periodNs = period;
    }
  }

  /** Time until the next turn, in nanoseconds; 0 in a turn. */
  private long waitNs(long now) {
    if (now - heardNs > LIFETIME * periodNs) {
      periodNs = 0;
    }
    if (periodNs == 0) {
      return 0;
    }
    final long phase = Math.floorMod(now - originNs, periodNs);
    return phase < lengthNs ? 0 : periodNs - phase;
  }

  @Override
  public boolean holds(boolean empty) {
    if (empty || periodNs == 0 || !isToWait(session.earliestDeadlineNs())) {
      holdNothing();
      return false;
    }
    return true;
  }

  /**
   * Whether what there is to send should wait for a turn. Not where the session's earliest deadline
   * may pass before it is answered then.
   */
  private boolean isToWait(long earliestDeadlineNs) {
    final long now = clock.nanoTime();
    final long waitNs = waitNs(now);
    final boolean late = isLate(earliestDeadlineNs, now, waitNs);
    if (waitNs == 0 || late || (holding && now - untilNs >= 0)) { // it was woken too late
      tally.add(Counter.SESSION_TURNS_SKIPPED, waitNs == 0 ? 0 : 1);
      return false;
    }
    if (!holding) {
      holding = true;
      sinceNs = now;
      untilNs = now + waitNs;
    }
    untilNs = Math.min(untilNs, now + waitNs);
    return true;
  }

  /** Nothing waits, or nothing any more. */
  private void holdNothing() {
    if (holding) {
      holding = false;
      watched = false;
      tally.add(Counter.SESSION_TURNS_WAITED, clock.nanoTime() - sinceNs);
    }
  }

  private boolean isLate(long earliestDeadlineNs, long now, long waitNs) {
    return earliestDeadlineNs != Dated.NO_DEADLINE && earliestDeadlineNs - now <= waitNs + periodNs;
  }

  @Override
  public boolean isHolding() {
    return holding;
  }

  @Override
  public long heldUntilNs() {
    return untilNs;
  }

  @Override
  public boolean isWatched() {
    return watched;
  }

  @Override
  public void watched(boolean stays) {
    watched = stays && holding;
  }

  /** Whether answers may be read: in a turn, and for a while behind it. */
  boolean mayRead(long earliestDeadlineNs) {
    if (periodNs == 0) {
      return true;
    }
    final long now = clock.nanoTime();
    final long waitNs = waitNs(now);
    return waitNs == 0
        || waitNs > periodNs - lengthNs - lengthNs / 2
        || isLate(earliestDeadlineNs, now, waitNs);
  }
}
