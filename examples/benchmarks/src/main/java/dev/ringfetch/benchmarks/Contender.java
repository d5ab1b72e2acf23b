package dev.ringfetch.benchmarks;

/** The transport of the calls that are measured. */
enum Contender {
  /** A ring, without a fallback. */
  ring,
  /** gRPC over HTTP/2, by netty. */
  grpc,
  /** Nothing: handler and stub meet in one thread, see {@link NullChannel}. */
  none
}
