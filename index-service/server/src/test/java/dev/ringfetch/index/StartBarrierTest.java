package dev.ringfetch.index;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.service.ClusterNode;
import dev.ringfetch.index.service.IndexMemory;
import dev.ringfetch.index.service.Indexes;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import io.grpc.Attributes;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.ServerTransportFilter;
import io.grpc.protobuf.services.HealthStatusManager;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class StartBarrierTest {
  private static final int WAIT_MS = 100;

  @Test
  void callsWaitUntilTheIndexesServe() throws Exception {
    final Indexes indexes = Indexes.unrecovered(IndexMemory.ofProcess(64L << 20));
    ClusterNode.alone(indexes);
    final StartBarrier barrier = new StartBarrier();
    final Signal arrived = new Signal();
    final Signal passed = new Signal();
    final Server server =
        IndexServer.addServices(ServerBuilder.forPort(0), indexes, new HealthStatusManager())
            .addTransportFilter(arrived)
            .addTransportFilter(barrier)
            .addTransportFilter(passed)
            .build()
            .start();
    final ManagedChannel channel =
        ManagedChannelBuilder.forAddress("localhost", server.getPort()).usePlaintext().build();
    try {
      final Future<GetResponse> answer =
          IndexGrpc.newFutureStub(channel)
              .get(GetRequest.newBuilder().setKey(ByteString.copyFromUtf8("key")).build());
      assertTrue(arrived.latch.await(30, TimeUnit.SECONDS));
      assertFalse(passed.latch.await(WAIT_MS, TimeUnit.MILLISECONDS));
      assertFalse(answer.isDone(), "answered before the gate has moved");
      indexes.recoverAndServe();
      barrier.open();
      assertFalse(answer.get(30, TimeUnit.SECONDS).hasEntry());
    } finally {
      barrier.open();
      channel.shutdownNow();
      server.shutdownNow();
      indexes.close();
    }
  }

  /** Tells that a connection has come that far. */
  private static final class Signal extends ServerTransportFilter {
    private final CountDownLatch latch = new CountDownLatch(1);

    @Override
    public Attributes transportReady(Attributes attributes) {
      latch.countDown();
      return attributes;
    }
  }
}
