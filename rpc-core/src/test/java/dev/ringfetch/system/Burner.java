package dev.ringfetch.system;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.locks.LockSupport;

/** A benign process that takes as much processor time as a hostile one did, and harms nobody. */
final class Burner {
  private static final long STEP_NS = 200_000;

  private static volatile double share;

  private Burner() {}

  /** Burns the share of a core that its input names, in thousandths, until that ends. */
  static void run() throws IOException {
    // As a hostile process may use more than one core, it burns in two threads.
    for (int i = 0; i < 2; i++) {
      final Thread thread = new Thread(Burner::burn, "burner-" + i);
      thread.setDaemon(true);
      thread.start();
    }
    System.out.println("burning");
    final BufferedReader input = SystemChild.input();
    String line;
    while ((line = input.readLine()) != null) {
      share = Integer.parseInt(line) / 2_000.0;
      System.out.println(share);
    }
  }

  private static void burn() {
    final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    double before = share;
    long startNs = System.nanoTime();
    long startCpuNs = threads.getCurrentThreadCpuTime();
    while (true) {
      final double now = share;
      if (now != before) {
        before = now;
        startNs = System.nanoTime();
        startCpuNs = threads.getCurrentThreadCpuTime();
      }
      final long due = (long) ((System.nanoTime() - startNs) * now);
      if (threads.getCurrentThreadCpuTime() - startCpuNs < due) {
        final long untilNs = System.nanoTime() + STEP_NS;
        while (System.nanoTime() < untilNs) {
          Thread.onSpinWait();
        }
      } else {
        LockSupport.parkNanos(STEP_NS);
      }
    }
  }
}
