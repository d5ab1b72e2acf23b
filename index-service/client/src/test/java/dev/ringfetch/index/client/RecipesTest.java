package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The recipes of the documentation. */
@Timeout(60)
final class RecipesTest {
  private static final Pattern BLOCK = Pattern.compile("(?s)```java\n(.*?)```");

  @TempDir Path directory;

  @Test
  void theyDoWhatTheySay() throws Exception {
    try (TestServer server = TestServer.start(directory);
        IndexClient client = server.connect()) {
      final Recipes recipes = new Recipes(client);
      assertArrayEquals(new byte[] {1, 2}, recipes.session("a", new byte[] {1, 2}).orElseThrow());
      assertEquals("ada", recipes.jsonSession("a").user());
      assertFalse(recipes.pay());
      client.hash("accounts", Codec.string(), Codec.int64()).put("{shop}.ada", 150L);
      assertTrue(recipes.pay());
      assertFalse(recipes.pay());
      assertEquals("an order", recipes.topic());
      assertTrue(recipes.count("ada", 2));
      assertTrue(recipes.count("ada", 2));
      assertFalse(recipes.count("ada", 2));
      assertTrue(recipes.count("bob", 2));
      final Job job = new Job();
      recipes.lock(job);
      final long fence = job.fence;
      recipes.lock(job);
      assertTrue(job.fence > fence, fence + " " + job.fence);
      assertEquals(Optional.empty(), client.lock("printer").presentHolder());
      recipes.elect("host:1");
      final HashIndex<String, Long> work = client.hash("work", Codec.string(), Codec.int64());
      final long term = work.get("page").orElseThrow();
      try (LockHold early = client.lock("leader of billing").acquire(Duration.ZERO).orElseThrow()) {
        assertTrue(early.fence() > term);
        work.put("page", early.fence() + 1);
        assertThrows(IllegalStateException.class, () -> recipes.write(work, early));
      }
    }
  }

  private static final class Job implements Recipes.Job {
    private long fence;

    @Override
    public void run(long given) {
      fence = given;
    }

    @Override
    public void stop() {
      throw new AssertionError("the lock was lost");
    }
  }

  @Test
  void thePagesShowWhatIsTested() throws Exception {
    final String source =
        Files.readString(
                Path.of("src/test/java", Recipes.class.getName().replace('.', '/') + ".java"))
            .replaceAll("\\s+", " ");
    final List<MatchResult> blocks = new ArrayList<>();
    for (final String page : List.of("recipes.md", "transactions.md", "topics.md")) {
      BLOCK.matcher(Files.readString(Path.of("../../docs", page))).results().forEach(blocks::add);
    }
    assertEquals(8, blocks.size());
    for (final MatchResult block : blocks) {
      final String code = block.group(1).replaceAll("\\s+", " ").strip();
      assertTrue(source.contains(code), code);
    }
  }
}
