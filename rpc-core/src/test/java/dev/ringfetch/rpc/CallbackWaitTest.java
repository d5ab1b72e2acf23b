package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.CallCredentials;
import io.grpc.CallOptions;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** A callback in the poller's thread waits for something that a poller is to bring about. */
final class CallbackWaitTest extends UnaryCallFixture {
  private static final long DEADLINE_MS = 200;

  /** Longer than the time limit of the other calls, which must go on meanwhile. */
  private static final long LONG_MS = TimeUnit.SECONDS.toMillis(4 * TransportHarness.TIMEOUT_S);

  private final CountDownLatch over = new CountDownLatch(1);

  /** Does something in the poller's thread, without any deadline. */
  private <T> T inCallback(Supplier<T> work) throws Exception {
    final CompletableFuture<T> done = new CompletableFuture<>();
    final UnaryListener listener =
        new UnaryListener() {
          @Override
          public void onAnswer(UnaryCall call, byte[] answer, int offset, int length) {
            try {
              assertTrue(Thread.currentThread().getName().startsWith("ringfetch-client"));
              done.complete(work.get());
            } catch (Throwable t) {
              done.completeExceptionally(t);
            }
          }

          @Override
          public void onFailure(UnaryCall call, Status status, Metadata trailers) {
            done.completeExceptionally(status.asException(trailers));
          }
        };
    start(connect(Way.RING).newUnaryCall(Bytes.METHOD, listener), new byte[1]);
    return done.get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
  }

  @Test
  void unaryCallThatNoRingCarriesYet() throws Exception {
    serve(Bytes.digesting());
    final UnaryCall call = build(builder().requireFabric()).newUnaryCall(Bytes.METHOD, ends);
    assertEquals(Status.OK, inCallback(() -> run(call, new byte[3])));
    assertArrayEquals(Bytes.digest(new byte[3]), ends.take().answer);
  }

  @Test
  void blockingStubThatNoRingCarriesYet() throws Exception {
    serve(Bytes.digesting());
    final RingChannel channel = build(builder().requireFabric());
    assertEquals(9, inCallback(() -> call(channel, 9)).length);
    assertEquals(1, channel.ringCalls());
  }

  @Test
  void credentialsThatTakeTheirTime() throws Exception {
    serve(Bytes.digesting());
    final RingChannel channel = connect(builder().requireFabric());
    final CallCredentials slow =
        new CallCredentials() {
          @Override
          public void applyRequestMetadata(
              RequestInfo info, Executor executor, MetadataApplier applier) {
            DefaultExecutor.INSTANCE.execute(
                () -> {
                  await(over, DEADLINE_MS);
                  applier.apply(new Metadata());
                });
          }
        };
    final CallOptions options = CallOptions.DEFAULT.withCallCredentials(slow);
    final byte[] answer =
        inCallback(
            () -> ClientCalls.blockingUnaryCall(channel, Bytes.METHOD, options, new byte[5]));
    assertArrayEquals(Bytes.digest(new byte[5]), answer);
  }

  /** It waits for nothing of ours, for as long as it likes. */
  @Test
  void callsAndDeadlinesOfOthers() throws Exception {
    final Served.Handler handler = Served.hanging();
    serve(handler);
    othersGoOn(
        handler, connect(builder().requireFabric().directExecutor()), () -> await(over, LONG_MS));
  }

  /** It waits for an answer, and polls for that itself. */
  @Test
  void callsAndDeadlinesOfOthersBesideABlockingCall() throws Exception {
    final Served.Handler handler = Served.hanging();
    serve(handler);
    final RingChannel channel = connect(builder().requireFabric().directExecutor());
    final CompletableFuture<Served> answered = new CompletableFuture<>();
    final Thread answers =
        new Thread(
            () -> {
              await(over, LONG_MS);
              answered.join().answer(new byte[1]);
            });
    answers.start();
    final UnaryCall call = channel.newUnaryCall(Bytes.METHOD, new Ends());
    inner = handler;
    heldCall = answered;
    final CompletableFuture<Status> nested = new CompletableFuture<>();
    othersGoOn(handler, channel, () -> nested.complete(run(call, new byte[9])));
    answers.join();
    assertEquals(Status.OK, nested.getNow(null));
  }

  private Served.Handler inner; // of a call that a callback makes, or null
  private CompletableFuture<Served> heldCall;

  private void othersGoOn(Served.Handler handler, RingChannel channel, Runnable waits)
      throws Exception {
    final CountDownLatch begun = new CountDownLatch(1);
    final CompletableFuture<Boolean> held = new CompletableFuture<>();
    final Thread holds =
        new Thread(
            () -> {
              try {
                held.complete(
                    inCallback(
                        () -> {
                          begun.countDown();
                          waits.run();
                          return true;
                        }));
              } catch (Throwable t) {
                held.completeExceptionally(t);
              }
            });
    holds.start();
    handler.take().answer(new byte[1]);
    assertTrue(begun.await(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    if (inner != null) {
      heldCall.complete(inner.take());
    }
    final UnaryCall late = channel.newUnaryCall(Bytes.METHOD, ends);
    late.start(new byte[1], 0, 1, TimeUnit.MILLISECONDS.toNanos(DEADLINE_MS));
    handler.take();
    final Ends others = new Ends();
    start(channel.newUnaryCall(Bytes.METHOD, others), new byte[1]);
    handler.take().answer(new byte[7]);
    assertEquals(7, others.take().answer.length);
    assertEquals(Status.Code.DEADLINE_EXCEEDED, ends.take().status.getCode());
    over.countDown();
    holds.join();
    assertTrue(held.get());
  }

  private static void await(CountDownLatch latch, long timeoutMs) {
    try {
      final boolean unused = latch.await(timeoutMs, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
