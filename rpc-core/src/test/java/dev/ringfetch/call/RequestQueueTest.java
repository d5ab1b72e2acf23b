package dev.ringfetch.call;

import static dev.ringfetch.call.ServerSteps.message;
import static dev.ringfetch.call.ServerSteps.method;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.call.ServerSteps.Frame;
import io.grpc.HandlerRegistry;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How many requests of one session wait in the executor. */
@Timeout(60)
class RequestQueueTest {
  private static final int CALLS = 200;

  private final List<Frame> answers = new ArrayList<>();
  private final ServerSteps steps =
      new ServerSteps(
          new HandlerRegistry() {
            @Override
            public ServerMethodDefinition<?, ?> lookupMethod(String name, String authority) {
              return null;
            }
          },
          List.of(method("Call", (call, headers) -> answer(call))));

  private static ServerCall.Listener<InputStream> answer(
      ServerCall<InputStream, InputStream> call) {
    call.sendHeaders(new Metadata());
    call.sendMessage(message("answer"));
    call.close(Status.OK, new Metadata());
    return new ServerCall.Listener<>() {};
  }

  private void request(int calls) {
    request(1, calls);
  }

  private void request(int first, int last) {
    for (int i = first; i <= last; i++) {
      steps.request(i, 0, "");
      answers.addAll(steps.frames());
    }
  }

  private void assertAnswered(Status.Code code) {
    answers.addAll(steps.frames());
    assertEquals(CALLS, answers.stream().map(Frame::id).distinct().count());
    assertEquals(CALLS, answers.stream().filter(frame -> frame.code() == code.value()).count());
    assertTrue(steps.tasks.isEmpty());
  }

  @Test
  void fewWaitThereTheOthersFollowOneByOne() {
    request(CALLS);
    for (int i = 0; i <= CALLS - RequestQueue.LIMIT; i++) {
      assertEquals(RequestQueue.LIMIT, steps.tasks.size());
      steps.tasks.remove().run();
    }
    assertEquals(RequestQueue.LIMIT - 1, steps.tasks.size());
    steps.runTasks();
    assertAnswered(Status.Code.OK);
  }

  @Test
  void callThatRunsTakesNobodysTurn() {
    request(RequestQueue.LIMIT);
    final List<Runnable> before = List.copyOf(steps.tasks);
    before.get(0).run();
    steps.request(CALLS, 0, "");
    assertEquals(
        RequestQueue.LIMIT + 1, steps.tasks.size(), "the first has run, its place is free");
  }

  @Test
  void allAreAnsweredWhereTheExecutorIsShutDownMeanwhile() {
    request(CALLS);
    steps.rejecting = true;
    final List<Runnable> handed = List.copyOf(steps.tasks);
    steps.tasks.clear();
    handed.get(0).run(); // and hands over those that wait, which are rejected
    answers.addAll(steps.frames());
    assertEquals(1 + CALLS - RequestQueue.LIMIT, answers.size());
    handed.subList(1, handed.size()).forEach(Runnable::run);
    answers.addAll(steps.frames());
    assertEquals(CALLS, answers.stream().map(Frame::id).distinct().count());
    assertEquals(
        RequestQueue.LIMIT,
        answers.stream().filter(frame -> frame.code() == Status.Code.OK.value()).count());
    steps.rejecting = false;
    steps.request(CALLS + 1, 0, "");
    assertEquals(1, steps.tasks.size(), "the turns of those that were rejected are free again");
  }

  @Test
  void placesInAnExecutorThatBeginsNothingAreLostUntilItDoes() {
    final int first = 2 * RequestQueue.LIMIT + 1;
    request(1, first);
    assertEquals(RequestQueue.LIMIT, steps.tasks.size());
    final long startNs = System.nanoTime();
    while (steps.tasks.size() == RequestQueue.LIMIT) {
      assertTrue(System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(30), "no place is free");
      answers.addAll(steps.frames());
    }
    assertEquals(2 * RequestQueue.LIMIT, steps.tasks.size());
    steps.runTasks();
    request(first + 1, CALLS);
    assertEquals(RequestQueue.LIMIT, steps.tasks.size(), "the others have begun");
    steps.runTasks();
    assertAnswered(Status.Code.OK);
  }

  @Test
  void noneIsForgottenWhereNoMemoryIsLeftToHandOneOver() {
    request(RequestQueue.LIMIT + 1);
    steps.outOfMemory = true;
    steps.tasks.remove().run(); // and hands over the one that waits
    assertEquals(1, steps.frames().size(), "who runs is answered");
    assertTrue(steps.session.hasEnded(), "which tells the client of the other one");
  }

  @Test
  void noneIsForgottenByManyThreads() throws Exception {
    final List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      final Thread thread =
          new Thread(
              () -> {
                while (!Thread.currentThread().isInterrupted()) {
                  steps.runTasks();
                }
              });
      thread.setDaemon(true);
      thread.start();
      threads.add(thread);
    }
    final long startNs = System.nanoTime();
    request(CALLS);
    while (answers.size() < CALLS && System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(30)) {
      answers.addAll(steps.frames());
    }
    for (final Thread thread : threads) {
      thread.interrupt();
      thread.join(TimeUnit.SECONDS.toMillis(10));
      assertFalse(thread.isAlive());
    }
    assertAnswered(Status.Code.OK);
  }
}
