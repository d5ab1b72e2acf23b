package dev.ringfetch.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process that is killed in the midst of long messages leaves no memory behind. */
@Tag("slow")
class BulkKilledTest {
  private static final int ROUNDS = 1;
  private static final int LIMIT_S = 20;
  private static final int MAX_FILES_OF_A_SESSION = 4; // of 4 MiB

  @TempDir(factory = ShmTempDirFactory.class)
  Path directory;

  @Test
  void clientIsKilled() throws Exception {
    try (SystemChild server = BulkChild.server(directory)) {
      final int port = Integer.parseInt(server.readLine());
      try (SystemChild neighbour = BulkChild.client(directory, port)) {
        assertEquals("loaded", neighbour.readLine());
        for (int round = 0; round < ROUNDS; round++) {
          try (SystemChild client = BulkChild.client(directory, port)) {
            assertEquals("loaded", client.readLine());
            assertTrue(client.count("files") > 0, "memory for requests");
            Await.until("memory for answers", LIMIT_S, () -> server.count("files") >= 2);
            client.kill();
            client.awaitEnd();
          }
          Await.until("the session's end", LIMIT_S, () -> server.count("sessions") == 1);
          Await.until(
              "the neighbour's memory alone",
              LIMIT_S,
              () -> server.count("files") <= MAX_FILES_OF_A_SESSION);
          awaitEnds(neighbour);
        }
        assertEquals("[]", neighbour.ask("failures"));
        assertEquals("[]", neighbour.ask("unavailable"));
      }
      Await.until("the neighbour's end", LIMIT_S, () -> server.count("sessions") == 0);
      Await.until("all memory", LIMIT_S, () -> server.count("files") == 0);
    }
    assertNothingStays();
  }

  @Test
  void serverIsKilled() throws Exception {
    try (SystemChild server = BulkChild.server(directory)) {
      try (SystemChild client = BulkChild.client(directory, Integer.parseInt(server.readLine()))) {
        assertEquals("loaded", client.readLine());
        assertTrue(client.count("files") > 0, "memory for requests");
        server.kill();
        server.awaitEnd();
        awaitEnds(client); // each thread's call, and others after it
        Await.until("its memory", LIMIT_S, () -> client.count("files") == 0);
        assertNotEquals("[]", client.ask("unavailable"));
        assertEquals("[]", client.ask("failures"));
      }
    }
    assertNothingStays();
  }

  private static void awaitEnds(SystemChild client) throws Exception {
    final long ended = client.count("ended");
    Await.until("the end of calls", LIMIT_S, () -> client.count("ended") > ended + 5);
  }

  /** The next process sweeps what those that were killed have left. */
  private void assertNothingStays() throws Exception {
    try (SystemChild visitor = SystemChild.visitor(directory)) {
      visitor.awaitEnd();
    }
    assertEquals(List.of(), Tree.files(directory));
  }
}
