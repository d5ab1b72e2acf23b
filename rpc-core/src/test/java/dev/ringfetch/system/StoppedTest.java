package dev.ringfetch.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.ListenableFuture;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A peer that does not run for a while is not dead: deadlines pass, then the session goes on. */
@Tag("slow")
class StoppedTest {
  private static final Duration DEADLINE = Duration.ofMillis(300);
  private static final int LIMIT_S = 10;

  @TempDir(factory = ShmTempDirFactory.class)
  Path directory;

  @Test
  void deadlinesPassAtTheClientOfAStoppedServer() throws Exception {
    try (SystemChild server = SystemChild.server(directory, 0)) {
      final RingChannel channel =
          SystemChild.channelBuilder(directory, Integer.parseInt(server.readLine()))
              .requireFabric()
              .build();
      try {
        SystemChild.awaitRing(channel);
        final String session = channel.transport().reason();
        final long before = channel.ringCalls();
        server.signal("STOP");
        final IndexGrpc.IndexBlockingStub stub = IndexGrpc.newBlockingStub(channel);
        final GetRequest request = HashIndex.request(1);
        final List<ListenableFuture<GetResponse>> late = new ArrayList<>();
        final ListenableFuture<GetResponse> patient = IndexGrpc.newFutureStub(channel).get(request);
        final long startNs = System.nanoTime();
        for (int i = 0; i < 10; i++) {
          late.add(IndexGrpc.newFutureStub(channel).withDeadlineAfter(DEADLINE).get(request));
        }
        assertLate(
            assertThrows(
                StatusRuntimeException.class, () -> stub.withDeadlineAfter(DEADLINE).get(request)));
        for (final ListenableFuture<GetResponse> call : late) {
          assertLate(
              assertThrows(ExecutionException.class, () -> call.get(LIMIT_S, TimeUnit.SECONDS)));
        }
        System.out.printf(
            "server stopped: deadlines of %d ms passed after %d ms%n",
            DEADLINE.toMillis(), Await.millisSince(startNs));
        server.signal("CONT");
        final long continuedNs = System.nanoTime();
        assertTrue(HashIndex.isAnswer(request, patient.get(LIMIT_S, TimeUnit.SECONDS)));
        for (int i = 0; i < 1_000; i++) {
          assertTrue(HashIndex.isAnswer(HashIndex.request(i), stub.get(HashIndex.request(i))));
        }
        System.out.printf(
            "server stopped: 1000 calls within %d ms of its return%n",
            Await.millisSince(continuedNs));
        assertEquals(session, channel.transport().reason(), "the session");
        assertEquals(before + 12 + 1_000, channel.ringCalls());
        assertEquals(0, channel.grpcCalls());
        assertEquals(1, server.count("sessions"));
      } finally {
        server.signal("CONT");
        channel.shutdownNow();
      }
    }
  }

  private static void assertLate(Throwable t) {
    assertEquals(Status.Code.DEADLINE_EXCEEDED, Status.fromThrowable(t).getCode());
  }

  @Test
  void deadlinesPassAtTheServerOfAStoppedClient() throws Exception {
    final HashIndex index = new HashIndex();
    final RingServer server =
        RingServerBuilder.forPort(0).shmDirectory(directory).addService(index).build().start();
    try (SystemChild client = SystemChild.caller(directory, server.getPort())) {
      assertEquals("connected", client.readLine());
      assertEquals("OK", client.ask("call"));
      final long before = client.count("ring");
      assertTrue(before > 0, "ring calls");
      client.tell("hang 1000");
      Await.until("the call", LIMIT_S, () -> index.hanging() == 1);
      client.signal("STOP");
      final long waitedMs =
          Await.until("the deadline at the server", LIMIT_S, () -> index.cancelled() == 1);
      System.out.printf("client stopped: the handler was cancelled after %d ms%n", waitedMs);
      assertEquals(1, server.sessionCount(), "a stopped client is not dead");
      client.signal("CONT");
      assertEquals("DEADLINE_EXCEEDED", client.readLine());
      for (int i = 0; i < 100; i++) {
        assertEquals("OK", client.ask("call"));
      }
      assertEquals(before + 101, client.count("ring"));
      assertEquals(1, server.sessionCount());
    } finally {
      server.shutdownNow();
      server.awaitTermination(LIMIT_S, TimeUnit.SECONDS);
    }
  }
}
