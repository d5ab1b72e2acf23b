package dev.ringfetch.session.remote;

import dev.ringfetch.ring.ProcessTime;
import dev.ringfetch.session.carrier.Carrier;
import dev.ringfetch.session.carrier.CarrierParts;
import dev.ringfetch.session.carrier.PollingInbox;
import dev.ringfetch.session.poller.Timetable;
import org.agrona.concurrent.NanoClock;
import org.jspecify.annotations.Nullable;

/**
 * The carrier of a server without common memory with its client: pushes answers, or leaves them for
 * the client to read, tells how long each call took, and tells the client when to send.
 */
final class PushingCarrier extends Carrier {
  private final NanoClock clock;
  private final @Nullable TurnSchedule schedule; // null: clients send at any time
  private final @Nullable ServerTurn turn; // null: as above

  PushingCarrier(CarrierParts parts, RemoteContext context) {
    this(parts, context, new ServerDelivery(parts.tally(), parts.rings()));
  }

  private PushingCarrier(CarrierParts parts, RemoteContext context, ServerDelivery delivery) {
    super(new PollingInbox(parts, delivery), delivery, false);
    this.clock = parts.clock();
    this.schedule = context.turnThreshold() > 0 ? context.turns() : null;
    this.turn = schedule == null ? null : new ServerTurn(parts, delivery, schedule);
  }

  @Override
  public Timetable timetable() {
    return schedule;
  }

  @Override
  public void onRound() {
    if (turn != null) {
      turn.onRound();
    }
  }

  @Override
  public long handedNs() {
    return clock.nanoTime();
  }

  @Override
  public int answerCode(int status, long handedNs) {
    return ProcessTime.code(status, clock.nanoTime() - handedNs);
  }
}
