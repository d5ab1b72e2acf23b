package dev.ringfetch.benchmarks;

/** The executors of handlers and callbacks in the processes of a peer. */
enum Setup {
  /** Nobody: there are no stubs, both ends poll. */
  bare("none"),
  /** The threads of the transport, on both sides. */
  direct("direct"),
  /** The builders' default executors, on both sides. */
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
