package dev.ringfetch.rpc;

import static dev.ringfetch.rpc.TransportContract.assertStatus;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.CallOptions;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A unary call on a ring whose answer comes in several units, while it is under way. */
class ContinuedAnswerTest {
  private static final String NAME = "continued.Service/Call";
  private static final MethodDescriptor<byte[], byte[]> METHOD = Bytes.method(NAME);

  private final RingHarness harness = new RingHarness();
  private final Served.Handler handler = Served.hanging();

  @BeforeEach
  void start() throws Exception {
    harness
        .server(
            builder ->
                builder.addService(
                    ServerServiceDefinition.builder("continued.Service")
                        .addMethod(Bytes.method(NAME, MethodType.BIDI_STREAMING), handler)
                        .build()))
        .start();
  }

  @AfterEach
  void close() throws Exception {
    harness.verify(harness.channel());
    harness.close();
  }

  private Exchange call(CallOptions options) {
    return new Exchange(harness.channel(), METHOD, options);
  }

  private Served served() throws InterruptedException {
    final Served served = handler.take();
    served.awaitHalfClose();
    served.call.sendHeaders(Bytes.metadata("h", "1"));
    return served;
  }

  @Test
  void whatComesIsToldAtOnce() throws Exception {
    final Exchange call = call(CallOptions.DEFAULT).send(new byte[1]);
    final Served served = served();
    call.awaitHeaders();
    assertEquals("1", call.headers().get(Bytes.ascii("h")));
    served.call.sendMessage(new byte[3]);
    call.awaitMessage();
    assertFalse(call.isClosed());
    served.call.close(Status.OK, Bytes.metadata("t", "2"));
    assertEquals(3, call.response().length);
    assertEquals("2", call.trailers().get(Bytes.ascii("t")));
  }

  @Test
  void aCancelReachesTheServer() throws Exception {
    final Exchange call = call(CallOptions.DEFAULT).send(new byte[1]);
    final Served served = served();
    call.awaitHeaders();
    call.call().cancel("enough", null);
    assertStatus(Status.Code.CANCELLED, "enough", call.await());
    assertEquals("cancel", served.awaitEnd());
  }

  @Test
  void theContextStillEndsIt() throws Exception {
    final Context.CancellableContext context = Context.current().withCancellation();
    final Exchange[] call = new Exchange[1];
    context.run(() -> call[0] = call(CallOptions.DEFAULT).send(new byte[1]));
    final Served served = served();
    call[0].awaitHeaders();
    context.cancel(null);
    assertEquals(Status.Code.CANCELLED, call[0].await().getCode());
    assertEquals("cancel", served.awaitEnd());
  }

  @Test
  void theDeadlineStillEndsIt() throws Exception {
    final Exchange call =
        call(CallOptions.DEFAULT.withDeadlineAfter(300, TimeUnit.MILLISECONDS)).send(new byte[1]);
    served();
    assertEquals(Status.Code.DEADLINE_EXCEEDED, call.await().getCode());
    assertTrue(call.await().getDescription().startsWith("CallOptions deadline exceeded after"));
  }

  @Test
  void anErrorComesAfterTheMessage() throws Exception {
    final Exchange call = call(CallOptions.DEFAULT).send(new byte[1]);
    final Served served = served();
    served.call.sendMessage(new byte[3]);
    served.call.close(Status.ABORTED.withDescription("no more"), new Metadata());
    assertStatus(Status.Code.ABORTED, "no more", call.await());
    assertEquals(1, call.messages().size());
  }

  /** As many as are asked for, and the server is held back by the window. */
  @Test
  void moreAreDeliveredAsTheyAreRequested() throws Exception {
    final Exchange call = call(CallOptions.DEFAULT).start();
    call.call().sendMessage(new byte[1]);
    call.call().halfClose();
    final Served served = served();
    int sent = 0;
    while (served.call.isReady() || !isHeldBack(served)) {
      served.call.sendMessage(new byte[10_000]);
      sent++;
    }
    assertEquals(0, call.messages().size());
    call.call().request(1);
    call.awaitMessage();
    assertEquals(1, call.messages().size());
    call.call().request(sent);
    served.call.close(Status.OK, new Metadata());
    assertTrue(call.await().isOk());
    assertEquals(sent, call.messages().size());
  }

  private static boolean isHeldBack(Served served) {
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
    return !served.call.isReady();
  }
}
