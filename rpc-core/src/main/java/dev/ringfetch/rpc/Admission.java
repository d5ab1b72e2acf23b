package dev.ringfetch.rpc;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.NanoClock;

/**
 * The rate limit of a server for new sessions, per client host. Opening a session costs a server as
 * much as thousands of calls, so each host may open {@link #BURST} at once and one every {@link
 * #INTERVAL_NS} after that; a session that broke the rules costs its host {@link #FAULT_COST_NS},
 * and a stream that led to no session {@link #ABANDONED_COST_NS}. A client that has to wait makes
 * its calls over gRPC meanwhile.
 *
 * <p>Clients that come and go in order pay {@link #INTERVAL_NS} a session, so the clients of one
 * host may open 25 a second without end: a dozen channels a second, each of which asks for longer
 * rings once.
 *
 * <p>A leaky bucket in the form of the generic cell rate algorithm (ITU-T I.371): the only state
 * per host is the time at which its next session is due. Thread-safe.
 */
final class Admission {
  /** Sessions that a host's clients open at once. */
  static final int BURST = 256;

  /**
   * Between sessions of one host, once it has opened {@link #BURST}: a server spends one or two
   * milliseconds on each, so at the most a twentieth of a processor on a host that only opens them.
   */
  static final long INTERVAL_NS = TimeUnit.MILLISECONDS.toNanos(40);

  /** Added to the wait by a stream that sends no hello, or takes an offer and never connects. */
  static final long ABANDONED_COST_NS = TimeUnit.MILLISECONDS.toNanos(500);

  /** Streams of one host that may wait for their hello at once, which comes with the stream. */
  static final int MAX_SILENT = BURST;

  /** Added to the wait by a session that ends by its client's fault. */
  static final long FAULT_COST_NS = TimeUnit.SECONDS.toNanos(2);

  /** Added to the wait by an unanswered call: some twenty times the time that a call takes. */
  static final long CALL_COST_NS = TimeUnit.MICROSECONDS.toNanos(250);

  /** Longest wait: a client that would wait longer is refused, and tries again. */
  static final long MAX_DELAY_NS = TimeUnit.SECONDS.toNanos(4);

  /** The client is refused: too many wait. */
  static final long REFUSED = -1;

  private static final int FORGET_THRESHOLD = 1024;

  private final NanoClock clock;
  private final Map<Object, Long> dueNs = new HashMap<>();
  private final Map<Object, Integer> silent = new HashMap<>(); // streams that have sent no hello
  private int forgetAt = FORGET_THRESHOLD;

  Admission(NanoClock clock) {
    this.clock = clock;
  }

  /** Returns the key of a client's host: its IP address without the port. */
  static Object hostOf(SocketAddress address) {
    return address instanceof InetSocketAddress inet && inet.getAddress() != null
        ? inet.getAddress()
        : SocketAddress.class; // over a Unix socket all clients are on this host
  }

  /** Counts a new stream of a client. False refuses it: too many of its host have sent no hello. */
  synchronized boolean onStream(Object host) {
    final int before = silent.getOrDefault(host, 0);
    if (before >= MAX_SILENT) {
      return false;
    }
    silent.put(host, before + 1);
    return true;
  }

  /** Called when a stream that {@link #onStream} has let in has sent its hello, or has ended. */
  synchronized void onSpoken(Object host) {
    silent.computeIfPresent(host, (same, count) -> count == 1 ? null : count - 1);
  }

  /** Called when a client has not sent its hello, or has not connected, in time. */
  synchronized void onAbandoned(Object host) {
    charge(host, ABANDONED_COST_NS);
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
   * @param unanswered calls that its client made, did not cancel, and took no answer to.
   */
  synchronized void onEnded(Object host, boolean atFault, long unanswered) {
    charge(host, (atFault ? FAULT_COST_NS : 0) + unanswered * CALL_COST_NS);
  }

  private void charge(Object host, long costNs) {
    if (costNs > 0) {
      final long now = clock.nanoTime();
      final long delayNs = due(host, now) + costNs - now;
      dueNs.put(host, now + Math.min(delayNs, MAX_DELAY_NS));
      forgetOld(now);
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

  /** Forgets the hosts that may open a full burst again. */
  private void forgetOld(long now) {
    if (dueNs.size() >= forgetAt) {
      dueNs.values().removeIf(due -> due - (now - BURST * INTERVAL_NS) <= 0);
      forgetAt = Math.max(FORGET_THRESHOLD, 2 * dueNs.size());
    }
  }
}
