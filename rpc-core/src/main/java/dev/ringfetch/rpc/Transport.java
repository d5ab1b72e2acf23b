package dev.ringfetch.rpc;

/**
 * Which transport serves a channel's next call, and why.
 *
 * @param name the fabric's name, for example {@code shm}, or {@code grpc}.
 * @param reason in one line: the peer, or why there is no ring.
 */
public record Transport(String name, String reason) {
  /** Name of the transport that serves where no ring does. */
  public static final String GRPC = "grpc";

  /** True when a ring serves. */
  public boolean isRing() {
    return !GRPC.equals(name);
  }
}
