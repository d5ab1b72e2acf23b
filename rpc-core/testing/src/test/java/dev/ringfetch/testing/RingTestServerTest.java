package dev.ringfetch.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.protobuf.services.HealthStatusManager;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RingTestServerTest {
  private static final int LIMIT_S = 30;

  private final HealthStatusManager health = new HealthStatusManager();

  private static ServingStatus check(RingTestServer server) {
    return HealthGrpc.newBlockingStub(server.channel())
        .withDeadlineAfter(LIMIT_S, TimeUnit.SECONDS)
        .check(HealthCheckRequest.getDefaultInstance())
        .getStatus();
  }

  /** A stream that lasts until it fails; returns its status. */
  private static CompletableFuture<Status> watch(RingTestServer server) throws Exception {
    final CompletableFuture<Status> ended = new CompletableFuture<>();
    final CountDownLatch begun = new CountDownLatch(1);
    HealthGrpc.newStub(server.channel())
        .watch(
            HealthCheckRequest.getDefaultInstance(),
            new StreamObserver<>() {
              @Override
              public void onNext(HealthCheckResponse response) {
                begun.countDown();
              }

              @Override
              public void onError(Throwable t) {
                ended.complete(Status.fromThrowable(t));
              }

              @Override
              public void onCompleted() {
                ended.complete(Status.OK);
              }
            });
    assertTrue(begun.await(LIMIT_S, TimeUnit.SECONDS));
    return ended;
  }

  private static Status.Code codeOf(CompletableFuture<Status> ended) throws Exception {
    return ended.get(LIMIT_S, TimeUnit.SECONDS).getCode();
  }

  @Test
  void theFirstCallGoesOverARing() throws Exception {
    try (RingTestServer server = RingTestServer.start(health.getHealthService())) {
      assertEquals(ServingStatus.SERVING, check(server));
      assertEquals(1, server.channel().ringCalls());
      assertEquals(0, server.channel().grpcCalls());
    }
  }

  @Test
  void aRingIsCut() throws Exception {
    try (RingTestServer server = RingTestServer.start(health.getHealthService())) {
      final CompletableFuture<Status> watch = watch(server);
      server.cutRing();
      assertEquals(Status.Code.UNAVAILABLE, codeOf(watch));
      assertEquals(ServingStatus.SERVING, check(server));
      server.awaitRing();
      final long before = server.channel().ringCalls();
      assertEquals(ServingStatus.SERVING, check(server));
      assertEquals(before + 1, server.channel().ringCalls());
    }
  }

  @Test
  void ringsAreRefusedAndOffered() throws Exception {
    try (RingTestServer server = RingTestServer.start(health.getHealthService())) {
      final int port = server.port();
      server.refuseRings();
      server.refuseRings();
      assertEquals(ServingStatus.SERVING, check(server));
      assertEquals(1, server.channel().grpcCalls());
      server.offerRings();
      assertEquals(ServingStatus.SERVING, check(server));
      assertEquals(1, server.channel().ringCalls());
      assertEquals(port, server.port());
    }
  }

  @Test
  void aServerIsKilledAndComesBack() throws Exception {
    try (RingTestServer server = RingTestServer.start(health.getHealthService())) {
      final CompletableFuture<Status> watch = watch(server);
      server.kill();
      assertFalse(watch.get(LIMIT_S, TimeUnit.SECONDS).isOk());
      final StatusRuntimeException dead =
          assertThrows(StatusRuntimeException.class, () -> check(server));
      assertEquals(Status.Code.UNAVAILABLE, dead.getStatus().getCode());
      server.offerRings();
      assertEquals(ServingStatus.SERVING, check(server));
    }
  }

  @Test
  void optionsHold() throws Exception {
    try (RingTestServer server =
        RingTestServer.start(
            builder -> builder.addService(health.getHealthService()),
            builder -> builder.requireFabric())) {
      server.refuseRings();
      final StatusRuntimeException none =
          assertThrows(StatusRuntimeException.class, () -> check(server));
      assertEquals(Status.Code.UNAVAILABLE, none.getStatus().getCode());
    }
  }
}
