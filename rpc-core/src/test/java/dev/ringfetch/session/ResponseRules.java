package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.BULK;
import static dev.ringfetch.ring.FrameDescriptor.CLOSE;
import static dev.ringfetch.ring.FrameDescriptor.CONTINUATION;
import static dev.ringfetch.ring.FrameDescriptor.DRAIN;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;
import static dev.ringfetch.ring.FrameDescriptor.WINDOW_UPDATE;

import dev.ringfetch.fabric.HeapMemory;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.session.ClientStream.State;
import dev.ringfetch.session.carrier.Geometry;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What a server may write, and what a client's session is to take of it. */
final class ResponseRules extends FrameRules {
  private final ClientSession session;
  private final Map<Integer, Chain> open = new HashMap<>();

  ResponseRules(
      HostileRegion region, Geometry geometry, ClientSession session, List<HeapMemory> registered) {
    super(
        region,
        ArenaDescriptor.responseRingOffset(geometry.requestRingLength()),
        geometry.responseRingLength(),
        geometry.epoch(),
        session,
        registered);
    this.session = session;
  }

  @Override
  void begin() {
    open.clear();
    for (int i = 1; i < session.streams.length(); i++) {
      final ClientStream stream = session.streams.get(i);
      if (stream != null
          && (stream.state == State.SENT
              || stream.state == State.CLOSING
              || (stream.state == State.SENDING && stream.outboundBegun))) {
        final Chain chain = new Chain(stream);
        chain.over = stream.ended;
        open.put(stream.id, chain);
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
    final ClientStream stream = session.streams.get(streamId & 0xFFFF);
    if ((flags & CLOSE) != 0) {
      open.remove(streamId);
      chain.bytes.reset(); // of half a message
      chain.flags = CLOSE;
      chain.code = code;
      tell(chain);
      return null;
    }
    if (flags == WINDOW_UPDATE) {
      final Reject reject = chain.update(payload);
      if (reject == null) {
        chain.flow.load();
      }
      return reject;
    }
    Reject reject = null;
    if (chain.flow != null && !chain.partial && (flags & CONTINUATION) == 0) {
      reject = chain.flow.begin(flags);
    }
    if (reject == null && (flags & BULK) != 0 && (flags & CONTINUATION) == 0) {
      reject = Reject.CHAIN_ORDER;
    }
    if (reject == null) {
      reject = chain.accept(flags, code, payload, stream.maxInboundLength);
    }
    if (reject == null && !chain.partial) {
      take(chain);
    }
    return reject;
  }

  @Override
  void answerOffer() {}

  private void take(Chain chain) {
    final boolean last = (chain.flags & SUFFIX) != 0;
    if (last) {
      open.remove(chain.id);
    }
    if (chain.flow != null) {
      chain.flow.take(chain.flags, chain.total);
      tell(chain);
    } else if (last) {
      tell(chain);
    } else if (!chain.over) { // one more is to come, where one is all
      chain.over = true;
      add(tooMany(chain.id));
    }
  }

  /** What stands for the end of a call of one response that gets another one. */
  static TakenUnit tooMany(int id) {
    return new TakenUnit(id, false, -1, 0, 0, false, ByteBuffer.allocate(0));
  }

  /** Nobody hears of the end of a stream that is over already. */
  private void tell(Chain chain) {
    if (!chain.over) {
      add(chain.unit());
    }
  }
}
