package dev.ringfetch.rpc;

import java.util.HashMap;
import java.util.Map;

/**
 * The pauses of a backend between attempts to open a session: they double with each failure. A
 * server that has refused for good is not asked again over the same connection, where gRPC tells of
 * connections. A fabric that could not be reached counts as doubtful for a while. Guarded by its
 * {@link BackendSessions}.
 */
final class ReconnectPolicy {
  /** Limit of the pause after a refusal that holds as long as the connection. */
  static final long UNTIL_CONNECTED_NS = Long.MAX_VALUE;

  /** So many equal refusals over one connection hold as long as the connection: about a minute. */
  private static final int MAX_EQUAL = 9;

  /** A call that still waits after so many looks causes a flush again after as many. */
  private static final int FLUSH_PERIOD = 64;

  private final boolean knowsConnections;
  private final Backoff backoff = new Backoff();
  private final Backoff roomBackoff = new Backoff(); // since calls have waited for a stream
  private final Map<String, Long> failures = new HashMap<>(); // last time, by name of a fabric

  private String refusal;
  private int equal;
  private boolean refusedForGood;
  private int looks; // at calls that wait, since a stream has ended

  /**
   * Creates the policy; the first attempt may be made at once.
   *
   * @param knowsConnections whether {@link #connected} is called.
   */
  ReconnectPolicy(boolean knowsConnections) {
    this.knowsConnections = knowsConnections;
  }

  /** Returns how long it is until the next attempt, in nanoseconds; not positive: it may be now. */
  long pauseNs() {
    return refusedForGood
        ? Backoff.MAX_NS
        : Math.max(backoff.remainingNs(), roomBackoff.remainingNs());
  }

  /** An attempt has failed. */
  void refused(String reason, long maxPauseNs) {
    backoff.failed(Math.min(maxPauseNs, Backoff.MAX_NS));
    equal = reason.equals(refusal) && maxPauseNs >= Backoff.MAX_NS ? equal + 1 : 1;
    refusal = reason;
    refusedForGood = knowsConnections && (maxPauseNs == UNTIL_CONNECTED_NS || equal >= MAX_EQUAL);
  }

  /** gRPC has another connection to the server: it may be another server. */
  void connected() {
    if (refusedForGood) {
      forgetRefusals();
      backoff.skip();
    }
  }

  private void forgetRefusals() {
    refusedForGood = false;
    refusal = null;
  }

  /** A session has worked: the pause after the next failure is short. */
  void succeeded() {
    backoff.succeeded();
    forgetRefusals();
  }

  /** Streams of sessions had to make room for calls. */
  void lackedStreams() {
    roomBackoff.failed(Backoff.MAX_NS);
  }

  /** Ends the present pause. */
  void skip() {
    backoff.skip();
  }

  /** Forgets all failures. */
  void reset() {
    skip();
    succeeded();
    roomBackoff.skip();
    failures.clear();
  }

  boolean hasFailedLately(String fabric) {
    final Long failedNs = failures.get(fabric);
    return failedNs != null && System.nanoTime() - failedNs < Backoff.MAX_NS;
  }

  void onUnreachable(String fabric) {
    failures.put(fabric, System.nanoTime());
  }

  void onReached(String fabric) {
    failures.remove(fabric);
  }

  /**
   * Whether one more flush may help: seldom, the longer a call has waited since a stream's end. But
   * never not at all: the connection's thread may have had no processor before.
   */
  boolean mayFlush() {
    looks++;
    return Integer.bitCount(looks) == 1 || looks % FLUSH_PERIOD == 0;
  }

  void onStreamEnded() {
    looks = 0;
  }
}
