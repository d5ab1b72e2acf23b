package dev.ringfetch.examples.quickstart;

/** The peers that are measured. */
enum Entrant {
  /** Calls over a ring. */
  ring,
  /** Calls over gRPC. */
  grpc,
  /** Verbs alone, if rings use verbs. */
  floor
}
