package dev.ringfetch.examples.load;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class ProcessUseTest {
  private static final long MS = TimeUnit.MILLISECONDS.toNanos(1);

  @Test
  void ticksAreReadBehindAnyName() {
    final String stat =
        "4711 (a) name (of) R 1 4711 4711 0 -1 4194304 500 0 0 0 123 45 0 0 20 0 9 0 100 1 2";
    assertEquals(168, ProcessUse.ticks(stat));
  }

  @Test
  void threadsAreExactAndTicksAreForThoseThatHaveEnded() {
    final Map<Long, ProcessUse.ThreadUse> threads =
        Map.of(1L, new ProcessUse.ThreadUse("main", 100 * MS + 1, 0));
    assertEquals(100 * MS + 1, new ProcessUse(threads, 13).cpuNs());
    assertEquals(100 * MS + 1, new ProcessUse(threads, 9).cpuNs());
    assertEquals(140 * MS, new ProcessUse(threads, 14).cpuNs());
  }

  @Test
  void whatAThreadUsedThatHasEndedIsItsProcesss() throws IOException, InterruptedException {
    final long pid = ProcessHandle.current().pid();
    final ProcessUse before = ProcessUse.of(pid);
    final Thread thread =
        new Thread(
            () -> {
              final long endNs = ownCpuNs() + 300 * MS;
              while (ownCpuNs() < endNs) {
                Thread.onSpinWait();
              }
            });
    thread.start();
    thread.join();
    final ProcessUse used = ProcessUse.of(pid).since(before);
    assertTrue(used.cpuNs() >= 250 * MS, used::toString);
  }

  private static long ownCpuNs() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }
}
