package dev.ringfetch.memory;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.memory.v1.GetRequest;
import dev.ringfetch.memory.v1.GetResponse;
import dev.ringfetch.memory.v1.LockRequest;
import dev.ringfetch.memory.v1.LockResponse;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.inprocess.InProcessServerBuilder;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls that wait, at the moments when something else happens, too. */
@Timeout(60)
class WaitingCallsTest {
  private final Regions regions =
      Regions.on(InProcessServerBuilder.forName("unused"), List.of(), 4);
  private final OwnerLock lock = regions.lock("printer");
  private final Set<ClientHold> holds = new HashSet<>();
  private final MemoryService service =
      new MemoryService(regions, new OwnerMemory(List.of()), fabric -> true);

  @AfterEach
  void end() {
    regions.close();
  }

  private static LockRequest request() {
    return LockRequest.newBuilder().setName("printer").build();
  }

  private LockHold acquire() {
    return lock.acquire(Duration.ofSeconds(30)).orElseThrow();
  }

  private boolean isFree() {
    return lock.acquire(Duration.ZERO)
        .map(
            hold -> {
              hold.close();
              return true;
            })
        .orElse(false);
  }

  @Test
  void lockThatIsGrantedToADeadClientIsPassedOn() {
    final FakeCall<LockResponse> call = new FakeCall<>();
    final ClientHold client = new ClientHold(regions, holds, call);
    final LockHold hold = acquire();
    client.onNext(request());
    assertTrue(call.answers.isEmpty(), "waits");
    call.cancel();
    hold.close();
    assertTrue(isFree(), "it has left the queue");
    final LockHold next = acquire();
    client.granted(next); // had the hand-over taken it out of the queue before
    assertFalse(next.isHeld());
    assertTrue(call.answers.isEmpty());
  }

  @Test
  void cancelledHolderReleasesOnce() {
    final FakeCall<LockResponse> call = new FakeCall<>();
    final ClientHold client = new ClientHold(regions, holds, call);
    client.onNext(request());
    final LockResponse granted = (LockResponse) call.answers.poll();
    assertTrue(lock.isHeldBy(granted.getFence()));
    call.cancel();
    assertFalse(lock.isHeldBy(granted.getFence()));
    final LockHold next = acquire();
    client.onError(new RuntimeException("cancelled"));
    client.onCompleted();
    call.cancel();
    assertTrue(next.isHeld());
    assertTrue(call.answers.isEmpty(), "nothing is sent on a call that has ended");
  }

  @Test
  void releaseCompletesTheCall() {
    final FakeCall<LockResponse> call = new FakeCall<>();
    final ClientHold client = new ClientHold(regions, holds, call);
    client.onNext(request());
    assertInstanceOf(LockResponse.class, call.answers.poll());
    client.onCompleted();
    assertEquals(FakeCall.COMPLETED, call.answers.poll());
    assertTrue(isFree());
  }

  /** Its answer is sent without the monitor, in which gRPC's callbacks end it. */
  @Test
  void lockThatIsGrantedToAFailingCallIsPassedOn() {
    final ClientHold[] client = new ClientHold[1];
    final FakeCall<LockResponse> call =
        new FakeCall<>() {
          @Override
          public void onNext(LockResponse response) {
            assertFalse(Thread.holdsLock(client[0]));
            super.onNext(response);
            throw new IllegalStateException("call is closed");
          }
        };
    client[0] = new ClientHold(regions, holds, call);
    final LockHold hold = acquire();
    client[0].onNext(request());
    hold.close();
    assertEquals(1, call.answers.size());
    assertTrue(isFree());
    assertTrue(holds.isEmpty());
  }

  @Test
  void refusedClientLearnsTheName() {
    final FakeCall<LockResponse> call = new FakeCall<>();
    final ClientHold client = new ClientHold(regions, holds, call);
    final LockHold hold = acquire();
    client.onNext(request());
    lock.close();
    final String refusal = String.valueOf(call.answers.poll());
    assertTrue(refusal.contains("NOT_FOUND: no such name: name=printer"), refusal);
    assertTrue(hold.isHeld());
  }

  @Test
  void callThatEndsBeforeItNamesALockLeavesNothing() {
    final FakeCall<LockResponse> call = new FakeCall<>();
    final ClientHold client = new ClientHold(regions, holds, call);
    call.cancel();
    client.onNext(request());
    assertTrue(isFree());
  }

  @Test
  void valueThatComesBeforeTheWaitIsNoticed() throws InterruptedException {
    final OwnedValue<Words> value = regions.value("ibm", Words.CODEC, 64);
    final FakeCall<GetResponse> call =
        new FakeCall<>() {
          @Override
          public void setOnCancelHandler(Runnable handler) {
            super.setOnCancelHandler(handler);
            value.set(new Words(1, 1)); // after the first look, and before it waits
          }
        };
    service.get(get(0), call);
    final Object answer = call.answers.poll(10, TimeUnit.SECONDS);
    assertTrue(((GetResponse) answer).getVersion() > 0);
    assertEquals(FakeCall.COMPLETED, call.answers.poll(10, TimeUnit.SECONDS));
  }

  private static GetRequest get(long after) {
    return GetRequest.newBuilder().setName("ibm").setAfter(after).build();
  }

  private static void assertNotFound(Object answer) {
    final StatusRuntimeException thrown = assertInstanceOf(StatusRuntimeException.class, answer);
    assertEquals(Status.Code.NOT_FOUND, thrown.getStatus().getCode());
  }

  @Test
  void nameThatIsTakenBackBeforeTheWaitIsNoticed() {
    final OwnedValue<Words> value = regions.value("ibm", Words.CODEC, 64);
    final FakeCall<GetResponse> call =
        new FakeCall<>() {
          @Override
          public void setOnCancelHandler(Runnable handler) {
            super.setOnCancelHandler(handler);
            value.close(); // after the first look, and before it waits
          }
        };
    service.get(get(0), call);
    assertNotFound(call.answers.poll());
  }

  @Test
  void callThatCannotBeAnsweredKeepsNoOtherOne() throws InterruptedException {
    final OwnedValue<Words> value = regions.value("ibm", Words.CODEC, 64);
    final FakeCall<GetResponse> closed =
        new FakeCall<>() {
          @Override
          public void onNext(GetResponse response) {
            throw new IllegalStateException("call is closed");
          }

          @Override
          public void onError(Throwable t) {
            throw new IllegalStateException("call is closed");
          }
        };
    final FakeCall<GetResponse> other = new FakeCall<>();
    service.get(get(0), closed);
    service.get(get(0), other);
    final long version = value.set(new Words(1, 1));
    assertInstanceOf(GetResponse.class, other.answers.poll(10, TimeUnit.SECONDS));
    assertEquals(FakeCall.COMPLETED, other.answers.poll(10, TimeUnit.SECONDS));
    service.get(get(version), closed);
    service.get(get(version), other);
    value.close();
    assertNotFound(other.answers.poll());
  }

  /** A call that waits for ever costs the owner no memory for each value. */
  @Test
  void oneWakeUpIsDueAtATime() throws InterruptedException {
    final OwnedValue<Words> value = regions.value("ibm", Words.CODEC, 64);
    final FakeCall<GetResponse> waiting = new FakeCall<>();
    final FakeCall<GetResponse> next = new FakeCall<>();
    service.get(get(Long.MAX_VALUE), waiting);
    service.get(get(0), next);
    final CountDownLatch busy = new CountDownLatch(1);
    regions.answers().execute(() -> assertDoesNotThrow(() -> busy.await()));
    for (int i = 0; i < 1000; i++) {
      value.set(new Words(i, 1));
    }
    final int due = ((ThreadPoolExecutor) regions.answers()).getQueue().size();
    busy.countDown();
    assertTrue(due <= 1, "due=" + due);
    assertInstanceOf(GetResponse.class, next.answers.poll(10, TimeUnit.SECONDS));
    assertNull(waiting.answers.poll());
  }

  @Test
  void cancelledGetIsNotAnswered() throws InterruptedException {
    final OwnedValue<Words> value = regions.value("ibm", Words.CODEC, 64);
    final FakeCall<GetResponse> call = new FakeCall<>();
    final FakeCall<GetResponse> other = new FakeCall<>();
    service.get(get(0), call);
    service.get(get(0), other);
    call.cancel();
    value.set(new Words(1, 1));
    assertInstanceOf(GetResponse.class, other.answers.poll(10, TimeUnit.SECONDS));
    assertNull(call.answers.poll());
  }
}
