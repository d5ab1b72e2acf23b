package dev.ringfetch.index.client;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;

/** The threads of a client whose clock and timer a test moves. */
final class ManualThreads extends ClientThreads {
  private record Due(long atNs, Runnable step) {}

  private final List<Due> later = new ArrayList<>(); // guarded by this
  private long nowNs; // guarded by this

  ManualThreads(Executor application) {
    super(application);
  }

  @Override
  synchronized void after(long delayNs, Runnable step) {
    later.add(new Due(nowNs + delayNs, step));
  }

  @Override
  synchronized long nowNs() {
    return nowNs;
  }

  /** Number of steps that are not due yet. */
  synchronized int waiting() {
    return later.size();
  }

  /** Moves the clock on, as a pause of the process does: what is due runs with the next advance. */
  synchronized void pause(long ns) {
    nowNs += ns;
  }

  /** Moves the clock on, and runs on this thread what is due then, each step once. */
  void advance(long ns) {
    final List<Due> due = new ArrayList<>();
    synchronized (this) {
      nowNs += ns;
      later.removeIf(each -> each.atNs <= nowNs && due.add(each));
    }
    due.forEach(each -> each.step.run());
  }
}
