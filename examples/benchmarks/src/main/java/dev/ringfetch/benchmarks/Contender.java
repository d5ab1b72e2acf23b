package dev.ringfetch.benchmarks;

/** What carries the calls that are measured. */
enum Contender {
  /** A ring; there is no falling back. */
  ring,
  /** gRPC over HTTP/2, by netty. */
  grpc,
  /** Nothing: handler and stub meet in one thread, see {@link NullChannel}. */
  none
}
