package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.BULK;
import static dev.ringfetch.ring.FrameDescriptor.CONTINUATION;
import static dev.ringfetch.ring.FrameDescriptor.PARTIAL;
import static dev.ringfetch.ring.FrameDescriptor.SESSION_STREAM_ID;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.session.carrier.CarrierSession;
import dev.ringfetch.session.poller.Poller;

/**
 * The handler of the events of a session's two rings: passes inbound frames to the session, its
 * streams and its registered memory, and answers the carrier's questions about the session. Used by
 * the owner.
 */
record RingEvents(Session session) implements CarrierSession {
  @Override
  public boolean mayTake(int streamId, int flags, MemoryRegion region, int offset, int length) {
    if ((flags & CONTINUATION) != 0 || streamId == SESSION_STREAM_ID) {
      return true;
    }
    final boolean partial = (flags & PARTIAL) != 0 && length >= Integer.BYTES;
    return session.mayBegin(streamId, flags, partial ? region.getInt(offset) : length);
  }

  @Override
  public boolean onFrame(
      int streamId, int flags, int code, int ack, MemoryRegion region, int offset, int length) {
    session.tally.add(Counter.SESSION_FRAMES_RECEIVED, 1);
    if (!session.writer.onAck(ack)) {
      return false;
    }
    if (streamId == SESSION_STREAM_ID) {
      return flags == BULK
          ? session.exchange.onFrame(code, region, offset, length)
          : session.onSessionFrame(flags);
    }
    if ((flags & BULK) != 0
        && !session.reads.add(session.exchange.attached(), region, offset, length)) {
      return false;
    }
    return session.onStreamFrame(streamId, flags, code, region, offset, length);
  }

  @Override
  public void blame(String why) {
    session.ending.blame(why);
  }

  @Override
  public void touch() {
    session.memoryGuard.touch();
  }

  @Override
  public void onInboundFull() {
    session.onInboundFull();
  }

  @Override
  public long earliestDeadlineNs() {
    return session.deadlines.earliestNs();
  }

  @Override
  public boolean expectsFrames() {
    return session.mustArmToLeave();
  }

  @Override
  public boolean isOutputBlocked() {
    return session.outbox.isBlocked();
  }

  @Override
  public boolean awaitsRelease() {
    return session.outbox.awaitsRelease();
  }

  @Override
  public boolean isPolled() {
    return session.entry.isPolled();
  }

  @Override
  public Poller poller() {
    return session.poller;
  }

  @Override
  public void linger(long nanos) {
    session.entry.linger(nanos);
  }
}
