package dev.ringfetch.examples.load;

/** The two sides of a comparison. */
public enum Side {
  /** A channel of Ringfetch that requires a ring. */
  ring,
  /** gRPC's own channel, over HTTP/2. */
  grpc
}
