package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.BULK;
import static dev.ringfetch.ring.FrameDescriptor.CLOSE;
import static dev.ringfetch.ring.FrameDescriptor.COMPRESSED;
import static dev.ringfetch.ring.FrameDescriptor.CONTINUATION;
import static dev.ringfetch.ring.FrameDescriptor.DEADLINE;
import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.METADATA;
import static dev.ringfetch.ring.FrameDescriptor.NAMED;
import static dev.ringfetch.ring.FrameDescriptor.PARTIAL;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;
import static dev.ringfetch.ring.FrameDescriptor.WINDOW_UPDATE;

import dev.ringfetch.fabric.HeapMemory;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.session.carrier.Geometry;
import dev.ringfetch.session.unit.Units;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What a client may write, and what a server's session is to take of it. */
final class RequestRules extends FrameRules {
  private static final VarHandle STREAMS = field(ServerStreams.class, "open", ServerStream[].class);
  private static final VarHandle CLOSED = field(ServerStreams.class, "closedIds", int[].class);
  private static final VarHandle ABANDONED = field(HeldBytes.class, "abandoned", int.class);
  private static final VarHandle HELD = field(HeldBytes.class, "length", long.class);

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
      HostileRegion region,
      Geometry geometry,
      ServerSession session,
      SessionContext context,
      List<HeapMemory> registered) {
    super(
        region,
        ArenaDescriptor.REQUEST_RING_OFFSET,
        geometry.requestRingLength(),
        geometry.epoch(),
        session,
        registered);
    this.session = session;
    this.maxStreams = geometry.maxStreams();
    this.maxLength = Units.maxLength(context.maxInboundLength(), context.maxMetadataLength());
    this.maxHeldLength = context.maxHeldLength();
  }

  /** Calls that the session counts as cancelled and still running. */
  int abandoned() {
    return (int) ABANDONED.get(session.held);
  }

  /** Bytes that the session counts as held. */
  long held() {
    return (long) HELD.get(session.held);
  }

  /** The flow of the stream of an index, or null. */
  Flow flow(int index) {
    final ServerStream stream = session.streams.get(index);
    return stream == null ? null : stream.flow;
  }

  /** Those in the session's table. */
  Set<ServerStream> streams() {
    final Set<ServerStream> streams = new HashSet<>();
    for (final ServerStream stream : (ServerStream[]) STREAMS.get(session.streams)) {
      if (stream != null) {
        streams.add(stream);
      }
    }
    return streams;
  }

  /** Calls that are in the session's table. */
  int inTable() {
    return streams().size();
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
    final ServerStream stream = session.streams.get(index);
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
    if (now != null) {
      return now;
    }
    final int[] before = (int[]) CLOSED.get(session.streams);
    return index < before.length ? before[index] : 0;
  }

  private void close(int index, Chain chain, boolean stillRuns) {
    chains.put(index, null);
    closed.put(index, chain.id);
    if (stillRuns) {
      abandoned++;
    } else {
      held -= chain.held + (chain.flow == null ? 0 : chain.flow.held());
    }
  }

  @Override
  Reject onFrame(int streamId, int flags, int code, ByteBuffer payload) {
    final int index = streamId & 0xFFFF;
    if (index == 0 || index > maxStreams) {
      return Reject.INDEX;
    }
    final Chain chain = chain(index);
    if ((flags & PREFIX) != 0) {
      final Reject reject = mayBegin(chain, streamId, index, flags);
      return reject != null ? reject : begin(streamId, index, flags, code, payload);
    }
    if (chain == null || chain.id != streamId) {
      return closedId(index) == streamId ? null : Reject.STRANGE_ID;
    }
    if (flags == CLOSE) {
      end(index, chain);
      return null;
    }
    if (flags == WINDOW_UPDATE) {
      return update(chain, payload);
    }
    Reject reject = mayFollow(chain, flags);
    if (reject == null) {
      reject = chain.accept(flags, code, payload, maxLength);
    }
    if (reject == null) {
      take(index, chain, (flags & CONTINUATION) == 0);
    }
    return reject;
  }

  @Override
  void answerOffer() {
    backlog++;
  }

  private Reject mayBegin(Chain before, int streamId, int index, int flags) {
    if (before != null) {
      return Reject.INDEX_IN_USE;
    }
    if (closedId(index) == streamId) {
      return Reject.ID_AGAIN;
    }
    final int allowed =
        PREFIX | MESSAGE | SUFFIX | DEADLINE | METADATA | NAMED | PARTIAL | COMPRESSED;
    if ((flags & ~allowed) != 0) {
      return Reject.REQUEST_FLAGS;
    }
    return backlog > maxStreams + 1 + MAX_OFFERS ? Reject.BACKLOG : null;
  }

  private Reject begin(int streamId, int index, int flags, int code, ByteBuffer payload) {
    final Chain chain = new Chain(streamId);
    chains.put(index, chain);
    if ((flags & SUFFIX) == 0) {
      chain.flow = new FlowRules();
    }
    final Reject reject = chain.accept(flags, code, payload, maxLength);
    if (reject != null) {
      return reject;
    }
    if (isRefused(chain)) {
      close(index, chain, false);
      backlog++;
      return null;
    }
    if ((flags & DEADLINE) != 0 && chain.bytes.size() < 8) {
      return Reject.DEADLINE;
    }
    take(index, chain, true);
    return null;
  }

  private static Reject mayFollow(Chain chain, int flags) {
    final boolean continues = (flags & CONTINUATION) != 0;
    final int allowed =
        continues ? CONTINUATION | PARTIAL | BULK : MESSAGE | SUFFIX | PARTIAL | COMPRESSED;
    if ((flags & ~allowed) != 0) {
      return Reject.LATER_FLAGS;
    }
    if (continues != chain.partial) {
      return Reject.CHAIN_ORDER;
    }
    if (continues) {
      return null;
    }
    return chain.flow == null ? Reject.NO_FLOW : chain.flow.begin(flags);
  }

  private Reject update(Chain chain, ByteBuffer payload) {
    final Reject reject = chain.update(payload);
    if (reject == null && chain.flow.load() && !chain.queued) {
      chain.queued = true;
      backlog++;
    }
    return reject;
  }

  /** The client has cancelled, or this side has given up. */
  private void end(int index, Chain chain) {
    close(index, chain, chain.handed && !chain.answered);
    backlog += chain.queued ? 0 : 1; // what it was to be answered with is dropped
  }

  /** A frame of a unit is in. */
  private void take(int index, Chain chain, boolean first) {
    if (chain.flow != null && first && !holds(chain)) {
      end(index, chain);
      return;
    }
    if (chain.partial) {
      return;
    }
    if (chain.flow != null) {
      chain.held -= FlowRules.cost(chain.flags, chain.total);
      chain.flow.take(chain.flags, chain.total);
    }
    chain.handed = true;
    add(chain.unit());
  }

  /** Counts a unit of a flow. False when it is too much. */
  private boolean holds(Chain chain) {
    final boolean message = (chain.flags & MESSAGE) != 0;
    final long length =
        message ? FlowRules.cost(chain.flags, chain.total) : chain.total > 8192 ? chain.total : 0;
    if (held + length > maxHeldLength) {
      return false;
    }
    chain.held += length;
    held += length;
    return true;
  }

  /** True when a request is answered on its first frame, in the handler's stead. */
  private boolean isRefused(Chain chain) {
    if (chain.discarded || abandoned >= Math.max(64, maxStreams)) {
      return true;
    }
    if (chain.flow == null && chain.total > 8192) {
      if (held + chain.total > maxHeldLength) {
        return true;
      }
      chain.held = chain.total;
      held += chain.total;
    }
    return false;
  }
}
