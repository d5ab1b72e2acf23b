package dev.ringfetch.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.hunt.Rounds;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A peer that takes its memory away loses its session; clients with another one notice nothing. */
@Tag("slow")
class TruncatedTest {
  private static final int ROUNDS = Rounds.of(2, 2);
  private static final int LIMIT_S = 20;

  @TempDir(factory = ShmTempDirFactory.class)
  Path directory;

  @ParameterizedTest
  @CsvSource({"false", "true"})
  void theNeighbourIsNotDisturbed(boolean direct) throws Exception {
    final RingServerBuilder builder =
        RingServerBuilder.forPort(0)
            .shmDirectory(directory)
            .pollers(1) // of both sessions
            .addService(new HashIndex());
    final RingServer server = (direct ? builder.directExecutor() : builder).build().start();
    try (SystemChild neighbour = SystemChild.client(directory, server.getPort(), 0)) {
      assertEquals("loaded", neighbour.readLine());
      final Map<String, Path> files = sessionFiles();
      for (int round = 0; round < ROUNDS; round++) {
        try (SystemChild client = SystemChild.client(directory, server.getPort(), 0)) {
          assertEquals("loaded", client.readLine());
          final Map<String, Path> its = sessionFiles();
          its.keySet().removeAll(files.keySet());
          assertEquals(1, its.size(), its::toString);
          truncate(its.values().iterator().next());
          Await.until(
              "the session's end",
              LIMIT_S,
              () -> Collections.disjoint(sessionFiles().keySet(), its.keySet()));
          awaitCalls(neighbour);
        }
        Await.until("the client's end", LIMIT_S, () -> server.sessionCount() == 1);
        awaitCalls(neighbour);
        assertEquals(files, sessionFiles()); // still the session that it had
      }
      assertEquals(0, neighbour.count("failures"));
      assertTrue(neighbour.count("ring") > neighbour.count("grpc"));
      final RingChannel next = SystemChild.channelBuilder(directory, server.getPort()).build();
      SystemChild.awaitRing(next); // the poller serves the new client
      next.shutdownNow();
      server.shutdownNow();
      assertTrue(server.awaitTermination(LIMIT_S, TimeUnit.SECONDS));
    } finally {
      server.shutdownNow();
    }
  }

  private static void awaitCalls(SystemChild client) throws Exception {
    final long answered = client.count("answered");
    Await.until("calls", LIMIT_S, () -> client.count("answered") > answered + 1_000);
  }

  /** The files of sessions that this process, the server's, has open: name and descriptor. */
  private Map<String, Path> sessionFiles() throws IOException {
    final Map<String, Path> files = new HashMap<>();
    try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
      for (final Path descriptor : descriptors.toList()) {
        final String file = fileOf(descriptor);
        if (file.startsWith(directory.toString()) && file.contains("session-")) {
          files.put(file, descriptor);
        }
      }
    }
    return files;
  }

  private static String fileOf(Path descriptor) throws IOException {
    try {
      return Files.readSymbolicLink(descriptor).toString();
    } catch (NoSuchFileException e) {
      return ""; // closed since it was listed
    }
  }

  private static void truncate(Path descriptor) throws IOException {
    try (FileChannel file = FileChannel.open(descriptor, StandardOpenOption.WRITE)) {
      file.truncate(0);
    }
  }
}
