package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.BULK;
import static dev.ringfetch.ring.FrameDescriptor.CLOSE;
import static dev.ringfetch.ring.FrameDescriptor.COMPRESSED;
import static dev.ringfetch.ring.FrameDescriptor.CONTINUATION;
import static dev.ringfetch.ring.FrameDescriptor.DEADLINE;
import static dev.ringfetch.ring.FrameDescriptor.DESCRIPTION;
import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.METADATA;
import static dev.ringfetch.ring.FrameDescriptor.NAMED;
import static dev.ringfetch.ring.FrameDescriptor.PARTIAL;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;
import static dev.ringfetch.ring.FrameDescriptor.WINDOW_UPDATE;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.session.bulk.MemoryExchange;
import dev.ringfetch.session.owner.OwnedBy;
import dev.ringfetch.session.unit.Unit;
import dev.ringfetch.session.unit.Units;
import java.nio.charset.StandardCharsets;
import java.util.function.LongSupplier;

/**
 * The server's handler of a client's frames: turns them into calls and streams. A frame that no
 * client may send ends the session; a request beyond the limits is answered here; the others are
 * passed on when they are complete.
 */
@OwnedBy("session")
final class Intake {
  private static final int CANCELLED_CODE = 1;
  private static final int RESOURCE_EXHAUSTED_CODE = 8;

  private static final int REQUEST_FLAGS =
      PREFIX | SUFFIX | MESSAGE | DEADLINE | METADATA | NAMED | PARTIAL | COMPRESSED;
  private static final int UNIT_FLAGS = SUFFIX | MESSAGE | PARTIAL | COMPRESSED;

  private final ServerSession session;
  private final ServerStreams streams;
  private final HeldBytes held;
  private final int maxInboundLength;
  private final int maxUnitLength;
  private final LongSupplier unreported = this::takeConsumed;
  private boolean waiting;

  Intake(ServerSession session, ServerStreams streams, HeldBytes held, SessionContext context) {
    this.session = session;
    this.streams = streams;
    this.held = held;
    this.maxInboundLength = context.maxInboundLength();
    this.maxUnitLength = Units.maxLength(maxInboundLength, context.maxMetadataLength());
  }

  /**
   * Returns whether a unit may begin, and takes bytes out of the budget for it. Where the rest of
   * another one stands behind it, it does not wait: it is rejected if it is long.
   */
  boolean mayBegin(int streamId, int flags, int total) {
    final ServerStream stream = streams.get(streamId & Stream.INDEX_MASK);
    final boolean kept = (flags & PREFIX) != 0 || (stream != null && stream.id == streamId);
    final boolean waits = kept && !held.cover(flags, total, unreported) && !streams.hasPartial();
    if (waits && !waiting) {
      session.tally.add(Counter.SESSION_BUDGET_WAITS, 1);
    }
    waiting = waits;
    return !waits;
  }

  private long takeConsumed() {
    long bytes = 0;
    for (int index = 1; index < streams.bound(); index++) {
      final ServerStream stream = streams.get(index);
      if (stream != null && stream.flow != null) {
        bytes += stream.flow.release();
      }
    }
    return bytes;
  }

  /** True while a unit waits in the ring for the budget. */
  boolean isWaiting() {
    return waiting;
  }

  /** Handles a frame of a stream. False when no client may write it. */
  boolean onFrame(int streamId, int flags, int code, MemoryRegion region, int offset, int length) {
    final int index = streamId & Stream.INDEX_MASK;
    if (index == 0 || index >= streams.length()) {
      return false;
    }
    ServerStream stream = streams.get(index);
    if ((flags & PREFIX) == 0) { // of a stream that has begun
      if (stream == null || stream.id != streamId) {
        return streams.isClosed(streamId); // it crossed the last frame of this side
      }
      if (flags == CLOSE) {
        session.cancel(stream, CANCELLED_CODE);
        return true;
      }
      if (flags == WINDOW_UPDATE) {
        return session.windows.onUpdate(stream, region, offset, length);
      }
      if (stream.incoming.isPartial()
          ? (flags & ~(PARTIAL | BULK)) != CONTINUATION
          : (flags & ~UNIT_FLAGS) != 0 || stream.flow == null || !stream.flow.mayReceive(flags)) {
        return false;
      }
    } else {
      if (stream != null
          || streams.isClosed(streamId)
          || (flags & ~REQUEST_FLAGS) != 0
          || owesTooMuch()) {
        return false;
      }
      stream = streams.open(streamId);
      session.tally.add(Counter.SESSION_CALLS, 1);
      if ((flags & SUFFIX) == 0) {
        stream.flow = new Flow();
      }
    }
    if (!stream.incoming.accept(
        flags, code, region, offset, length, maxUnitLength, session.reads, stream)) {
      return false;
    }
    if ((flags & PREFIX) != 0 && !onFirstFrame(stream)) {
      return false;
    }
    if (stream.isCancelled()) {
      return true; // rejected on its first frame
    }
    if (stream.flow != null && (flags & CONTINUATION) == 0 && !held.add(stream)) {
      session.cancel(stream, RESOURCE_EXHAUSTED_CODE);
      return true;
    }
    if (!stream.incoming.isPartial()) {
      onUnit(stream);
    }
    return true;
  }

  /**
   * Returns whether more frames wait to be sent than one for each index, DRAIN, and an answer for
   * each offer: the client then reuses indexes before their ends were even sent.
   */
  private boolean owesTooMuch() {
    return session.outbox.length() > streams.length() + MemoryExchange.MAX_OFFERS;
  }

  private boolean onFirstFrame(ServerStream stream) {
    if (stream.incoming.isDiscarded()) {
      final int deadline = (stream.incoming.flags() & DEADLINE) != 0 ? Long.BYTES : 0;
      reject(stream, Units.tooLong(maxInboundLength, stream.incoming.total() - deadline));
      return true;
    }
    if (held.isCrowded()) {
      stream.incoming.discard();
      reject(stream, "cancelled calls still run: " + held.abandoned());
      return true;
    }
    if (stream.flow == null && !held.add(stream)) {
      stream.incoming.discard();
      reject(stream, held.refusal(stream.incoming.total()));
      return true;
    }
    if ((stream.incoming.flags() & DEADLINE) != 0) {
      if (stream.inbound().length() < Long.BYTES) {
        return false;
      }
      final long timeoutNs = stream.inbound().getLong(0);
      stream.deadlineNs =
          session.clock.nanoTime() + Math.max(0, Math.min(timeoutNs, Units.MAX_TIMEOUT_NS));
      session.deadlines.add(stream);
    }
    return true;
  }

  /** Answers a request beyond the limits on its first frame; the rest is dropped as it comes. */
  private void reject(ServerStream stream, String reason) {
    final byte[] description = reason.getBytes(StandardCharsets.UTF_8);
    stream.outbound().addBytes(description, 0, description.length);
    stream.outbound().addInt(description.length);
    stream.outboundFlags = SUFFIX | DESCRIPTION;
    stream.outboundCode = RESOURCE_EXHAUSTED_CODE;
    session.forget(stream);
    stream.cancelled();
    session.outbox.add(stream);
  }

  private void onUnit(ServerStream stream) {
    if (stream.flow != null) {
      final Unit unit = stream.incoming.take();
      stream.heldLength -= unit.cost(); // the flow counts it from here on
      stream.flow.onUnit(unit, true);
    }
    onWhole(stream);
  }

  /** Called when all reads that a unit of this stream has waited for are done. */
  void onRead(ServerStream stream) {
    if (streams.isOpen(stream) && (stream.flow != null || !stream.incoming.isPartial())) {
      onWhole(stream);
    }
  }

  /** Tells the call about a unit, or the stream, that was read to its end. */
  private void onWhole(ServerStream stream) {
    if (stream.flow != null ? !stream.flow.hasArrived() : stream.inbound().isReading()) {
      return;
    }
    if (stream.flow != null) {
      session.notifications.addFlow(stream);
    }
    if (!stream.handed) {
      stream.handed = true;
      stream.handedNs = session.carrier.handedNs();
      session.notifications.add(stream);
    }
  }
}
