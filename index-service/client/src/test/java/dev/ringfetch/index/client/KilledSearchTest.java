package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Direct searches of a server process that is killed under them, and started again on its data: a
 * search goes on in the memory of the killed one, and then by a call to the next one.
 */
@Timeout(120)
final class KilledSearchTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 76);
  private static final int ENTRIES = 6_000;
  private static final int KILLS = Integer.getInteger("ringfetch.kills", 2);

  private volatile boolean isDirect; // the last read of a key

  @TempDir Path directory;
  @TempDir Path data;

  private ServerProcess start(int port) throws Exception {
    return ServerProcess.startOnDisk(directory, data, port);
  }

  @Test
  void noIdIsMissingAndNoneComesTwice() throws Exception {
    System.out.println("ringfetch.seed=" + SEED);
    final Random random = new Random(SEED);
    ServerProcess server = start(0);
    try (IndexClient client =
        IndexClient.builder()
            .target("localhost:" + server.port())
            .shmDirectory(directory)
            .deadline(Duration.ofSeconds(30))
            .metrics(
                (operation, index, route, code, durationNs) ->
                    isDirect = operation == Operation.GET ? route == Access.DIRECT : isDirect)
            .build()) {
      final SpatialIndex<String, Long> places =
          client.spatial("places", Codec.string(), Codec.int64()).access(Access.DIRECT);
      final Map<String, Located<Long>> all = new HashMap<>();
      for (long i = 0; i < ENTRIES; i++) {
        all.put("p" + i, new Located<>(Box.of(random.nextDouble(), random.nextDouble()), i));
      }
      places.putAll(all);
      for (int kill = 0; kill < KILLS; kill++) {
        awaitGrant(places);
        final Set<String> ids = new HashSet<>();
        final int before = 1 + random.nextInt(ENTRIES / 2);
        final int behind = before + 1 + random.nextInt(ENTRIES / 2 - 1);
        final var found = places.intersecting(new Box(0, 0, 1, 1)).iterator();
        while (found.hasNext()) {
          assertTrue(ids.add(found.next().key()), "twice");
          if (ids.size() == before) {
            server.kill();
          } else if (ids.size() == behind) {
            server = start(server.port());
          }
        }
        assertEquals(all.keySet(), ids, "before=" + before + " behind=" + behind);
        assertEquals(10, places.nearest(new Point(0.5, 0.5), 10).size());
      }
    } finally {
      server.close();
    }
  }

  /** A search that goes by a call ends with the server, once a page has come. */
  private void awaitGrant(SpatialIndex<String, Long> places) throws InterruptedException {
    final long startNs = System.nanoTime();
    isDirect = false;
    while (!isDirect) {
      assertTrue(System.nanoTime() - startNs < Duration.ofSeconds(60).toNanos(), "no grant");
      Thread.sleep(10);
      places.get("p0");
    }
  }
}
