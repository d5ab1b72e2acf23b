package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.v1.Durability;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A topic of a server process that is killed while a program appends, and started again on its
 * data. {@code -Dringfetch.kills=N} kills it N times.
 */
@Tag("slow")
@Timeout(300)
final class KilledTopicTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 1);
  private static final int KILLS = Integer.getInteger("ringfetch.kills", 3);
  private static final long LIMIT = 64 << 10;

  @TempDir Path directory;
  @TempDir Path data;

  private ServerProcess start(int port) throws Exception {
    return ServerProcess.startOnDisk(directory, data, port);
  }

  /** Two partitions: one keeps all records, and one the newest of them. */
  @Test
  void acknowledgedRecordsAreThereOnce() throws Exception {
    System.out.println("seed=" + SEED);
    final Random random = new Random(SEED);
    ServerProcess server = start(0);
    try (IndexClient client =
        IndexClient.builder()
            .target("localhost:" + server.port())
            .shmDirectory(directory)
            .deadline(Duration.ofSeconds(60))
            .build()) {
      final Topics topics = client.topics();
      final TopicOptions disk = TopicOptions.partitions(1).durability(Durability.DISK);
      topics.create("all", disk);
      topics.create("newest", disk.retentionBytes(LIMIT));
      final TopicAppender all = new TopicAppender(topics.log("all", 0));
      final TopicAppender newest = new TopicAppender(topics.log("newest", 0));
      try (all;
          newest) {
        for (int i = 0; i < KILLS; i++) {
          all.await(500);
          newest.await(1_500);
          Thread.sleep(random.nextInt(30));
          server.kill();
          server = start(server.port());
        }
        all.await(100);
        newest.await(100);
      }
      all.check(TopicAppender.readAll(topics.log("all", 0)), true);
      final List<TopicRecord> kept =
          TopicAppender.readAll(topics.log("newest", 0).access(Access.DIRECT));
      newest.check(kept, false);
      assertTrue(kept.size() * 32L <= LIMIT && kept.size() > 500, () -> "size=" + kept.size());
    } finally {
      server.close();
    }
  }
}
