package dev.ringfetch.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.memory.v1.GetRequest;
import dev.ringfetch.memory.v1.GetResponse;
import dev.ringfetch.memory.v1.LockRequest;
import dev.ringfetch.memory.v1.LockResponse;
import io.grpc.inprocess.InProcessServerBuilder;
import java.time.Duration;
import java.util.List;
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
    final ClientHold client = new ClientHold(regions, call);
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
    final ClientHold client = new ClientHold(regions, call);
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
    final ClientHold client = new ClientHold(regions, call);
    client.onNext(request());
    assertInstanceOf(LockResponse.class, call.answers.poll());
    client.onCompleted();
    assertEquals(FakeCall.COMPLETED, call.answers.poll());
    assertTrue(isFree());
  }

  @Test
  void callThatEndsBeforeItNamesALockLeavesNothing() {
    final FakeCall<LockResponse> call = new FakeCall<>();
    final ClientHold client = new ClientHold(regions, call);
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
    final MemoryService service =
        new MemoryService(regions, new OwnerMemory(List.of()), fabric -> true);
    service.get(GetRequest.newBuilder().setName("ibm").setAfter(0).build(), call);
    final Object answer = call.answers.poll(10, TimeUnit.SECONDS);
    assertTrue(((GetResponse) answer).getVersion() > 0);
    assertEquals(FakeCall.COMPLETED, call.answers.poll(10, TimeUnit.SECONDS));
  }

  @Test
  void cancelledGetIsNotAnswered() throws InterruptedException {
    final OwnedValue<Words> value = regions.value("ibm", Words.CODEC, 64);
    final FakeCall<GetResponse> call = new FakeCall<>();
    final FakeCall<GetResponse> other = new FakeCall<>();
    final MemoryService service =
        new MemoryService(regions, new OwnerMemory(List.of()), fabric -> true);
    final GetRequest request = GetRequest.newBuilder().setName("ibm").setAfter(0).build();
    service.get(request, call);
    service.get(request, other);
    call.cancel();
    value.set(new Words(1, 1));
    assertInstanceOf(GetResponse.class, other.answers.poll(10, TimeUnit.SECONDS));
    assertNull(call.answers.poll());
  }
}
