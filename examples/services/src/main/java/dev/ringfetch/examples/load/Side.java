package dev.ringfetch.examples.load;

/** What is compared. */
public enum Side {
  /** A channel of Ringfetch that has a ring or nothing. */
  ring,
  /** gRPC's own channel, over HTTP/2. */
  grpc
}
