package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.client.TopicCommits.Commit;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Topics that are read by calls, and the commits of groups. */
final class TopicTest extends TopicContract {
  private static final TopicPartition FIRST = new TopicPartition(TOPIC, 0);
  private static final TopicPartition SECOND = new TopicPartition(TOPIC, 1);

  @Override
  Access access() {
    return Access.RPC;
  }

  @Test
  void commitsAreKept() {
    final TopicCommits commits = topics.commits();
    assertEquals(Optional.empty(), commits.committed("g", FIRST));
    commits.commit("g", Map.of(FIRST, new Commit(5), SECOND, new Commit(7, "text")));
    commits.commit("other}", Map.of(FIRST, new Commit(0)));
    commits.commit("g", Map.of());
    assertEquals(
        Map.of(FIRST, new Commit(5), SECOND, new Commit(7, "text")),
        commits.committed("g", List.of(FIRST, SECOND, new TopicPartition("b", 1))));
    assertEquals(Optional.of(new Commit(0)), commits.committed("other}", FIRST));
  }

  @Test
  void commitsOfOtherGenerationsAreFenced() {
    final TopicCommits commits = topics.commits();
    assertEquals(0, commits.generation("g"));
    commits.commit("g", 0, Map.of(FIRST, new Commit(1)));
    commits
        .index()
        .transaction()
        .then(operations -> operations.increment(TopicCommits.generationKey("g"), 1))
        .commit();
    assertEquals(1, commits.generation("g"));
    final FencedException fenced =
        assertThrows(
            FencedException.class,
            () -> commits.commit("g", 0, Map.of(FIRST, new Commit(2), SECOND, new Commit(2))));
    assertEquals(1, fenced.generation());
    assertEquals(Status.Code.FAILED_PRECONDITION, fenced.code());
    assertThrows(FencedException.class, () -> commits.commit("g", 2, Map.of(FIRST, new Commit(2))));
    assertEquals(Map.of(FIRST, new Commit(1)), commits.committed("g", List.of(FIRST, SECOND)));
    commits.commit("g", 1, Map.of(FIRST, new Commit(3)));
    assertEquals(Optional.of(new Commit(3)), commits.committed("g", FIRST));
    commits.commit("g", Map.of(FIRST, new Commit(4))); // which asks for no generation
    assertEquals(Optional.of(new Commit(4)), commits.committed("g", FIRST));
  }

  @Test
  void hostileCommitsAreRefused() {
    final TopicCommits commits = topics.commits();
    assertThrows(IllegalArgumentException.class, () -> new Commit(-1));
    assertThrows(IllegalArgumentException.class, () -> Commit.decoded(ByteString.EMPTY));
    assertThrows(IllegalArgumentException.class, () -> commits.generation(""));
    assertThrows(IllegalArgumentException.class, () -> commits.generation("g".repeat(201)));
    final Map<TopicPartition, Commit> many = new HashMap<>();
    for (int i = 0; i <= TopicCommits.MAX_PARTITIONS; i++) {
      many.put(new TopicPartition(TOPIC, i), new Commit(i));
    }
    assertThrows(IllegalArgumentException.class, () -> commits.commit("g", many));
    many.remove(FIRST);
    commits.commit("g", 0, many);
    assertEquals(many, commits.committed("g", new ArrayList<>(many.keySet())));
    assertTrue(client.indexes().contains(TopicCommits.INDEX));
  }
}
