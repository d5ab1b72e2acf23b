package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.CallCredentials;
import io.grpc.CallOptions;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Call credentials of a channel's sessions: which calls ask them, and what the server sees. */
@Timeout(60)
final class SessionCredentialsTest extends RingFixture {
  private static final Metadata.Key<String> AUTHORIZATION = Bytes.ascii("authorization");

  private final AtomicInteger asked = new AtomicInteger();
  private final Served.Handler handler = Served.digesting();

  private CallCredentials answering(Status status) {
    return new CallCredentials() {
      @Override
      public void applyRequestMetadata(
          RequestInfo request, Executor executor, MetadataApplier applier) {
        asked.incrementAndGet();
        if (status.isOk()) {
          applier.apply(Bytes.metadata("authorization", "secret"));
        } else {
          applier.fail(status);
        }
      }
    };
  }

  private RingChannelBuilder own(RingServer server) {
    return RingChannelBuilder.forAddress("localhost", server.getPort())
        .usePlaintext()
        .shmDirectory(directory)
        .spinTime(Duration.ZERO);
  }

  private List<String> seen() throws InterruptedException {
    final List<String> values = new ArrayList<>();
    handler.take().headers.getAll(AUTHORIZATION).forEach(values::add);
    return values;
  }

  @Test
  void aRingHasTheAuthorizationOfItsOpening() throws Exception {
    final RingServer server = serve(handler);
    for (final RingChannelBuilder builder : List.of(own(server), builder())) {
      asked.set(0);
      final RingChannel channel = connect(builder.sessionCredentials(answering(Status.OK)));
      for (int i = 0; i < 5; i++) {
        call(channel, 10);
        assertEquals(List.of("secret"), seen());
      }
      assertTrue(asked.get() <= 2, "credentials were asked for calls: " + asked); // rings may grow
    }
  }

  /** A call's own authorization comes last, where {@link Metadata#get} finds it. */
  @Test
  void theAuthorizationOfACallGoesBeforeThatOfTheRing() throws Exception {
    final RingChannel channel =
        connect(own(serve(handler)).sessionCredentials(answering(Status.OK)));
    final CallCredentials own =
        new CallCredentials() {
          @Override
          public void applyRequestMetadata(
              RequestInfo request, Executor executor, MetadataApplier applier) {
            applier.apply(Bytes.metadata("authorization", "own"));
          }
        };
    ClientCalls.blockingUnaryCall(
        channel, Bytes.METHOD, CallOptions.DEFAULT.withCallCredentials(own), new byte[1]);
    assertEquals("own", handler.take().headers.get(AUTHORIZATION));
  }

  @Test
  void eachCallOverGrpcAsks() throws Exception {
    final RingChannel channel =
        build(own(serve(handler)).fabrics().sessionCredentials(answering(Status.OK)));
    for (int i = 1; i <= 3; i++) {
      call(channel, 10);
      assertEquals(List.of("secret"), seen());
      assertEquals(i, asked.get());
    }
  }

  @Test
  void credentialsThatFailLeaveNoRing() throws Exception {
    final Status status = Status.UNAUTHENTICATED.withDescription("not over plaintext");
    final RingChannel channel = build(own(serve(handler)).sessionCredentials(answering(status)));
    final StatusRuntimeException failure =
        assertThrows(StatusRuntimeException.class, () -> call(channel, 10));
    assertEquals(Status.Code.UNAUTHENTICATED, failure.getStatus().getCode());
    await("the handshake has failed", () -> channel.transport().reason().contains("not over"));
  }
}
