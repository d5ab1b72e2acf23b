package dev.ringfetch.benchmarks;

/**
 * What a peer is asked to do.
 *
 * @param mode how calls are made.
 * @param payload of an answer, in bytes.
 * @param inFlight how many calls are on their way at once.
 */
record Load(Mode mode, int payload, int inFlight) {
  /** How calls are made. */
  enum Mode {
    /** By blocking stub, one call after the other. */
    blocking,
    /** By asynchronous stub. */
    async,
    /** Without a stub: bytes there, bytes back. */
    direct
  }
}
