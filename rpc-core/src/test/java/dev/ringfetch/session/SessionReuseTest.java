package dev.ringfetch.session;

import static dev.ringfetch.session.SessionSteps.bytes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.HeapFabric;
import dev.ringfetch.session.SessionSteps.ServerCall;
import dev.ringfetch.session.SessionSteps.Sizes;
import dev.ringfetch.session.poller.Poller;
import dev.ringfetch.session.unit.UnitBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Streams serve one call after the other, and stand in one chain after the other. */
@Timeout(60)
class SessionReuseTest {
  private static final int CALLS = 50_000;

  /** More than a buffer keeps, so that to empty it takes time. */
  private static final int LONG = UnitBuffer.RETAINED_LENGTH + 1;

  private final SessionSteps steps = new SessionSteps(Sizes.ROOMY);
  private final HeapFabric fabric = new HeapFabric(CountingSession.MEMORY_LENGTH);
  private final SessionContext context = new SessionContext();
  private final Poller poller = new Poller(fabric.serverDoorbell(), context);
  private final List<String> done = new ArrayList<>();
  private final Stream one = new TestStream(1);
  private final Stream other = new TestStream(2);

  private int nextId = 1; // of the stream's present user

  @Test
  void deadlineIsOfOneCall() {
    steps.send(bytes(3, 1), 1_000_000);
    steps.settle();
    ServerCall timed = steps.request();
    assertNotEquals(Stream.NO_DEADLINE, timed.stream.deadlineNs());
    timed.echo();
    steps.settle();
    steps.send(bytes(3, 1));
    steps.settle();
    ServerCall next = steps.request();
    assertSame(timed.stream, next.stream);
    assertEquals(Stream.NO_DEADLINE, next.stream.deadlineNs());
  }

  /** An answered call's listener does not get the next call's cancel. */
  @Test
  void listenerIsOfOneCall() {
    steps.send(bytes(3, 1));
    steps.settle();
    ServerCall call = steps.request();
    call.echo();
    assertNull(call.stream.listener());
  }

  /**
   * A call that finds the index free finds the stream empty, with an id that no call had before.
   */
  @Test
  void streamIsFreeWhenItIsEmpty() throws Exception {
    SessionSteps single = new SessionSteps(new Sizes(1024, 256, 1, 1000));
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try {
      List<CompletableFuture<Void>> takers = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        takers.add(CompletableFuture.runAsync(() -> takeAndGive(single.client), threads));
      }
      for (CompletableFuture<Void> taker : takers) {
        taker.get(50, TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  private void takeAndGive(ClientSession session) {
    for (int calls = 0; calls < CALLS && !Thread.currentThread().isInterrupted(); ) {
      ClientStream stream = session.open();
      if (stream != null) {
        calls++;
        assertEquals(nextId, stream.id);
        assertNull(stream.listener());
        assertEquals(0, stream.outbound().length());
        nextId += 1 << Stream.INDEX_BITS;
        stream.outbound().extend(LONG);
        stream.inbound().extend(LONG);
        stream.prepare((closed, how) -> {}, SessionSteps.UNIT, 0, Stream.NO_DEADLINE, 100);
        session.recycle(stream);
      }
    }
  }

  /** Its call has ended, and the next one's answer is there before the first is through. */
  @Test
  void streamIsToBeToldAgainWhileItIsTold() {
    CountingSession session =
        new CountingSession(fabric, poller, context) {
          @Override
          void tell(Stream stream) {
            done.add("told " + stream.index());
            if (done.size() == 1) {
              notifications.add(stream);
              notifications.add(other);
            }
          }
        };
    session.notifications.add(one);
    session.notifications.tell(session.notifications.takeStreams());
    session.notifications.tell(session.notifications.takeStreams());
    assertEquals(List.of("told 1", "told 1", "told 2"), done);
  }

  private CountingSession asksAgain() {
    return new CountingSession(fabric, poller, context) {
      @Override
      void onOperations(Stream stream, int asked) {
        done.add("asked " + stream.index());
        if (done.size() == 1) {
          driver.submit(other, 1);
          driver.submit(stream, 1);
        }
      }
    };
  }

  @Test
  void streamAsksAgainWhileItIsHeard() {
    CountingSession session = asksAgain();
    session.driver.submit(one, 1);
    session.driver.drive();
    assertEquals(List.of("asked 1", "asked 2", "asked 1"), done);
  }

  /** Also when there was no memory to end it properly: nobody comes back for what has ended. */
  @Test
  void streamOfAnEndedSessionIsHeard() {
    CountingSession session = asksAgain();
    session.end("test");
    session.doom();
    session.driver.submit(one, 1);
    session.driver.drive();
    assertEquals(List.of("asked 1", "asked 2", "asked 1"), done);
  }

  /** Both were taken out of the queue at once. */
  @Test
  void streamIsHeardThoughTheOneBeforeItFailed() {
    CountingSession session =
        new CountingSession(fabric, poller, context) {
          @Override
          void onOperations(Stream stream, int asked) {
            done.add("asked " + stream.index());
            if (done.size() == 1) {
              throw new IllegalStateException("of the test");
            }
          }
        };
    assertTrue(session.driver.tryAcquire());
    session.driver.submit(one, 1);
    session.driver.submit(other, 1);
    assertTrue(session.driver.releaseAndTell());
    session.driver.drive();
    assertEquals(List.of("asked 1", "asked 2"), done);
  }

  @Test
  void roundThatWasAskedForOfAHeldSessionIsDone() {
    assertTrue(steps.client.driver.tryAcquire());
    steps.client.drain();
    assertTrue(steps.client.driver.releaseAndTell());
    steps.client.driver.drive();
    assertEquals(List.of("drained"), steps.clientEnds);
  }

  @Test
  void requestOfASessionThatEndsIsCancelled() {
    steps.send(bytes(3, 1));
    steps.settle();
    ServerStream stream = steps.request().stream;
    steps.server.end("test");
    assertTrue(stream.isCancelled());
  }

  @Test
  void firstReasonOfAnEndCounts() {
    assertTrue(steps.client.driver.tryAcquire());
    steps.client.end("first");
    steps.client.end("second");
    assertEquals("first", steps.client.endReason());
    assertTrue(steps.client.driver.releaseAndTell());
    steps.client.driver.drive();
    assertEquals(List.of("first"), steps.clientEnds);
  }
}
