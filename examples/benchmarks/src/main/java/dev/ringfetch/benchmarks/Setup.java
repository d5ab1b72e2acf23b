package dev.ringfetch.benchmarks;

/** How the processes of a peer are set up: who runs handlers and callbacks there. */
enum Setup {
  /** Nobody: there are no stubs, both ends poll. */
  bare("none"),
  /** The threads of the transport, on both sides. */
  direct("direct"),
  /** What builders provide that were not told, on both sides. */
  standard("default");

  private final String executors;

  Setup(String executors) {
    this.executors = executors;
  }

  /** Name of the executors, for tables and scripts. */
  String executors() {
    return executors;
  }
}
