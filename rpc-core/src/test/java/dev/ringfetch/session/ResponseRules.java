package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.CLOSE;
import static dev.ringfetch.ring.FrameDescriptor.DRAIN;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;

import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.session.ClientStream.State;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** What a server may write, and what a client's session is to take of it. */
final class ResponseRules extends FrameRules {
  private static final VarHandle STREAMS =
      field(ClientSession.class, "streams", AtomicReferenceArray.class);

  private final ClientSession session;
  private final Map<Integer, Chain> open = new HashMap<>();

  ResponseRules(HostileRegion region, Geometry geometry, ClientSession session) {
    super(
        region,
        ArenaDescriptor.responseRingOffset(geometry.requestRingLength()),
        geometry.responseRingLength(),
        geometry.epoch(),
        session);
    this.session = session;
  }

  private AtomicReferenceArray<?> streams() {
    return (AtomicReferenceArray<?>) STREAMS.get(session);
  }

  @Override
  void begin() {
    open.clear();
    for (int i = 1; i < streams().length(); i++) {
      final ClientStream stream = (ClientStream) streams().get(i);
      if (stream != null
          && (stream.state == State.SENT
              || stream.state == State.CLOSING
              || (stream.state == State.SENDING && stream.outboundBegun))) {
        open.put(stream.id, new Chain(stream));
      }
    }
  }

  @Override
  Reject onFrame(int streamId, int flags, int code, ByteBuffer payload) {
    if (streamId == 0) {
      return flags == DRAIN ? null : Reject.SESSION_FRAME;
    }
    final Chain chain = open.get(streamId);
    if (chain == null) {
      return Reject.NOT_AWAITED;
    }
    final ClientStream stream = (ClientStream) streams().get(streamId & 0xFFFF);
    if ((flags & CLOSE) != 0) {
      open.remove(streamId);
      chain.flags = CLOSE;
      chain.code = code;
      tell(stream, chain);
      return null;
    }
    final Reject reject = chain.accept(flags, code, payload, stream.maxInboundLength);
    if (reject != null) {
      return reject;
    }
    if (!chain.partial) {
      if ((chain.flags & SUFFIX) == 0) {
        return Reject.NO_SUFFIX;
      }
      open.remove(streamId);
      tell(stream, chain);
    }
    return null;
  }

  /** Nobody hears of the end of a stream that is over already. */
  private void tell(ClientStream stream, Chain chain) {
    if (!stream.ended) {
      add(chain.unit());
    }
  }
}
