package dev.ringfetch.rpc;

import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.session.SessionContext;

/**
 * The ring lengths that a channel asks for: short rings first, and full ones once the short ones
 * were too short, until the channel is idle. All but {@link #tryBegin} is guarded by the {@link
 * BackendSessions}.
 */
final class Growth {
  /** Pause between two requests for longer rings. */
  private static final long PAUSE_NS = Backoff.MAX_NS;

  private final SessionContext context;
  private boolean crowded;
  private volatile long begunNs = System.nanoTime() - PAUSE_NS;

  Growth(SessionContext context) {
    this.context = context;
  }

  /** Limit of the length of the next session's rings, in bytes. */
  int maxRingLength() {
    return crowded ? ArenaDescriptor.MAX_RING_LENGTH : context.initialRingLength();
  }

  /** Rings were too short. */
  void onCrowded() {
    crowded = true;
  }

  /** The channel is idle. */
  void reset() {
    crowded = false;
  }

  /**
   * Returns whether to replace a session with short rings: true if longer rings exist than it asked
   * for, and none were requested recently. Any thread.
   *
   * @param maxRingLength of the session.
   */
  boolean tryBegin(int maxRingLength) {
    final long nowNs = System.nanoTime();
    if (maxRingLength >= Math.max(context.requestRingLength(), context.responseRingLength())
        || nowNs - begunNs < PAUSE_NS) {
      return false;
    }
    begunNs = nowNs;
    return true;
  }
}
