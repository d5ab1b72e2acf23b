package dev.ringfetch.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Registered memory that is taken away under a running transfer costs the session that it belongs
 * to: no JVM, no wrong byte, and nothing of others.
 */
@Tag("slow")
class BulkTruncatedTest {
  private static final int ROUNDS = 2;
  private static final int LIMIT_S = 20;

  @TempDir(factory = ShmTempDirFactory.class)
  Path directory;

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void onlyItsSessionEnds(boolean isClients) throws Exception {
    try (SystemChild server = BulkChild.server(directory)) {
      final int port = Integer.parseInt(server.readLine());
      try (SystemChild neighbour = BulkChild.client(directory, port)) {
        assertEquals("loaded", neighbour.readLine());
        assertFalse(BulkChild.files(directory, server.pid()).isEmpty(), "memory for answers");
        try (SystemChild client = BulkChild.client(directory, port)) {
          assertEquals("loaded", client.readLine());
          final SystemChild owner = isClients ? client : server;
          for (int round = 0; round < ROUNDS; round++) {
            truncate(owner, client, neighbour);
          }
          assertEquals("[]", client.ask("failures"));
        }
        Await.until("the client's end", LIMIT_S, () -> server.count("sessions") == 1);
        awaitCalls(neighbour);
        assertEquals("[]", neighbour.ask("failures"));
        assertEquals("[]", neighbour.ask("unavailable"));
      }
    }
    assertFalse(Files.exists(BulkChild.crashReport(directory)), "a JVM crashed");
  }

  private void truncate(SystemChild owner, SystemChild client, SystemChild neighbour)
      throws Exception {
    Await.until("memory", LIMIT_S, () -> !filesOf(owner, client).isEmpty());
    final Path file = filesOf(owner, client).get(0);
    final String name = Files.readSymbolicLink(file).toString();
    BulkChild.truncate(file);
    Await.until("the session's end", LIMIT_S, () -> !BulkChild.file(file).equals(name));
    awaitCalls(client); // on another session
    awaitCalls(neighbour);
  }

  /** Of the client's session: an owner, server or client, may take more for the neighbour's. */
  private List<Path> filesOf(SystemChild owner, SystemChild client) throws Exception {
    final List<Path> files = new ArrayList<>();
    for (final Path file : BulkChild.files(directory, owner.pid())) {
      if (BulkChild.isMapped(file, client.pid())) {
        files.add(file);
      }
    }
    return files;
  }

  private static void awaitCalls(SystemChild client) throws Exception {
    final long answered = client.count("answered");
    Await.until("calls", LIMIT_S, () -> client.count("answered") > answered + 50);
  }
}
