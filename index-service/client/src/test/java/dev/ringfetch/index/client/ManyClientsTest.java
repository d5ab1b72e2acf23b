package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Many clients, one after another, leave nothing behind. */
final class ManyClientsTest {
  private static final int WARM_UP = 20;

  /** Those among them that are the only client of the process. */
  private static final int ALONE = 40;

  /** What may come and go by itself, of the JVM and of netty's pool. */
  private static final int TOLERANCE = 8;

  @TempDir Path directory;

  private static int descriptors() {
    final String[] names = new File("/proc/self/fd").list();
    return names == null ? 0 : names.length;
  }

  private static Map<String, Long> threadNames() {
    return Thread.getAllStackTraces().keySet().stream()
        .collect(
            Collectors.groupingBy(
                thread -> thread.getName().replaceAll("\\d+", "N"),
                TreeMap::new,
                Collectors.counting()));
  }

  private static int mappings(Path directory) throws Exception {
    int count = 0;
    for (final String line : Files.readAllLines(Path.of("/proc/self/maps"))) {
      count += line.contains(directory.toString()) ? 1 : 0;
    }
    return count;
  }

  private static void useOne(TestServer server, boolean directly) {
    try (IndexClient client = server.connect()) {
      final HashIndex<Long, Long> index = client.hash("a", Codec.int64(), Codec.int64());
      index.put(1L, 2L);
      assertEquals(2L, index.get(1L).orElseThrow());
      if (directly) {
        assertEquals(2L, index.access(Access.DIRECT).get(1L).orElseThrow());
      }
    }
  }

  @Tag("slow")
  @Test
  void hundredsLeaveNoThreadAndNoDescriptor() throws Exception {
    run(200);
  }

  @Test
  @Tag("slow")
  void aThousandLeaveNoThreadAndNoDescriptor() throws Exception {
    run(1_000);
  }

  private void run(int clients) throws Exception {
    try (TestServer server = TestServer.start(directory)) {
      for (int i = 0; i < WARM_UP; i++) {
        useOne(server, true);
      }
      final int threads = ManagementFactory.getThreadMXBean().getThreadCount();
      final int descriptors = descriptors();
      final int mappings = mappings(directory);
      for (int i = 0; i < ALONE; i++) {
        useOne(server, i % 10 == 0);
      }
      try (IndexClient other = server.connect()) { // with which the rest shares its fabric
        other.indexes();
        for (int i = ALONE; i < clients; i++) {
          useOne(server, i % 10 == 0);
        }
      }
      final long limitNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
      while (ManagementFactory.getThreadMXBean().getThreadCount() > threads + TOLERANCE
          || descriptors() > descriptors + TOLERANCE
          || mappings(directory) > mappings + TOLERANCE) {
        assertTrue(
            System.nanoTime() - limitNs < 0,
            () ->
                "threads before="
                    + threads
                    + " now="
                    + threadNames()
                    + ", descriptors before="
                    + descriptors
                    + " now="
                    + descriptors());
        System.gc(); // a thread of each fabric ends when that is collected
        TimeUnit.MILLISECONDS.sleep(10);
      }
    }
  }
}
