package dev.ringfetch.system;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** How much of the machine's cores went to other processes than a test's own, since it was made. */
final class Cores {
  private static final long TICK_NS = 10_000_000; // USER_HZ is 100 on every Linux

  private final List<ProcessHandle> own;
  private final Duration ownBefore;
  private final long busyBefore;
  private final long startNs;

  Cores(List<SystemChild> children) throws IOException {
    own =
        Stream.concat(
                Stream.of(ProcessHandle.current()),
                children.stream().map(child -> ProcessHandle.of(child.pid()).orElseThrow()))
            .toList();
    ownBefore = ownTime();
    busyBefore = busyTicks();
    startNs = System.nanoTime();
  }

  private Duration ownTime() {
    return own.stream()
        .map(process -> process.info().totalCpuDuration().orElse(Duration.ZERO))
        .reduce(Duration.ZERO, Duration::plus);
  }

  /** Ticks that all cores were not idle; what the host took away is foreign, too. */
  private static long busyTicks() throws IOException {
    final String[] fields = Files.readAllLines(Path.of("/proc/stat")).get(0).split(" +", -1);
    long busy = 0;
    for (int i = 1; i <= 8; i++) {
      if (i != 4 && i != 5) { // idle, iowait
        busy += Long.parseLong(fields[i]);
      }
    }
    return busy;
  }

  /** Share of all cores, from 0 to 1. */
  double foreign() throws IOException {
    final long elapsedNs = System.nanoTime() - startNs;
    final long busyNs = (busyTicks() - busyBefore) * TICK_NS;
    final long ownNs = ownTime().minus(ownBefore).toNanos();
    return Math.max(0, busyNs - ownNs)
        / (double) (elapsedNs * Runtime.getRuntime().availableProcessors());
  }
}
