package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;

import dev.ringfetch.session.unit.Unit;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** The rules of streams of many units a second time: their order, and the windows. */
final class FlowRules {
  static final int WINDOW = 65_536;
  private static final int MAX_WINDOW = 8 << 20;

  private static final VarHandle RECEIVING = field("receiving", Flow.Receiving.class);
  private static final VarHandle SENDING = field("sending", Flow.Sending.class);
  private static final VarHandle RECEIVED = field("received", long.class);
  private static final VarHandle RELEASED = field("released", long.class);
  private static final VarHandle TOLD = field("told", long.class);
  private static final VarHandle BEGUN = field("begun", long.class);
  private static final VarHandle ACKNOWLEDGED = field("peerConsumed", long.class);
  private static final VarHandle TOLD_WINDOW = field("toldWindow", int.class);
  private static final VarHandle PEER_WINDOW = field("peerWindow", int.class);
  private static final VarHandle CURRENT = field("current", Unit.class);
  private static final VarHandle OUTBOUND = field("outbound", ConcurrentLinkedQueue.class);

  private final Queue<Long> waiting = new ArrayDeque<>(); // what units that wait for the ring cost
  private boolean prefixed;
  private boolean ended;
  private long received;
  private long released;
  private long told;
  private long begun;
  private long acknowledged;
  private int toldWindow = WINDOW;
  private int peerWindow = WINDOW;
  private boolean loaded;

  /** Of a stream that begins. */
  FlowRules() {}

  /** Of a stream of the session under test, as it is now. */
  FlowRules(Flow flow) {
    prefixed = RECEIVING.get(flow) != Flow.Receiving.AWAITED;
    ended = RECEIVING.get(flow) == Flow.Receiving.ENDED;
    received = (long) RECEIVED.get(flow);
    released = (long) RELEASED.get(flow);
    told = (long) TOLD.get(flow);
    begun = (long) BEGUN.get(flow);
    acknowledged = (long) ACKNOWLEDGED.get(flow);
    toldWindow = (int) TOLD_WINDOW.get(flow);
    peerWindow = (int) PEER_WINDOW.get(flow);
    loaded = CURRENT.get(flow) != null;
    if (!((Flow.Sending) SENDING.getVolatile(flow)).isOver()) {
      for (final Object unit : (Iterable<?>) OUTBOUND.get(flow)) {
        waiting.add(cost(((Unit) unit).flags(), ((Unit) unit).bytes().length()));
      }
    }
  }

  private static VarHandle field(String name, Class<?> type) {
    return FrameRules.field(Flow.class, name, type);
  }

  /** What a unit takes of a window. */
  static long cost(int flags, int length) {
    return (flags & MESSAGE) == 0 ? 0 : length + 64L;
  }

  /** Messages that a session has begun to send so far. */
  static long begun(Flow flow) {
    return (long) BEGUN.get(flow);
  }

  /** The window that the peer has granted. */
  static int peerWindow(Flow flow) {
    return (int) PEER_WINDOW.get(flow);
  }

  /** Messages that a session has begun to send, and the peer's call has not consumed. */
  static long underWay(Flow flow) {
    return (long) BEGUN.get(flow) - (long) ACKNOWLEDGED.get(flow);
  }

  /** Bytes of messages that this side holds for the call. */
  long held() {
    return received - released;
  }

  /** Whether a unit with these flags may begin. */
  Reject begin(int flags) {
    if (ended) {
      return Reject.UNIT_AFTER_LAST;
    }
    if ((flags & (PREFIX | MESSAGE | SUFFIX)) == 0) {
      return Reject.UNIT_OF_NOTHING;
    }
    if ((flags & PREFIX) != 0 && prefixed) {
      return Reject.PREFIX_AGAIN;
    }
    return (flags & MESSAGE) != 0 && received - told >= toldWindow ? Reject.WINDOW : null;
  }

  /** A unit is whole. */
  void take(int flags, int total) {
    prefixed = true;
    ended = (flags & SUFFIX) != 0;
    received += cost(flags, total);
  }

  /** The peer tells what its call has consumed. */
  Reject update(ByteBuffer payload) {
    if (payload.remaining() != 8 && payload.remaining() != 12) {
      return Reject.UPDATE_LENGTH;
    }
    final long consumed = payload.getLong();
    final int window = payload.hasRemaining() ? payload.getInt() : 0;
    if (consumed < acknowledged) {
      return Reject.UPDATE_BACK;
    }
    if (consumed > begun) {
      return Reject.UPDATE_AHEAD;
    }
    if (window != 0) {
      if (window < peerWindow || window > MAX_WINDOW) {
        return Reject.UPDATE_WINDOW;
      }
      peerWindow = window;
    }
    acknowledged = consumed;
    return null;
  }

  /** Puts the next unit in line if it may go. False when that changes nothing. */
  boolean load() {
    if (loaded
        || waiting.isEmpty()
        || (waiting.peek() != 0 && begun - acknowledged >= peerWindow)) {
      return false;
    }
    begun += waiting.remove();
    loaded = true;
    return true;
  }
}
