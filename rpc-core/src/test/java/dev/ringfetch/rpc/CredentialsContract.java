package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.CallCredentials;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Credentials of single calls. */
@Timeout(60)
abstract class CredentialsContract extends TransportContract {
  private static final Metadata.Key<String> TOKEN = Bytes.ascii("token");

  CredentialsContract(Supplier<TransportHarness> harnesses) {
    super(harnesses);
  }

  private static CallOptions with(
      BiConsumer<CallCredentials.RequestInfo, CallCredentials.MetadataApplier> apply) {
    return CallOptions.DEFAULT.withCallCredentials(
        new CallCredentials() {
          @Override
          public void applyRequestMetadata(
              RequestInfo request, Executor executor, MetadataApplier applier) {
            apply.accept(request, applier);
          }
        });
  }

  @Test
  void headersOfTheCredentialsReachTheServer() throws Exception {
    final Served.Handler handler = Served.digesting();
    start(handler);
    final Exchange exchange =
        exchange(with((request, applier) -> applier.apply(Bytes.metadata("token", "secret"))))
            .send(Bytes.metadata("own", "header"), new byte[1]);
    assertEquals(1, exchange.response().length);
    final Metadata headers = handler.take().headers;
    assertEquals("secret", headers.get(TOKEN));
    assertEquals("header", headers.get(Bytes.ascii("own")));
  }

  /** Begins a call, and returns when its credentials are asked, which have not answered yet. */
  private CallCredentials.MetadataApplier sendAndAwaitApplier(
      BlockingQueue<Exchange> begun, int length) throws InterruptedException {
    final BlockingQueue<CallCredentials.MetadataApplier> appliers = new LinkedBlockingQueue<>();
    begun.add(exchange(with((request, applier) -> appliers.add(applier))).send(new byte[length]));
    final CallCredentials.MetadataApplier applier =
        appliers.poll(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
    assertNotNull(applier, "the credentials are not asked");
    return applier;
  }

  @Test
  void credentialsMayTakeTheirTime() throws Exception {
    start(Served.digesting());
    final BlockingQueue<Exchange> begun = new LinkedBlockingQueue<>();
    final CallCredentials.MetadataApplier applier = sendAndAwaitApplier(begun, 7);
    final Exchange exchange = begun.take();
    assertEquals(List.of(), exchange.events());
    applier.apply(new Metadata());
    assertEquals(7, exchange.response().length);
  }

  @Test
  void aCallThatWaitsForItsCredentialsOutlivesAShutdownOfTheChannel() throws Exception {
    start(Served.digesting());
    final BlockingQueue<Exchange> begun = new LinkedBlockingQueue<>();
    final List<CallCredentials.MetadataApplier> appliers =
        List.of(sendAndAwaitApplier(begun, 7), sendAndAwaitApplier(begun, 8));
    final ManagedChannel channel = harness.channel();
    channel.shutdown();
    assertFalse(channel.awaitTermination(50, TimeUnit.MILLISECONDS));
    for (int i = 0; i < 2; i++) {
      appliers.get(i).apply(new Metadata());
      assertEquals(7 + i, begun.take().response().length);
    }
    assertTrue(channel.awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
  }

  @Test
  void aCallThatWaitsForItsCredentialsEndsWithTheChannel() throws Exception {
    final AtomicBoolean hangs = new AtomicBoolean();
    start(
        new Served.Handler(
            served -> {
              if (!hangs.getAndSet(true)) {
                served.answer(Bytes.digest(served.request()));
              }
            }));
    assertServes();
    final BlockingQueue<Exchange> begun = new LinkedBlockingQueue<>();
    final CallCredentials.MetadataApplier applier = sendAndAwaitApplier(begun, 7);
    harness.channel().shutdownNow();
    // gRPC's transports wait for this. They make the call, and then end it with all others: a
    // server that is quick enough would have answered.
    applier.apply(new Metadata());
    assertStatus(Status.Code.UNAVAILABLE, "Channel shutdownNow invoked", begun.take().await());
    assertTrue(harness.channel().awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
  }

  @Test
  void credentialsThatFailEndTheCall() throws Exception {
    start(Served.digesting());
    final Status status =
        exchange(
                with(
                    (request, applier) ->
                        applier.fail(Status.UNAUTHENTICATED.withDescription("who are you"))))
            .send(new byte[1])
            .await();
    assertStatus(Status.Code.UNAUTHENTICATED, "who are you", status);
    assertServes();
  }

  @Test
  void credentialsCannotFailWithOk() throws Exception {
    start(Served.digesting());
    final Status status =
        exchange(with((request, applier) -> applier.fail(Status.OK))).send(new byte[1]).await();
    assertEquals(Status.Code.UNAUTHENTICATED, status.getCode());
    assertServes();
  }

  /** Credentials that apply no headers get an error, and the call's deadline counts on. */
  @Test
  void credentialsAnswerOnceAndWithHeaders() throws Exception {
    start(Served.digesting());
    final BlockingQueue<Exchange> begun = new LinkedBlockingQueue<>();
    final CallCredentials.MetadataApplier applier = sendAndAwaitApplier(begun, 7);
    assertThrows(NullPointerException.class, () -> applier.apply(null));
    assertThrows(IllegalArgumentException.class, () -> applier.fail(Status.OK));
    applier.apply(new Metadata());
    assertEquals(7, begun.take().response().length);
    assertThrows(IllegalStateException.class, () -> applier.apply(new Metadata()));
    assertThrows(
        IllegalStateException.class, () -> applier.fail(Status.INTERNAL.withDescription("late")));
  }

  @Test
  void credentialsThatThrowEndTheCall() throws Exception {
    start(Served.digesting());
    final Status status =
        exchange(
                with(
                    (request, applier) -> {
                      throw new IllegalStateException("as the test wants");
                    }))
            .send(new byte[1])
            .await();
    assertEquals(Status.Code.UNAUTHENTICATED, status.getCode());
    assertServes();
  }

  @Test
  void deadlineEndsTheWaitForCredentials() throws Exception {
    start(Served.digesting());
    final Exchange exchange =
        exchange(with((request, applier) -> {}).withDeadlineAfter(200, TimeUnit.MILLISECONDS));
    assertEquals(Status.Code.DEADLINE_EXCEEDED, exchange.send(new byte[1]).await().getCode());
    assertServes();
  }

  @Test
  void cancelEndsTheWaitForCredentials() throws Exception {
    start(Served.digesting());
    final Exchange exchange = exchange(with((request, applier) -> {})).send(new byte[1]);
    final ClientCall<byte[], byte[]> call = exchange.call();
    call.cancel("enough", null);
    assertStatus(Status.Code.CANCELLED, "enough", exchange.await());
    assertServes();
  }

  @Test
  void credentialsSeeTheConnectionAndTheCall() throws Exception {
    start(Served.digesting());
    final List<Object> seen = new ArrayList<>();
    final Exchange exchange =
        exchange(
            with(
                (request, applier) -> {
                  seen.add(request.getMethodDescriptor().getFullMethodName());
                  seen.add(request.getSecurityLevel());
                  seen.add(request.getAuthority());
                  seen.add(request.getTransportAttrs().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR));
                  applier.apply(new Metadata());
                }));
    assertEquals(1, exchange.send(new byte[1]).response().length);
    assertEquals(Bytes.METHOD.getFullMethodName(), seen.get(0));
    assertEquals(harness.securityLevel(), seen.get(1));
    assertEquals(harness.channel().authority(), seen.get(2));
    assertNotNull(seen.get(3));
  }
}
