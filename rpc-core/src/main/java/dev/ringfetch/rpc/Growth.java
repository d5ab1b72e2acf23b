package dev.ringfetch.rpc;

import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.session.SessionContext;

/**
 * Which rings a channel asks for: those to begin with, and whole ones once they were too short,
 * until the channel is idle. All but {@link #tryBegin} is guarded by the {@link ChannelSessions}.
 */
final class Growth {
  /** How long no longer rings are asked for after they were. */
  private static final long PAUSE_NS = Backoff.MAX_NS;

  private final SessionContext context;
  private boolean crowded;
  private volatile long begunNs = System.nanoTime() - PAUSE_NS;

  Growth(SessionContext context) {
    this.context = context;
  }

  /** Length in bytes that no ring of the next session is to exceed. */
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
   * Whether a session that lacks room is to have another one take its place: there are longer rings
   * than it asked for, and none were asked for of late. From any thread.
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
