package dev.ringfetch.fabric.sim;

import java.util.ArrayDeque;
import java.util.function.DoubleSupplier;

/**
 * One engine of a network card: busy with one work request at a time, in the order in which they
 * come. How long it takes for one is asked when that one's turn has come: then it counts what the
 * card has at hand.
 */
final class NicEngine {
  private final Timeline timeline;
  private final ArrayDeque<Job> jobs = new ArrayDeque<>(); // the first is under way
  private double freeNs;

  private record Job(double readyNs, DoubleSupplier costNs, double afterNs, Runnable done) {}

  NicEngine(Timeline timeline) {
    this.timeline = timeline;
  }

  /** A work request that takes so long whenever it begins. Returns when it is done. */
  double submit(double readyNs, double costNs) {
    freeNs = Math.max(readyNs, freeNs) + costNs;
    return freeNs;
  }

  /** True while there are work requests of which nobody knows yet how long they take. */
  boolean isBusy() {
    return !jobs.isEmpty();
  }

  /**
   * Takes on a work request.
   *
   * @param readyNs not before this time.
   * @param costNs how long it takes, asked once: when it begins.
   * @param afterNs until something happens, in nanoseconds, when the engine is free already.
   * @param done what happens then.
   */
  void submit(double readyNs, DoubleSupplier costNs, double afterNs, Runnable done) {
    jobs.add(new Job(readyNs, costNs, afterNs, done));
    if (jobs.size() == 1) {
      next();
    }
  }

  private void next() {
    final Job job = jobs.element();
    at(Math.max(job.readyNs, freeNs), "begun", () -> begin(job));
  }

  private void begin(Job job) {
    freeNs = Math.max(job.readyNs, freeNs) + job.costNs.getAsDouble();
    at(freeNs + job.afterNs, "done", job.done);
    at(freeNs, "free", this::free);
  }

  private void free() {
    jobs.remove();
    if (isBusy()) {
      next();
    }
  }

  private void at(double timeNs, String what, Runnable action) {
    timeline.after(Math.max(0, (long) timeNs - timeline.nowNs()), what, action);
  }
}
