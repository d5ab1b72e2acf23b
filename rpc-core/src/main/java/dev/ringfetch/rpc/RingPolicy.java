package dev.ringfetch.rpc;

/**
 * The rules of a channel for its ring.
 *
 * @param isRequired whether calls fail without a ring, instead of going over gRPC.
 * @param idleTimeoutNs after so long without a call the ring is closed; see {@link IdleWatch}.
 * @param pulseNs how often servers are asked to send a beat on a session's stream; 0: never.
 * @param isAttached whether the application's channel is another one, which refuses calls itself
 *     once it is shut down.
 */
record RingPolicy(boolean isRequired, long idleTimeoutNs, long pulseNs, boolean isAttached) {
  /** Says for the log what calls do without a ring. */
  String meanwhile() {
    return isRequired ? "fail" : "go over gRPC";
  }
}
