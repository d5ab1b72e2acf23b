package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.CommandLoop;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** The process of busy neighbours: threads that compute without a pause, as many as requested. */
final class BusyLoops {
  private final List<Thread> loops = new ArrayList<>();

  private BusyLoops() {}

  /** Runs the process; its command {@code loops} sets how many compute. */
  public static void main(String[] args) throws IOException {
    final BusyLoops busy = new BusyLoops();
    new CommandLoop().on("loops", arguments -> busy.set(Integer.parseInt(arguments.get(0)))).run();
  }

  private Answer set(int count) throws InterruptedException {
    while (loops.size() > count) {
      final Thread last = loops.remove(loops.size() - 1);
      last.interrupt();
      last.join();
    }
    while (loops.size() < count) {
      final Thread next = new Thread(BusyLoops::compute, "loop-" + loops.size());
      next.setDaemon(true);
      next.start();
      loops.add(next);
    }
    return new Answer().with("loops", loops.size());
  }

  private static void compute() {
    while (!Thread.currentThread().isInterrupted()) {
      // All of its time slice.
    }
  }
}
