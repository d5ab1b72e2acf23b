package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.call.ClientConnection;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

/** Tests of calls that wait for a ring: which do, and for how long. */
final class WaitForReadyTest {
  private int attempts;
  private CompletableFuture<String> attempt = CompletableFuture.failedFuture(new Exception("no"));
  private final WaitForReady<String> waitForReady =
      new WaitForReady<>(
          () -> {
            attempts++;
            return attempt;
          },
          () -> TimeUnit.HOURS.toNanos(1));

  private static Status ended(CompletableFuture<?> wait) {
    return Status.fromThrowable(
        assertThrows(
            ExecutionException.class,
            () -> wait.get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS)));
  }

  @Test
  void attemptsFollowEachOther() throws Exception {
    final int enough = 5;
    final CompletableFuture<String> last = new CompletableFuture<>();
    final WaitForReady<String> patient =
        new WaitForReady<>(
            () -> {
              if (++attempts == enough) {
                last.complete("ring");
              }
              return attempts < enough ? attempt : last;
            },
            () -> 0);
    assertEquals("ring", patient.await().get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
  }

  @Test
  void whoSleepsIsWoken() throws Exception {
    final CompletableFuture<String> first = waitForReady.await();
    final CompletableFuture<String> second = waitForReady.await();
    assertEquals(2, attempts);
    assertFalse(first.isDone());
    attempt = CompletableFuture.completedFuture("ring");
    waitForReady.wake();
    assertEquals(3, attempts);
    assertEquals("ring", first.getNow("asleep"));
    assertEquals("ring", second.getNow("asleep"));
  }

  @Test
  void nothingIsTriedForWhoHasLeft() {
    final CompletableFuture<String> one = waitForReady.await();
    final CompletableFuture<String> other = waitForReady.await();
    one.cancel(false);
    waitForReady.wake();
    assertEquals(3, attempts);
    other.cancel(false);
    waitForReady.wake();
    assertEquals(3, attempts);
  }

  /** As an interceptor of the gRPC channel may. */
  @Test
  void anAttemptThatThrowsIsFollowedByOthers() throws Exception {
    final WaitForReady<String> patient =
        new WaitForReady<>(
            () ->
                switch (++attempts) {
                  case 1 -> attempt;
                  case 2 -> throw new IllegalStateException("as the test wants");
                  default -> CompletableFuture.completedFuture("ring");
                },
            () -> 0);
    assertEquals("ring", patient.await().get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
  }

  @Test
  void anAttemptThatThrowsIsToldToWhoHasAskedForIt() {
    final CompletableFuture<String> waits = waitForReady.await();
    final CompletableFuture<String> failing = attempt;
    attempt = null; // which throws
    assertThrows(NullPointerException.class, waitForReady::await);
    assertFalse(waits.isDone());
    attempt = failing;
    waits.cancel(false);
    waitForReady.wake();
    assertEquals(2, attempts, "somebody waits who is not told");
  }

  @Test
  void anEndEndsTheWaitOfAll() {
    final CompletableFuture<String> before = waitForReady.await();
    waitForReady.end(RingChannel.SHUTDOWN);
    assertEquals(Status.Code.UNAVAILABLE, ended(before).getCode());
    assertEquals(Status.Code.UNAVAILABLE, ended(waitForReady.await()).getCode());
    assertEquals(1, attempts);
  }

  @Test
  void aCallThatIsCancelledWaitsNoLonger() {
    final CompletableFuture<ClientConnection> ring = new CompletableFuture<>();
    assertTrue(WaitingCall.withoutHeaders(ring, made -> {}).cancel(false));
    assertTrue(ring.isCancelled());
  }

  @Test
  void aCallWhoseDeadlineHasPassedWaitsNoLonger() {
    final CompletableFuture<ClientConnection> ring = new CompletableFuture<>();
    final CompletableFuture<Metadata> headers = WaitingCall.withoutHeaders(ring, made -> {});
    headers.orTimeout(1, TimeUnit.NANOSECONDS);
    final ExecutionException ended =
        assertThrows(
            ExecutionException.class,
            () -> headers.get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    assertSame(TimeoutException.class, ended.getCause().getClass());
    RingFixture.await("it waits for a ring", ring::isCancelled); // right after the headers
  }

  @Test
  void aCallWhoseRingIsThereHasIt() {
    final CompletableFuture<ClientConnection> ring = new CompletableFuture<>();
    final CompletableFuture<Metadata> headers = WaitingCall.withoutHeaders(ring, made -> {});
    ring.complete(null);
    assertTrue(headers.join().keys().isEmpty());
    assertFalse(ring.isCancelled());
  }
}
