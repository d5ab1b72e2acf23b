package dev.ringfetch.examples.quickstart;

/** Who is measured. */
enum Entrant {
  /** Calls over a ring. */
  ring,
  /** Calls over gRPC. */
  grpc,
  /** Verbs alone; where rings are made of them. */
  floor
}
