package dev.ringfetch.session;

/** Something in a simulation that goes on by itself: a thread of a process, or the machine. */
abstract class SimActor {
  final String name;
  final SimProcess process; // null: of none

  /** Within a step, in which others come between. */
  boolean busy;

  SimActor(String name, SimProcess process) {
    this.name = name;
    this.process = process;
  }

  /** True when it would do something now. */
  abstract boolean isReady(long nowNs);

  /** When it will do something, if nobody does anything before; in nanoseconds. */
  long wakeNs() {
    return Long.MAX_VALUE;
  }

  /** Does one step. */
  abstract void step();

  final boolean canGoOn(long nowNs) {
    return !busy && (process == null || process.isRunning(nowNs)) && isReady(nowNs);
  }
}
