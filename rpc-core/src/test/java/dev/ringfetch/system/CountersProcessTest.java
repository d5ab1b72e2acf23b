package dev.ringfetch.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.CounterFiles;
import dev.ringfetch.counters.Snapshot;
import dev.ringfetch.rpc.RingChannel;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Counters of other processes: alive, at their end, killed, and with a file that was cut off. */
@Tag("slow")
class CountersProcessTest {
  private static final int LIMIT_S = 30;
  private static final int CALLS = 50;

  @TempDir(factory = ShmTempDirFactory.class)
  Path directory;

  private Path fileOf(SystemChild child) throws IOException {
    for (final Path file : CounterFiles.find().list(directory)) {
      if (file.getParent().getFileName().toString().startsWith(child.pid() + "-")) {
        return file;
      }
    }
    return null;
  }

  private static long total(Path file, Counter counter) throws IOException {
    return Snapshot.read(file).rows().stream()
        .filter(row -> row.isTotal() && row.kind() == counter.kind())
        .mapToLong(row -> row.value(counter))
        .sum();
  }

  private static void call(SystemChild client, int calls) throws IOException {
    for (int i = 0; i < calls; i++) {
      assertEquals("OK", client.ask("call"));
    }
  }

  @Test
  void anotherProcessReadsThemUntilTheEnd() throws Exception {
    try (SystemChild server = SystemChild.server(directory, 0)) {
      final int port = Integer.parseInt(server.readLine());
      try (SystemChild client = SystemChild.caller(directory, port)) {
        assertEquals("connected", client.readLine());
        call(client, CALLS);
        final long ring = client.count("ring");
        assertTrue(ring >= CALLS, "ring calls");
        final Path clients = fileOf(client);
        final Path servers = fileOf(server);
        Await.until(
            "the client's calls",
            LIMIT_S,
            () -> total(clients, Counter.CHANNEL_CALLS_RING) == ring);
        Await.until(
            "the server's calls", LIMIT_S, () -> total(servers, Counter.SERVER_CALLS_RING) == ring);
        assertEquals(client.pid(), Snapshot.read(clients).pid());
        Await.until(
            "what one has sent, at the other",
            LIMIT_S,
            () ->
                total(clients, Counter.SESSION_BYTES_SENT)
                    == total(servers, Counter.SESSION_BYTES_RECEIVED));
        Await.until(
            "what one has sent, at the other",
            LIMIT_S,
            () ->
                total(clients, Counter.SESSION_FRAMES_RECEIVED)
                    == total(servers, Counter.SESSION_FRAMES_SENT));
        client.signal("TERM"); // it has not closed its channel
        client.awaitEnd();
        assertEquals(null, fileOf(client));
        Await.until(
            "the session's end", LIMIT_S, () -> total(servers, Counter.SERVER_SESSIONS_OPEN) == 0);
        assertEquals(ring, total(servers, Counter.SERVER_CALLS_RING));
        Await.until("its calls", LIMIT_S, () -> total(servers, Counter.SESSION_CALLS) == ring);
      }
      server.signal("TERM");
      server.awaitEnd();
    }
  }

  @Test
  void ofTheKilledTheyAreReadableUntilTheNextSweeps() throws Exception {
    try (SystemChild server = SystemChild.server(directory, 0)) {
      final int port = Integer.parseInt(server.readLine());
      try (SystemChild client = SystemChild.caller(directory, port)) {
        assertEquals("connected", client.readLine());
        call(client, CALLS);
        final long ring = client.count("ring");
        final Path file = fileOf(client);
        Await.until("the calls", LIMIT_S, () -> total(file, Counter.CHANNEL_CALLS_RING) == ring);
        client.kill();
        client.awaitEnd();
        assertEquals(ring, total(file, Counter.CHANNEL_CALLS_RING));
      }
      server.kill();
      server.awaitEnd();
    }
    assertFalse(Tree.files(directory).isEmpty(), "what the killed left");
    final RingChannel next = SystemChild.channelBuilder(directory, 1).build().shutdownNow();
    assertTrue(next.awaitTermination(LIMIT_S, TimeUnit.SECONDS));
    assertEquals(List.of(), Tree.files(directory));
  }

  /** The reader gets an error; the process and its calls go on, and the next snapshot is whole. */
  @Test
  void aFileThatWasCutOffHurtsNobody() throws Exception {
    try (SystemChild server = SystemChild.server(directory, 0)) {
      final int port = Integer.parseInt(server.readLine());
      try (SystemChild client = SystemChild.caller(directory, port)) {
        assertEquals("connected", client.readLine());
        call(client, CALLS);
        for (final Path file : List.of(fileOf(client), fileOf(server))) {
          Await.until("calls", LIMIT_S, () -> total(file, Counter.SESSION_CALLS) > 0);
          try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(0);
          }
          assertThrows(IOException.class, () -> Snapshot.read(file));
        }
        final long before = client.count("ring");
        call(client, CALLS);
        assertEquals(before + CALLS, client.count("ring"), "on the same ring");
        assertEquals(1, server.count("sessions"));
      }
    }
  }
}
