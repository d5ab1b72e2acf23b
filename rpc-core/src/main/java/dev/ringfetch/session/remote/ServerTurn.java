package dev.ringfetch.session.remote;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Tally;
import dev.ringfetch.ring.RingPoller;
import dev.ringfetch.session.carrier.CarrierParts;
import dev.ringfetch.session.carrier.CarrierSession;
import dev.ringfetch.session.owner.OwnedBy;
import org.agrona.concurrent.NanoClock;

/**
 * The server's side of a session in {@link TurnSchedule}: tells the client when to send.
 *
 * <p>A client that fetches is told anew before each of its turns. The card then has the
 * connection's state at hand by the outbound engine, which has nothing else to do for such clients,
 * and not by the inbound engine, which is busy with others' requests. Where answers are pushed it
 * is the other way round: the request brings it.
 */
@OwnedBy("session")
final class ServerTurn {
  private static final int REFRESH_PERIODS = 16;
  private static final int SPREAD = 64; // members of a group, over half a turn
  private static final int LEAD_NS = 4_000; // some times what a write takes

  private final CarrierSession session;
  private final TurnSchedule turns;
  private final ServerDelivery delivery;
  private final RingPoller ring;
  private final NanoClock clock;
  private final Tally tally;

  private final TurnSchedule.Seat seat = new TurnSchedule.Seat();

  private long seen; // position of the ring
  private boolean due; // the client is to be told
  private boolean told; // that it has turns
  private long toldNs; // when
  private long nextNs; // shortly before its next turn

  ServerTurn(CarrierParts parts, ServerDelivery delivery, TurnSchedule turns) {
    this.session = parts.session();
    this.turns = turns;
    this.delivery = delivery;
    this.ring = parts.rings().poller();
    this.clock = parts.clock();
    this.tally = parts.tally();
    this.seen = ring.position();
  }

  /** Frames came, or time has passed; each round. */
  void onRound() {
    final long position = ring.position();
    if (position != seen) {
      seen = position;
      if (turns.isNew(seat)) {
        use();
      }
    }
    if (seat.group() != TurnSchedule.NO_GROUP) {
      stay();
    }
    if (due) {
      tell(clock.nanoTime());
    }
  }

  private void use() {
    final boolean stays = seat.group() != TurnSchedule.NO_GROUP && !turns.isOld(seat);
    turns.use(seat, session.poller());
    if (seat.group() != TurnSchedule.NO_GROUP) {
      due |= !stays;
    } else {
      session.linger(0);
      due = told; // that it has none any more
    }
  }

  private void stay() {
    if (turns.isIdle(seat)) {
      seat.leave();
      session.linger(0);
      due = false; // it is told when it comes again, or forgets by itself
    } else {
      final long now = clock.nanoTime();
      if (now - nextNs >= 0) {
        nextNs += periodNs();
        due |= delivery.isFetched() || now - toldNs >= REFRESH_PERIODS * (long) periodNs();
      }
    }
  }

  private int periodNs() {
    return seat.groups() * turns.lengthNs();
  }

  private void tell(long nowNs) {
    final int lengthNs = turns.lengthNs();
    if (seat.group() == TurnSchedule.NO_GROUP) {
      told = !delivery.tellTurn(nowNs, 0, 0, 0);
      due = told;
      return;
    }
    final int periodNs = periodNs();
    final int beginNs =
        (int) Math.floorMod((long) seat.group() * lengthNs - nowNs, (long) periodNs);
    if (delivery.tellTurn(nowNs, beginNs, lengthNs, periodNs)) {
      told = true;
      due = false;
      session.linger(2L * periodNs);
      tally.add(Counter.SESSION_TURNS_TOLD, 1);
      toldNs = nowNs;
      nextNs = nowNs + warmUpNs(beginNs, periodNs);
    }
  }

  /** Until shortly before the next turn: one of the group after the other. */
  private long warmUpNs(int beginNs, int periodNs) {
    final long leadNs =
        LEAD_NS + (long) (seat.number() % SPREAD) * (turns.lengthNs() / (2 * SPREAD));
    return 1 + Math.floorMod(beginNs - leadNs - 1, (long) periodNs);
  }
}
