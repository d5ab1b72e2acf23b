package dev.ringfetch.rpc;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.NanoClock;

/**
 * When a host's clients get their sessions. To open one costs a server as much as thousands of
 * calls, so each host has so many at once and so many a second after that; one that broke the rules
 * costs its host {@link #FAULT_COST_NS}. Until its turn a client makes its calls over gRPC.
 *
 * <p>A leaky bucket in the form of the generic cell rate algorithm (ITU-T I.371): of each host only
 * the time is kept at which its next session is due. Thread-safe.
 */
final class Admission {
  /** Sessions that a host's clients open at once. */
  static final int BURST = 256;

  /** Between sessions of one host, once it has opened {@link #BURST}. */
  static final long INTERVAL_NS = TimeUnit.MILLISECONDS.toNanos(125);

  /** What a session adds to the wait when it ends by its client's fault. */
  static final long FAULT_COST_NS = TimeUnit.SECONDS.toNanos(2);

  /** What a call adds to it that was made for nothing: some twenty times what it takes. */
  static final long CALL_COST_NS = TimeUnit.MICROSECONDS.toNanos(250);

  /** Who would wait longer is refused, and comes again. */
  static final long MAX_DELAY_NS = TimeUnit.SECONDS.toNanos(4);

  /** The client is refused: too many wait. */
  static final long REFUSED = -1;

  private static final int FORGET_THRESHOLD = 1024;

  private final NanoClock clock;
  private final Map<Object, Long> dueNs = new HashMap<>();
  private int forgetAt = FORGET_THRESHOLD;

  Admission(NanoClock clock) {
    this.clock = clock;
  }

  /** What clients are told apart by: all of an address, whatever their port. */
  static Object hostOf(SocketAddress address) {
    return address instanceof InetSocketAddress inet && inet.getAddress() != null
        ? inet.getAddress()
        : SocketAddress.class; // over a Unix socket all are of this host
  }

  /** Takes a client's turn: nanoseconds until it comes, or {@link #REFUSED}. */
  synchronized long delayNs(Object host) {
    final long now = clock.nanoTime();
    final long due = due(host, now);
    if (due - now > MAX_DELAY_NS) {
      return REFUSED;
    }
    dueNs.put(host, due + INTERVAL_NS);
    forgetOld(now);
    return Math.max(0, due - now);
  }

  /**
   * A session has ended. What a host owes stays bounded.
   *
   * @param atFault whether its client broke a rule.
   * @param unanswered calls that its client made, and took no answer to.
   */
  synchronized void onEnded(Object host, boolean atFault, long unanswered) {
    final long now = clock.nanoTime();
    final long costNs = (atFault ? FAULT_COST_NS : 0) + unanswered * CALL_COST_NS;
    if (costNs > 0) {
      final long delayNs = due(host, now) + costNs - now;
      dueNs.put(host, now + Math.min(delayNs, MAX_DELAY_NS));
    }
  }

  /** Hosts that are known. */
  synchronized int hosts() {
    return dueNs.size();
  }

  /** At most a burst in the past. */
  private long due(Object host, long now) {
    final long oldest = now - BURST * INTERVAL_NS;
    final Long due = dueNs.get(host);
    return due == null || due - oldest < 0 ? oldest : due;
  }

  /** A host that has all its turns is as one that never came. */
  private void forgetOld(long now) {
    if (dueNs.size() >= forgetAt) {
      dueNs.values().removeIf(due -> due - (now - BURST * INTERVAL_NS) <= 0);
      forgetAt = Math.max(FORGET_THRESHOLD, 2 * dueNs.size());
    }
  }
}
