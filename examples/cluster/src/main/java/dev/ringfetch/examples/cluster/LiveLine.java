package dev.ringfetch.examples.cluster;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * The line that shows rates and latencies while the demo runs: each second in place on a terminal,
 * else a line each {@value #LINE_SECONDS} seconds. Other lines go through it, so that they do not
 * mix. A thread of its own.
 */
final class LiveLine implements AutoCloseable {
  private static final int LINE_SECONDS = 5;
  private static final String ERASE = "\r\u001b[K";

  private final PrintStream out = System.out;
  private final Workload workload;
  private final boolean terminal = isTerminal();
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Thread thread = new Thread(this::run, "demo-live-line");
  private final long beginNs = System.nanoTime();

  LiveLine(Workload workload) {
    this.workload = workload;
    thread.setDaemon(true);
  }

  /** Whether standard output is one, by the name of its file. */
  private static boolean isTerminal() {
    try {
      final String file = Files.readSymbolicLink(Path.of("/proc/self/fd/1")).toString();
      return file.startsWith("/dev/pts/") || file.startsWith("/dev/tty");
    } catch (IOException e) {
      return false;
    }
  }

  void start() {
    thread.start();
  }

  private void run() {
    long beforeNs = System.nanoTime();
    try {
      while (!closed.await(terminal ? 1 : LINE_SECONDS, TimeUnit.SECONDS)) {
        final long nowNs = System.nanoTime();
        show(nowNs, (nowNs - beforeNs) / 1e9);
        beforeNs = nowNs;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized void show(long nowNs, double seconds) {
    final Histogram writes = workload.writes().take();
    final Histogram reads = workload.reads().take();
    out.print(
        (terminal ? ERASE : "")
            + String.format(
                Locale.ROOT,
                "%5.0f s  %s  %s%s",
                (nowNs - beginNs) / 1e9,
                part("writes", writes, seconds),
                part("reads", reads, seconds),
                terminal ? "" : System.lineSeparator()));
    out.flush();
  }

  private static String part(String name, Histogram latencies, double seconds) {
    return String.format(
        Locale.ROOT,
        "%,7.0f %s/s p50 %.2f p99 %.1f max %.0f ms",
        latencies.getTotalCount() / seconds,
        name,
        Workload.millis(latencies.getValueAtPercentile(50)),
        Workload.millis(latencies.getValueAtPercentile(99)),
        Workload.millis(latencies.getMaxValue()));
  }

  /** Prints another line. */
  synchronized void say(String line) {
    out.println((terminal ? ERASE : "") + line);
    out.flush();
  }

  @Override
  public void close() {
    closed.countDown();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (terminal) {
      out.print(ERASE);
    }
  }
}
