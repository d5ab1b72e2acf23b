package dev.ringfetch.index.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.client.IndexClient;
import dev.ringfetch.index.client.TopicCommits.Commit;
import dev.ringfetch.index.client.TopicPartition;
import dev.ringfetch.index.client.Topics;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The commands of topics. */
@Timeout(300)
final class TopicCommandTest {
  @TempDir Path directory;

  @Test
  void topicsAreCreatedListedDescribedAndDeleted() throws IOException {
    try (TestServer server = TestServer.start(directory, 64L << 20)) {
      server.run("topic", "list").says("no topic: 'index topic create TOPIC' makes one");
      server
          .run("topic", "create", "orders", "--partitions=2", "--retention=7d")
          .prints("created topic 'orders'");
      server
          .run("topic", "create", "orders", "--partitions=2", "--retention=7d")
          .prints("there already: topic 'orders'");
      server
          .run("topic", "create", "orders", "--partitions=2")
          .fails(ExitCode.FAILED, "retention_ms=604800000");
      try (IndexClient client = IndexClient.connect(server.target())) {
        final Topics topics = client.topics();
        final ByteString record = ByteString.copyFromUtf8("record");
        final List<Long> offsets =
            topics.log("orders", 1).append(List.of(record, record, record)).join().offsets();
        topics
            .commits()
            .commit("g", Map.of(new TopicPartition("orders", 1), new Commit(offsets.get(0) + 1)));
        server
            .run("topic", "describe", "orders", "--json")
            .prints(
                "{\"topic\":\"orders\",\"partitions\":2,\"records\":3,\"durability\":\"memory\","
                    + "\"retention_ms\":604800000,\"retention_bytes\":0}",
                "{\"partition\":0,\"records\":0,\"first\":1,\"end\":1}",
                "{\"partition\":1,\"records\":3,\"first\":"
                    + offsets.get(0)
                    + ",\"end\":"
                    + (offsets.get(2) + 1)
                    + "}");
        server
            .run("topic", "lag", "--group=g", "--json")
            .prints(
                "{\"topic\":\"orders\",\"partition\":1,\"committed\":"
                    + (offsets.get(0) + 1)
                    + ",\"end\":"
                    + (offsets.get(2) + 1)
                    + ",\"lag\":2}");
      }
      final String table = server.run("topic", "list").done();
      assertTrue(table.startsWith("TOPIC   PARTITIONS  RECORDS  DURABILITY"), table);
      assertEquals(2, table.lines().count());
      server.run("topic", "lag", "--group=none").fails(ExitCode.NOT_FOUND, "committed nothing");
      server
          .run("drop", "topic.orders.1", "--yes")
          .fails(ExitCode.MISUSE, "partition of topic 'orders'");
      server.run("topic", "delete", "orders").prints("deleted topic 'orders'");
      server.run("topic", "delete", "orders").fails(ExitCode.NOT_FOUND, "called 'orders'");
      server.run("topic", "describe", "orders").fails(ExitCode.NOT_FOUND, "called 'orders'");
    }
  }

  @Test
  void wrongOperandsAreMisuse() {
    final Invocation program = new Invocation("localhost:1");
    program.run("topic").fails(ExitCode.MISUSE, "a command is missing: create, list");
    program.run("topic", "create", "a/b").fails(ExitCode.MISUSE, "topic=a/b is not made of");
    program
        .run("topic", "create", "a", "--partitions=513")
        .fails(ExitCode.MISUSE, "partitions=513 is not from 1 to 512");
    program
        .run("topic", "create", "a", "--retention=3651d")
        .fails(ExitCode.MISUSE, "retention=PT87624H is neither 0 nor from a millisecond to 3650");
    program.run("topic", "lag").fails(ExitCode.MISUSE, "--group");
    program.run("topic", "lag", "--group=").fails(ExitCode.MISUSE, "length=0 of a group");
  }

  @ParameterizedTest
  @ValueSource(strings = {"create", "list", "describe", "delete", "lag"})
  void helpFitsAScreen(String command) {
    final String help = new Invocation("localhost:1").run("topic", command, "--help").done();
    assertTrue(help.lines().count() <= 24, help);
    help.lines().forEach(line -> assertTrue(line.length() <= 80, line));
    assertTrue(help.startsWith("Usage: index topic " + command), help);
  }
}
