package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.system.Await;
import io.grpc.CallOptions;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.ServerCallHandler;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** A handler on bytes does the same over every transport. */
abstract class LeanContract extends TransportContract {
  private static final String METHOD = "Call";
  private static final int CALLS = 200;
  private static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(TransportHarness.TIMEOUT_S);

  private final BlockingQueue<Object> heard = new LinkedBlockingQueue<>();

  LeanContract(Supplier<TransportHarness> harnesses) {
    super(harnesses);
  }

  private void lean(LeanHandler handler) throws Exception {
    lean(handler, Bytes.answering(request -> new byte[0]));
  }

  private void lean(LeanHandler handler, ServerCallHandler<byte[], byte[]> replaced)
      throws Exception {
    final ServerServiceDefinition service =
        ServerServiceDefinition.builder(Bytes.SERVICE).addMethod(Bytes.METHOD, replaced).build();
    harness.server(server -> server.addService(Lean.replace(service, METHOD, handler))).start();
  }

  private static LeanHandler always(Consumer<LeanCall> handler) {
    return (call, request, offset, length) -> {
      handler.accept(call);
      return true;
    };
  }

  private static LeanHandler digesting() {
    return (call, request, offset, length) -> {
      digest(call, request, offset, length);
      return true;
    };
  }

  private static void digest(LeanCall call, byte[] request, int offset, int length) {
    final byte[] answer = Bytes.digest(Arrays.copyOfRange(request, offset, offset + length));
    final byte[] shifted = new byte[length + 5];
    System.arraycopy(answer, 0, shifted, 3, length);
    call.answer(shifted, 3, length);
  }

  private Object takeHeard() throws InterruptedException {
    final Object next = heard.poll(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
    assertNotNull(next, "nothing was heard");
    return next;
  }

  private Status end(byte... request) throws InterruptedException {
    return exchange().send(request).await();
  }

  private static void elsewhere(Runnable task) {
    try {
      CompletableFuture.runAsync(task, command -> new Thread(command, "elsewhere").start())
          .get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void answersOfAllLengths() throws Exception {
    lean(digesting());
    for (final int length : new int[] {0, 1, 32, 33, 5_000, 16 << 10, (16 << 10) + 1, 1 << 20}) {
      final byte[] request = Bytes.random(length, length);
      for (int round = 0; round < 3; round++) {
        assertArrayEquals(Bytes.digest(request), blockingCall(request), "length=" + length);
      }
    }
  }

  @Test
  void everyAnswerIsThatOfItsRequest() throws Exception {
    lean(digesting());
    final Exchange[] calls = new Exchange[CALLS];
    final CallOptions timed =
        CallOptions.DEFAULT.withDeadlineAfter(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
    for (int i = 0; i < CALLS; i++) {
      calls[i] = exchange(i % 3 == 0 ? timed : CallOptions.DEFAULT).send(Bytes.random(i, i));
    }
    for (int i = 0; i < CALLS; i++) {
      assertArrayEquals(Bytes.digest(Bytes.random(i, i)), calls[i].response());
    }
  }

  @Test
  void aFailureHasItsStatusAndTrailers() throws Exception {
    lean(
        always(
            call ->
                call.fail(
                    Status.NOT_FOUND.withDescription("nothing of that name"),
                    Bytes.metadata("detail", "much"))));
    final Exchange call = exchange().send(new byte[4]);
    assertStatus(Status.Code.NOT_FOUND, "nothing of that name", call.await());
    assertEquals("much", call.trailers().get(Bytes.ascii("detail")));
  }

  @Test
  void aCallHasOneEnd() throws Exception {
    lean(
        always(
            call -> {
              call.answer(new byte[32], 0, 32);
              assertThrows(IllegalStateException.class, () -> call.answer(new byte[3], 0, 3));
              assertThrows(
                  IllegalStateException.class, () -> call.fail(Status.ABORTED, new Metadata()));
              assertThrows(IllegalStateException.class, call::detach);
            }));
    assertServes();
  }

  @Test
  void aWrongEndIsRefusedAndARightOneMayFollow() throws Exception {
    lean(
        always(
            call -> {
              assertThrows(
                  IllegalArgumentException.class, () -> call.fail(Status.OK, new Metadata()));
              assertThrows(IndexOutOfBoundsException.class, () -> call.answer(new byte[3], 2, 2));
              assertThrows(NullPointerException.class, () -> call.fail(Status.ABORTED, null));
              call.answer(new byte[32], 0, 32);
            }));
    assertServes();
  }

  @Test
  void aHandlerThatThrowsEndsItsCallUnknown() throws Exception {
    lean(
        (call, request, offset, length) -> {
          if (request[offset] == 1) {
            call.answer(request, offset, length);
          }
          if (request[offset] <= 1) {
            throw Status.NOT_FOUND.asRuntimeException();
          }
          if (request[offset] == 2) {
            throw new AssertionError("intended");
          }
          digest(call, request, offset, length);
          return true;
        });
    for (byte first = 0; first <= 2; first++) {
      assertStatus(Status.Code.UNKNOWN, "Application error", end(first));
    }
    assertArrayEquals(Bytes.digest(new byte[] {3}), blockingCall(new byte[] {3}));
  }

  @Test
  void aHandlerThatReturnsWithoutAnEndIsAtFault() throws Exception {
    lean(
        (call, request, offset, length) -> {
          switch (request[offset]) {
            case 0 -> {
              return true;
            }
            case 1 -> {
              call.answer(request, offset, length);
              return false;
            }
            default -> {
              final LeanCall unused = call.detach();
              return false;
            }
          }
        });
    assertStatus(Status.Code.INTERNAL, "returned true with the call OPEN", end((byte) 0));
    assertStatus(Status.Code.INTERNAL, "returned false with the call ANSWERED", end((byte) 1));
    assertStatus(Status.Code.INTERNAL, "returned false with the call DETACHED", end((byte) 2));
  }

  @Test
  void aDetachedCallIsAnsweredLaterByAnotherThread() throws Exception {
    lean(always(call -> heard.add(call.detach())));
    for (int i = 0; i < 3; i++) {
      final Exchange pending = exchange().send(new byte[i + 1]);
      final LeanCall detached = (LeanCall) takeHeard();
      final byte[] answer = Bytes.random(i, 50_000 * i + 7);
      elsewhere(() -> detached.answer(answer, 0, answer.length));
      assertArrayEquals(answer, pending.response());
      final Exception second =
          assertThrows(IllegalStateException.class, () -> detached.answer(answer, 0, 1));
      assertTrue(second.getMessage().startsWith("the call has its end"), second::toString);
      assertThrows(
          IllegalStateException.class, () -> detached.fail(Status.ABORTED, new Metadata()));
      assertThrows(IllegalStateException.class, detached::detach);
    }
    final Exchange failing = exchange().send(new byte[1]);
    ((LeanCall) takeHeard()).fail(Status.ABORTED, Bytes.metadata("tail", "t"));
    assertStatus(Status.Code.ABORTED, "", failing.await());
    assertEquals("t", failing.trailers().get(Bytes.ascii("tail")));
  }

  @Test
  void aDetachedCallMayBeAnsweredBeforeItsHandlerReturns() throws Exception {
    lean(
        always(
            call -> {
              final LeanCall detached = call.detach();
              elsewhere(() -> detached.answer(new byte[32], 0, 32));
              heard.add("answered");
            }));
    assertServes();
    assertEquals("answered", takeHeard());
    assertServes();
  }

  @Test
  void aHandlerThatThrowsEndsTheCallThatItHasDetached() throws Exception {
    lean(
        (call, request, offset, length) -> {
          final LeanCall detached = call.detach();
          if (length == 2) {
            detached.answer(new byte[32], 0, 32);
          }
          throw new IllegalStateException("intended");
        });
    assertStatus(Status.Code.UNKNOWN, "Application error", end((byte) 1));
    assertEquals(32, blockingCall(new byte[2]).length);
  }

  @Test
  void onlyTheHandlersThreadUsesTheCall() throws Exception {
    lean(
        always(
            call -> {
              heard.add(call);
              elsewhere(
                  () ->
                      heard.add(
                          assertThrows(
                              IllegalStateException.class, () -> call.answer(new byte[1], 0, 1))));
              call.answer(new byte[32], 0, 32);
            }));
    assertServes();
    final LeanCall call = (LeanCall) takeHeard();
    assertTrue(
        ((Exception) takeHeard()).getMessage().endsWith("method=" + Bytes.SERVICE + "/Call"));
    assertThrows(IllegalStateException.class, () -> call.answer(new byte[1], 0, 1));
    assertThrows(IllegalStateException.class, call::detach);
    assertThrows(IllegalStateException.class, call::isCancelled);
    assertThrows(IllegalStateException.class, call::headers);
    assertThrows(IllegalStateException.class, call::attributes);
    assertThrows(IllegalStateException.class, call::remainingNs);
  }

  @Test
  void aReturnedCallIsOfNoUseToTheSameThread() throws Exception {
    final Map<Thread, LeanCall> before = new ConcurrentHashMap<>();
    lean(
        always(
            call -> {
              final LeanCall returned = before.put(Thread.currentThread(), call);
              if (returned != null && returned != call) {
                assertThrows(IllegalStateException.class, () -> returned.answer(new byte[1], 0, 1));
                assertThrows(IllegalStateException.class, returned::isCancelled);
              }
              call.answer(new byte[32], 0, 32);
            }));
    final Exchange[] calls = new Exchange[CALLS];
    for (int i = 0; i < CALLS; i++) {
      calls[i] = exchange().send(new byte[1]);
    }
    for (final Exchange call : calls) {
      assertEquals(32, call.response().length);
    }
  }

  @Test
  void aCallHasOneRequest() throws Exception {
    lean(digesting());
    final Exchange two = exchange().start();
    two.call().request(2);
    two.call().sendMessage(new byte[1]);
    two.call().sendMessage(new byte[1]);
    two.call().halfClose();
    assertBrokenByServer(Status.Code.INTERNAL, "Too many requests", two.await());
    final Exchange none = exchange().start();
    none.call().request(2);
    none.call().halfClose();
    assertStatus(Status.Code.INTERNAL, "Half-closed without a request", none.await());
    assertServes();
  }

  @Test
  void theReplacedHandlerServesWhatIsDeclined() throws Exception {
    final Served.Handler replaced =
        new Served.Handler(
            served ->
                served.answer(
                    served.headers,
                    Bytes.digest(served.request()),
                    Status.OK,
                    Bytes.metadata("tail", "t")));
    lean(
        (call, request, offset, length) -> {
          if (length % 2 == 0) {
            return false;
          }
          call.answer(request, offset, length);
          return true;
        },
        replaced);
    for (int length = 0; length < 20; length++) {
      final byte[] request = Bytes.random(length, length);
      final Exchange call = exchange().send(Bytes.metadata("some", "thing"), request);
      final byte[] bare = blockingCall(request);
      if (length % 2 == 0) {
        assertArrayEquals(Bytes.digest(request), call.response());
        assertArrayEquals(Bytes.digest(request), bare);
        assertEquals("thing", call.headers().get(Bytes.ascii("some")));
        assertEquals("t", call.trailers().get(Bytes.ascii("tail")));
        assertEquals("complete", replaced.take().awaitEnd());
        assertEquals("complete", replaced.take().awaitEnd());
      } else {
        assertArrayEquals(request, call.response());
        assertArrayEquals(request, bare);
      }
    }
  }

  @Test
  void theReplacedHandlerHearsOfACancel() throws Exception {
    final Served.Handler replaced = Served.hanging();
    lean((call, request, offset, length) -> false, replaced);
    final Exchange call = exchange().send(new byte[3]);
    final Served served = replaced.take();
    served.awaitHalfClose();
    call.call().cancel("changed my mind", null);
    assertStatus(Status.Code.CANCELLED, "changed my mind", call.await());
    assertEquals("cancel", served.awaitEnd());
    served.awaitCancelledContext();
  }

  @Test
  void aDetachedCallSeesThatItWasCancelled() throws Exception {
    lean(
        (call, request, offset, length) -> {
          if (length == 32) {
            digest(call, request, offset, length);
          } else {
            heard.add(call.detach());
          }
          return true;
        });
    final Exchange call = exchange().send(new byte[3]);
    final LeanCall detached = (LeanCall) takeHeard();
    call.call().cancel("changed my mind", null);
    assertStatus(Status.Code.CANCELLED, "changed my mind", call.await());
    RingFixture.await("the handler hears of the cancel", detached::isCancelled);
    detached.answer(new byte[1], 0, 1);
    assertServes();
  }

  @Test
  void aHandlerSeesThatItsCallWasCancelled() throws Exception {
    final CountDownLatch[] cancelled = {new CountDownLatch(1), new CountDownLatch(1)};
    lean(
        (call, request, offset, length) -> {
          if (length == 3) {
            heard.add("entered");
            Await.latch(cancelled[request[offset]]); // else its answer may overtake the cancel
            RingFixture.await("the handler hears of the cancel", call::isCancelled);
            heard.add("heard");
            if (request[offset] == 1) { // that may find no stream any more
              call.detach().answer(new byte[1], 0, 1);
              return true;
            }
          }
          digest(call, request, offset, length);
          return true;
        });
    for (byte first = 0; first < 2 && !blocksTheTransport(); first++) {
      final Exchange call = exchange().send(new byte[] {first, 0, 0});
      assertEquals("entered", takeHeard());
      call.call().cancel("changed my mind", null);
      assertStatus(Status.Code.CANCELLED, "changed my mind", call.await());
      cancelled[first].countDown();
      assertEquals("heard", takeHeard());
    }
    assertServes();
  }

  /** True where no other thread serves while a handler waits. */
  boolean blocksTheTransport() {
    return false;
  }

  @Test
  void aHandlerKnowsTheDeadline() throws Exception {
    lean(
        always(
            call -> {
              heard.add(call.remainingNs());
              final LeanCall detached = call.detach();
              heard.add(detached.remainingNs());
              detached.answer(new byte[32], 0, 32);
            }));
    assertServes();
    assertEquals(LeanCall.NO_TIMEOUT, takeHeard());
    assertEquals(LeanCall.NO_TIMEOUT, takeHeard());
    assertEquals(
        32,
        exchange(
                CallOptions.DEFAULT.withDeadlineAfter(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS))
            .send(new byte[1])
            .response()
            .length);
    final long first = (long) takeHeard();
    final long second = (long) takeHeard();
    assertTrue(0 < second && second <= first && first <= LIMIT_NS, first + " " + second);
  }

  @Test
  void aDetachedCallEndsAtItsDeadline() throws Exception {
    lean(
        (call, request, offset, length) -> {
          if (length == 32) {
            digest(call, request, offset, length);
          } else {
            heard.add(call.detach());
          }
          return true;
        });
    final Exchange late =
        exchange(CallOptions.DEFAULT.withDeadlineAfter(200, TimeUnit.MILLISECONDS))
            .send(new byte[1]);
    assertStatus(Status.Code.DEADLINE_EXCEEDED, "deadline exceeded", late.await());
    final LeanCall detached = (LeanCall) takeHeard();
    RingFixture.await("the handler hears of the deadline", detached::isCancelled);
    RingFixture.await("the deadline has passed", () -> detached.remainingNs() <= 0);
    detached.answer(new byte[1], 0, 1);
    assertServes();
  }

  @Test
  void aHandlerKnowsHeadersAndPeer() throws Exception {
    lean(
        always(
            call -> {
              if (!call.mayHaveOwnHeaders()) { // never of the call with a header
                assertNull(call.headers().get(Bytes.ascii("some")));
              }
              heard.add(call.headers());
              heard.add(String.valueOf(call.attributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR)));
              call.answer(new byte[32], 0, 32);
            }));
    assertServes();
    final Metadata bare = (Metadata) takeHeard();
    assertNotNull(bare.get(Bytes.ascii("user-agent")), bare::toString);
    assertTrue(!"null".equals(takeHeard()));
    assertEquals(
        32, exchange().send(Bytes.metadata("some", "thing"), new byte[2]).response().length);
    assertEquals("thing", ((Metadata) takeHeard()).get(Bytes.ascii("some")));
  }

  @Test
  void responsesTooLongForTheClient() throws Exception {
    harness.channel(channel -> channel.maxInboundMessageSize(1_000));
    lean((call, request, offset, length) -> answer(call, length * 100));
    assertStatus(Status.Code.RESOURCE_EXHAUSTED, "", exchange().send(new byte[11]).await());
    assertEquals(1_000, blockingCall(new byte[10]).length);
  }

  private static boolean answer(LeanCall call, int length) {
    call.answer(new byte[length], 0, length);
    return true;
  }

  @Test
  void requestsTooLongForTheServer() throws Exception {
    harness.server(server -> server.maxInboundMessageSize(1_000));
    lean(digesting());
    assertStatus(Status.Code.RESOURCE_EXHAUSTED, "", exchange().send(new byte[1_001]).await());
    assertEquals(1_000, blockingCall(new byte[1_000]).length);
  }

  @Test
  void onlyARingWithoutMoreAroundItReusesTheCall() throws Exception {
    final Set<LeanCall> calls =
        Collections.synchronizedSet(Collections.newSetFromMap(new IdentityHashMap<>()));
    lean(
        always(
            call -> {
              calls.add(call);
              call.answer(new byte[32], 0, 32);
            }));
    final long start = System.nanoTime();
    int made = 0;
    do { // few calls in a time are the executor's
      final Exchange[] pending = new Exchange[CALLS];
      for (int i = 0; i < CALLS; i++) {
        pending[i] = exchange().send(new byte[1]);
        made++;
      }
      for (final Exchange call : pending) {
        assertEquals(32, call.response().length);
      }
    } while (reuses() && calls.size() == made && System.nanoTime() - start < LIMIT_NS);
    assertEquals(reuses(), calls.size() < made, "calls=" + made);
  }

  /** True where a ring's calls have no object of their own. */
  boolean reuses() {
    return false;
  }
}
