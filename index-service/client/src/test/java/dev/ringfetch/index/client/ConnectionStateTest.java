package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.Status;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a listener is told of the connection of a client. */
@Timeout(60)
final class ConnectionStateTest {
  private final Queue<Runnable> tasks = new ArrayDeque<>();
  private final List<String> told = new ArrayList<>();
  private Runnable within = () -> {};

  private final ConnectionState state =
      new ConnectionState(
          new ConnectionListener() {
            @Override
            public void onConnected() {
              told.add("connected");
              within.run();
            }

            @Override
            public void onLost(Status reason) {
              told.add(reason.getDescription());
            }
          },
          new ClientThreads(tasks::add));

  private void runAll() {
    while (!tasks.isEmpty()) {
      tasks.remove().run();
    }
  }

  private static Status lost(String text) {
    return Status.UNAVAILABLE.withDescription(text);
  }

  @Test
  void eachChangeIsToldOnce() {
    state.lost(lost("never reached")); // no change
    runAll();
    assertEquals(List.of(), told);
    state.answered();
    state.answered();
    assertTrue(state.isConnected());
    runAll();
    state.lost(lost("first"));
    state.lost(lost("second"));
    runAll();
    state.answered();
    runAll();
    assertEquals(List.of("connected", "first", "connected"), told);
  }

  @Test
  void aSlowListenerGetsTheNewestChange() {
    state.answered();
    state.lost(lost("short"));
    state.answered();
    runAll();
    assertEquals(List.of("connected"), told);
    within =
        () -> {
          within = () -> {};
          state.answered();
          state.lost(lost("meanwhile"));
          runAll(); // another thread does not call it beside the first one
          assertEquals("connected", told.get(told.size() - 1));
        };
    state.lost(lost("again"));
    runAll();
    state.answered();
    runAll();
    assertEquals(List.of("connected", "again", "connected", "meanwhile"), told);
  }

  @Test
  void anApplicationLearnsOfTheEndOfItsServerAndOfTheNextOne(@TempDir Path directory)
      throws Exception {
    final BlockingQueue<String> events = new LinkedBlockingQueue<>();
    final ConnectionListener listener =
        new ConnectionListener() {
          @Override
          public void onConnected() {
            events.add("connected");
          }

          @Override
          public void onLost(Status reason) {
            events.add(reason.getCode().toString());
          }
        };
    final TestServer server = TestServer.start(directory);
    try (IndexClient client =
        server.builder().deadline(Duration.ofMillis(500)).connectionListener(listener).build()) {
      final HashIndex<String, Long> index = client.hash("a", Codec.string(), Codec.int64());
      index.deadline(Duration.ofSeconds(20)).put("a", 1L);
      assertEquals("connected", events.poll(20, TimeUnit.SECONDS));
      server.close();
      assertThrows(IndexException.class, () -> index.get("a"));
      assertEquals("UNAVAILABLE", events.poll(20, TimeUnit.SECONDS));
      assertEquals(0, events.size());
    }
  }
}
