package dev.ringfetch.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.rpc.Ports;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A process runs out of file descriptors: a client with a ring notices nothing, a client that wants
 * one goes over gRPC with the reason until there are descriptors again, and nothing spins or leaks
 * meanwhile.
 */
@Tag("slow")
class DescriptorsTest {
  private static final int LIMIT = 256;
  private static final int LIMIT_S = 30;
  private static final int SETTLED_MS = 300;
  private static final String REASON = "Too many open files";

  @TempDir(factory = ShmTempDirFactory.class)
  Path directory;

  /** No file for a session can be made. */
  @Test
  void aServerWithoutADescriptorForTheFile() throws Exception {
    try (SystemChild server = SystemChild.serverWithDescriptors(LIMIT, directory)) {
      final int port = Integer.parseInt(server.readLine());
      final RingChannel first = SystemChild.channelBuilder(directory, port).requireFabric().build();
      final RingChannel second = SystemChild.channelBuilder(directory, port).build();
      try (Load load = new Load(first)) {
        SystemChild.awaitRing(first);
        load.start(1);
        leave(server, 1); // for the connection
        final long sessions = server.count("sessions");
        for (int i = 0; i < 20; i++) {
          assertTrue(isAnswered(second));
        }
        leave(server, 0);
        Await.until(
            "a reason",
            LIMIT_S,
            () -> isAnswered(second) && second.transport().reason().contains(REASON));
        assertFalse(second.transport().isRing());
        awaitCalls(load);
        assertEquals(sessions, server.count("sessions"));
        server.ask("release");
        SystemChild.awaitRing(second);
        assertEquals(2, server.count("sessions"));
        load.stop(LIMIT_S);
        assertEquals(0, load.unavailable());
        assertEquals(List.of(), load.failures());
        assertEquals(0, first.grpcCalls());
      } finally {
        first.shutdownNow();
        second.shutdownNow();
      }
      Await.until("the sessions' end", LIMIT_S, () -> server.count("sessions") == 0);
    }
  }

  /** The file can be made, but nobody can be let in at the socket, where they queue up. */
  @Test
  void aServerWithoutADescriptorForTheSocket() throws Exception {
    try (SystemChild server = SystemChild.serverWithDescriptors(LIMIT, directory)) {
      final int port = Integer.parseInt(server.readLine());
      final RingChannel first = SystemChild.channelBuilder(directory, port).requireFabric().build();
      final RingChannel second = SystemChild.channelBuilder(directory, port).build();
      try {
        SystemChild.awaitRing(first);
        final int before = Descriptors.of(server.pid()).size();
        leave(server, 1); // for the connection
        // An attempt that is under way would take the file's, and find another for its socket.
        Await.until(
            "no file",
            LIMIT_S,
            () -> isAnswered(second) && second.transport().reason().contains(REASON));
        leave(server, 1); // for the file
        final Cost cost = Cost.of(server);
        final long startNs = System.nanoTime();
        Await.until(
            "a reason",
            LIMIT_S,
            () ->
                isAnswered(second)
                    && second.transport().reason().contains("no answer from the peer in time"));
        final long ms = Await.millisSince(startNs);
        System.out.printf(
            "no descriptor to accept: %d ms, %d wake-ups of the server's poller, %s%n",
            ms, Cost.of(server).switches() - cost.switches(), second.transport());
        assertTrue(ms > 1_000, "time to look for a spin");
        // A poller that spins does not sleep, and one that is woken for nothing sleeps all the
        // time: it sleeps some ten times a second.
        final long sleeps = Cost.of(server).switches() - cost.switches();
        assertTrue(sleeps >= ms / 1_000 && sleeps < ms / 10, () -> "sleeps=" + sleeps);
        assertTrue(isAnswered(first));
        assertEquals(0, first.grpcCalls());
        server.ask("release");
        SystemChild.awaitRing(second);
        second.shutdownNow();
        Await.until("the session's end", LIMIT_S, () -> server.count("sessions") == 1);
        Await.until(
            "the descriptors of before",
            LIMIT_S,
            () -> Descriptors.of(server.pid()).size() <= before);
      } finally {
        first.shutdownNow();
        second.shutdownNow();
      }
    }
  }

  /** The client's ring goes on; when it is lost, only the two descriptors of it are free. */
  @Test
  void aClientWithoutDescriptors() throws Exception {
    final int port = Ports.pick();
    final RingServer server = startServer(port);
    RingServer next = null;
    try (SystemChild client = SystemChild.callerWithDescriptors(LIMIT, directory, port)) {
      assertEquals("connected", client.readLine());
      final int open = Descriptors.of(client.pid()).size();
      final long before = client.count("ring");
      leave(client, 0);
      for (int i = 0; i < 100; i++) {
        assertEquals("OK", client.ask("call"));
      }
      assertEquals(before + 100, client.count("ring"));
      assertEquals(1, server.sessionCount());
      server.shutdownNow();
      assertTrue(server.awaitTermination(LIMIT_S, TimeUnit.SECONDS));
      next = startServer(port);
      Await.until(
          "a reason",
          LIMIT_S,
          () -> "OK".equals(client.ask("call")) && client.ask("transport").contains(REASON));
      client.ask("release");
      Await.until(
          "a ring",
          LIMIT_S,
          () -> "OK".equals(client.ask("call")) && client.ask("transport").contains("name=shm"));
      assertEquals(1, next.sessionCount());
      Await.until(
          "the descriptors of before", LIMIT_S, () -> Descriptors.of(client.pid()).size() <= open);
    } finally {
      server.shutdownNow();
      if (next != null) {
        next.shutdownNow();
        next.awaitTermination(LIMIT_S, TimeUnit.SECONDS);
      }
    }
  }

  private RingServer startServer(int port) throws IOException {
    return RingServerBuilder.forPort(port)
        .shmDirectory(directory)
        .addService(new HashIndex())
        .build()
        .start();
  }

  /** Uses up all descriptors but these few, those too that were in use for a moment. */
  private static void leave(SystemChild child, int descriptors) throws Exception {
    final long[] last = {0, 0};
    Await.until(
        "no more descriptors",
        LIMIT_S,
        () -> {
          final long held = child.count("hold " + descriptors);
          if (held != last[0]) {
            last[0] = held;
            last[1] = System.nanoTime();
          }
          return Await.millisSince(last[1]) > SETTLED_MS;
        });
  }

  private static boolean isAnswered(RingChannel channel) {
    final GetRequest request = HashIndex.request(7);
    return HashIndex.isAnswer(
        request,
        IndexGrpc.newBlockingStub(channel)
            .withDeadlineAfter(LIMIT_S, TimeUnit.SECONDS)
            .get(request));
  }

  private static void awaitCalls(Load load) throws Exception {
    final long answered = load.answered();
    Await.until("calls", LIMIT_S, () -> load.answered() > answered + 1_000);
  }
}
