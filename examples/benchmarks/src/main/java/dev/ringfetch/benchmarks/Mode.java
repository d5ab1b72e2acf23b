package dev.ringfetch.benchmarks;

/** How calls are made. */
enum Mode {
  /** By blocking stub, one call after the other; direct executors. */
  blocking("blocking", Setup.direct),
  /** By future stub, one thread that waits for the oldest call; direct executors. */
  future("future", Setup.direct),
  /** By asynchronous stub; direct executors. */
  async("async", Setup.direct),
  /**
   * By {@link dev.ringfetch.rpc.UnaryCall}, bytes there and bytes back: one at a time the caller
   * polls, else callbacks are the poller's; direct executors.
   */
  lean("lean", Setup.direct),
  /** By blocking stub if there is one call at a time, else by asynchronous stub; the default. */
  standard("default", Setup.standard),
  /** By a session of the ring itself: bytes there, bytes back; the callbacks are the poller's. */
  ring("ring", Setup.bare),
  /** Without a stub: bytes there, bytes back. */
  direct("direct", Setup.bare);

  private final String text;
  private final Setup setup;

  Mode(String text, Setup setup) {
    this.text = text;
    this.setup = setup;
  }

  /** The kind of processes that it needs. */
  Setup setup() {
    return setup;
  }

  /** Whether calls are made one after the other, by a stub or without one. */
  boolean isOneByOne() {
    return this == blocking;
  }

  /** Name for tables, scripts and options. */
  @Override
  public String toString() {
    return text;
  }
}
