package dev.ringfetch.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.index.service.IndexService;
import dev.ringfetch.index.service.Indexes;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexGrpc.IndexStub;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class CallsInFlightTest {
  private static final int ANSWER = 7;

  /** Answers what waits, in any order, by a thread of its own. */
  private static class Service implements AutoCloseable {
    private final BlockingQueue<StreamObserver<Integer>> waiting = new LinkedBlockingQueue<>();
    private final AtomicInteger inFlight = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();
    private final AtomicInteger issued = new AtomicInteger();
    private final Random random;
    private final Thread thread = new Thread(this::serve, "service");

    Service() {
      final long seed = Long.getLong("ringfetch.seed", 1);
      System.out.println("CallsInFlightTest: seed " + seed);
      random = new Random(seed);
      thread.start();
    }

    void call(StreamObserver<Integer> observer) {
      issued.incrementAndGet();
      most.accumulateAndGet(inFlight.incrementAndGet(), Math::max);
      waiting.add(observer);
    }

    private void serve() {
      final List<StreamObserver<Integer>> batch = new ArrayList<>();
      try {
        while (true) {
          batch.add(waiting.take());
          waiting.drainTo(batch, random.nextInt(8));
          Collections.shuffle(batch, random);
          for (final StreamObserver<Integer> observer : batch) {
            inFlight.decrementAndGet();
            answer(observer);
          }
          batch.clear();
        }
      } catch (InterruptedException e) {
        // The test is over.
      }
    }

    void answer(StreamObserver<Integer> observer) {
      observer.onNext(ANSWER);
      observer.onCompleted();
    }

    @Override
    public void close() {
      thread.interrupt();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 64})
  void neverMoreThanAskedForAndAllEnd(int limit) throws InterruptedException {
    try (Service service = new Service()) {
      final CallsInFlight<Integer> calls =
          new CallsInFlight<>(service::call, answer -> answer == ANSWER);
      for (int round = 0; round < 2; round++) {
        final int before = service.issued.get();
        final Figures figures = calls.runFor(limit, 50);
        assertEquals(service.issued.get() - before, figures.calls());
        assertEquals(0, service.inFlight.get());
        assertEquals(limit, service.most.get());
        assertTrue(figures.calls() >= limit && figures.perSecond() > 0, figures::toString);
        assertTrue(figures.p50Us() <= figures.p999Us(), figures::toString);
      }
    }
  }

  @Test
  void callsMayEndBeforeTheyAreIssued() throws InterruptedException {
    final IndexStub stub =
        IndexGrpc.newStub(new NullChannel(new IndexService(new Indexes()).bindService()));
    final AtomicInteger issued = new AtomicInteger();
    final CallsInFlight<GetResponse> calls =
        new CallsInFlight<>(
            observer -> {
              issued.incrementAndGet();
              stub.get(GetRequest.newBuilder().setKey(key()).build(), observer);
            },
            answer -> !answer.hasEntry());
    final Figures figures = calls.runFor(16, 50);
    assertEquals(issued.get(), figures.calls());
    assertTrue(issued.get() >= 16);
  }

  private static ByteString key() {
    return ByteString.copyFromUtf8("absent");
  }

  @Test
  void theFirstFailureIsToldWhenTheRestHasEnded() throws InterruptedException {
    final AtomicInteger answered = new AtomicInteger();
    try (Service service =
        new Service() {
          @Override
          void answer(StreamObserver<Integer> observer) {
            if (answered.incrementAndGet() == 10) {
              observer.onError(new IllegalStateException("of the tenth"));
            } else {
              super.answer(observer);
            }
          }
        }) {
      final CallsInFlight<Integer> calls = new CallsInFlight<>(service::call, answer -> true);
      final IllegalStateException thrown =
          assertThrows(IllegalStateException.class, () -> calls.runFor(4, 60_000));
      assertEquals("a call failed: of the tenth", thrown.getMessage());
      assertEquals(0, service.inFlight.get());
    }
  }

  @Test
  void wrongAndMissingAnswersAreFailures() throws InterruptedException {
    try (Service service = new Service()) {
      final CallsInFlight<Integer> wrong = new CallsInFlight<>(service::call, answer -> false);
      assertEquals(
          "a call failed: not what was asked",
          assertThrows(IllegalStateException.class, () -> wrong.runFor(4, 60_000)).getMessage());
    }
    final CallsInFlight<Integer> missing =
        new CallsInFlight<>(StreamObserver::onCompleted, answer -> true);
    assertThrows(IllegalStateException.class, () -> missing.runFor(4, 60_000));
  }

  @Test
  void callsThatDoNotEndAreGivenUp() {
    final CallsInFlight<Integer> calls = new CallsInFlight<>(observer -> {}, answer -> true, 10);
    assertEquals(
        "calls that do not end",
        assertThrows(IllegalStateException.class, () -> calls.runFor(4, 10)).getMessage());
  }

  @Test
  void callbacksOfSeveralThreadsAreRefused() {
    final CallsInFlight<Integer> calls =
        new CallsInFlight<>(
            observer ->
                new Thread(
                        () -> {
                          observer.onNext(ANSWER);
                          observer.onCompleted();
                        })
                    .start(),
            answer -> true);
    assertThrows(IllegalStateException.class, () -> calls.runFor(1, 60_000));
  }
}
