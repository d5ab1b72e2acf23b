package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.CLOSE;
import static dev.ringfetch.ring.FrameDescriptor.CONTINUATION;
import static dev.ringfetch.ring.FrameDescriptor.DEADLINE;
import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.METADATA;
import static dev.ringfetch.ring.FrameDescriptor.NAMED;
import static dev.ringfetch.ring.FrameDescriptor.PARTIAL;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;

import dev.ringfetch.ring.ArenaDescriptor;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;

/** What a client may write, and what a server's session is to take of it. */
final class RequestRules extends FrameRules {
  private static final VarHandle STREAMS =
      field(ServerSession.class, "streams", ServerStream[].class);
  private static final VarHandle CLOSED = field(ServerSession.class, "closedIds", int[].class);
  private static final VarHandle ABANDONED = field(ServerSession.class, "abandoned", int.class);
  private static final VarHandle HELD = field(ServerSession.class, "heldLength", long.class);

  private final ServerSession session;
  private final int maxStreams;
  private final int maxLength;
  private final long maxHeldLength;
  private final Map<Integer, Chain> chains = new HashMap<>();
  private final Map<Integer, Integer> closed = new HashMap<>();

  private int backlog;
  private int abandoned;
  private long held;

  RequestRules(
      HostileRegion region, Geometry geometry, ServerSession session, SessionContext context) {
    super(
        region,
        ArenaDescriptor.REQUEST_RING_OFFSET,
        geometry.requestRingLength(),
        geometry.epoch(),
        session);
    this.session = session;
    this.maxStreams = geometry.maxStreams();
    this.maxLength = Units.maxLength(context.maxInboundLength(), context.maxMetadataLength());
    this.maxHeldLength = context.maxHeldLength();
  }

  /** Calls that the session counts as cancelled and still running. */
  int abandoned() {
    return (int) ABANDONED.get(session);
  }

  /** Bytes that the session counts as held. */
  long held() {
    return (long) HELD.get(session);
  }

  /** Calls that are in the session's table. */
  int inTable() {
    int count = 0;
    for (final ServerStream stream : (ServerStream[]) STREAMS.get(session)) {
      count += stream == null ? 0 : 1;
    }
    return count;
  }

  @Override
  void begin() {
    chains.clear();
    closed.clear();
    backlog = session.outbox.length();
    abandoned = abandoned();
    held = held();
  }

  private Chain chain(int index) {
    if (chains.containsKey(index)) {
      return chains.get(index);
    }
    final ServerStream stream = ((ServerStream[]) STREAMS.get(session))[index];
    if (stream == null) {
      return null;
    }
    final Chain chain = new Chain(stream);
    chain.handed = stream.handed;
    chain.answered = stream.answered;
    chain.held = stream.heldLength;
    chains.put(index, chain);
    return chain;
  }

  private int closedId(int index) {
    final Integer now = closed.get(index);
    return now != null ? now : ((int[]) CLOSED.get(session))[index];
  }

  private void close(int index, Chain chain, boolean stillRuns) {
    chains.put(index, null);
    closed.put(index, chain.id);
    if (stillRuns) {
      abandoned++;
    } else {
      held -= chain.held;
    }
  }

  @Override
  Reject onFrame(int streamId, int flags, int code, ByteBuffer payload) {
    final int index = streamId & 0xFFFF;
    if (index == 0 || index > maxStreams) {
      return Reject.INDEX;
    }
    Chain chain = chain(index);
    final boolean begins = (flags & (CLOSE | CONTINUATION)) == 0;
    if (begins) {
      if (chain != null) {
        return Reject.INDEX_IN_USE;
      }
      if (closedId(index) == streamId) {
        return Reject.ID_AGAIN;
      }
      final int allowed = PREFIX | MESSAGE | SUFFIX | DEADLINE | METADATA | NAMED | PARTIAL;
      if ((flags & PREFIX) == 0 || (flags & SUFFIX) == 0 || (flags & ~allowed) != 0) {
        return Reject.REQUEST_FLAGS;
      }
      if (backlog > maxStreams + 1) {
        return Reject.BACKLOG;
      }
      chain = new Chain(streamId);
      chains.put(index, chain);
    } else {
      if (chain == null || chain.id != streamId) {
        return closedId(index) == streamId ? null : Reject.STRANGE_ID;
      }
      if (flags == CLOSE) {
        close(index, chain, chain.handed && !chain.answered);
        backlog += chain.queued ? 0 : 1; // what it was to be answered with is dropped
        return null;
      }
      if ((flags & CLOSE) != 0 || (flags & ~(CONTINUATION | PARTIAL)) != 0) {
        return Reject.CLOSE_FLAGS;
      }
    }
    final Reject reject = chain.accept(flags, code, payload, maxLength);
    if (reject != null) {
      return reject;
    }
    if (begins && isRefused(chain)) {
      close(index, chain, false);
      backlog++;
      return null;
    }
    if (begins && (flags & DEADLINE) != 0 && chain.bytes.size() < 8) {
      return Reject.DEADLINE;
    }
    if (!chain.partial) {
      chain.handed = true;
      add(chain.unit());
    }
    return null;
  }

  /** True when a request is answered on its first frame, in the handler's stead. */
  private boolean isRefused(Chain chain) {
    if (chain.discarded || abandoned >= Math.max(64, maxStreams)) {
      return true;
    }
    if (chain.total > 8192) {
      if (held + chain.total > maxHeldLength) {
        return true;
      }
      chain.held = chain.total;
      held += chain.total;
    }
    return false;
  }
}
