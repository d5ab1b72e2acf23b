package dev.ringfetch.call;

import static dev.ringfetch.call.ServerSteps.STATUS;
import static dev.ringfetch.call.ServerSteps.UNIT;
import static dev.ringfetch.call.ServerSteps.message;
import static dev.ringfetch.call.ServerSteps.method;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.call.ServerSteps.Frame;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.system.Await;
import io.grpc.Context;
import io.grpc.Drainable;
import io.grpc.HandlerRegistry;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What no stub does, and no call may do to another. */
@Timeout(60)
class UnaryServerCallTest {
  private static final int UNKNOWN = Status.Code.UNKNOWN.value();
  private static final int INTERNAL = Status.Code.INTERNAL.value();
  private static final int UNAVAILABLE = Status.Code.UNAVAILABLE.value();

  private final List<String> events = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private ServerCall<InputStream, InputStream> call;
  private Context context;
  private boolean asks = true;
  private Consumer<ServerCall<InputStream, InputStream>> handler = answered -> {};
  private Consumer<String> inLookup = name -> {};

  private final ServerSteps steps =
      new ServerSteps(
          new HandlerRegistry() {
            @Override
            public ServerMethodDefinition<?, ?> lookupMethod(String name, String authority) {
              inLookup.accept(name);
              return method("Late", (started, headers) -> start(started));
            }
          },
          List.of(
              method("Call", (started, headers) -> start(started)),
              method("Answer", (started, headers) -> answer(started))));

  private ServerCall.Listener<InputStream> start(ServerCall<InputStream, InputStream> started) {
    call = started;
    context = Context.current();
    if (asks) {
      started.request(2);
    }
    return new ServerCall.Listener<>() {
      @Override
      public void onHalfClose() {
        events.add("halfClose");
        handler.accept(started);
      }

      @Override
      public void onCancel() {
        events.add("cancel");
      }

      @Override
      public void onComplete() {
        events.add("complete");
      }
    };
  }

  /** Another call, which may be in the middle of its answer when {@link #handler} goes on. */
  private ServerCall.Listener<InputStream> answer(ServerCall<InputStream, InputStream> started) {
    started.request(2);
    started.sendHeaders(new Metadata());
    started.sendMessage(message("second"));
    join();
    started.close(Status.OK, new Metadata());
    return new ServerCall.Listener<>() {};
  }

  private Thread inAnotherThread(Runnable task) {
    final Thread thread = new Thread(task, "handed-over");
    thread.setDaemon(true);
    threads.add(thread);
    thread.start();
    return thread;
  }

  private final CountDownLatch mayGoOn = new CountDownLatch(1);

  @AfterEach
  void join() {
    mayGoOn.countDown();
    try {
      for (final Thread thread : threads) {
        thread.join(TimeUnit.SECONDS.toMillis(30));
        assertFalse(thread.isAlive(), "a thread hangs");
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** A message that takes its time to be marshalled. */
  private final class Slow extends InputStream implements Drainable {
    final CountDownLatch begun = new CountDownLatch(1);

    @Override
    public int drainTo(OutputStream target) throws IOException {
      target.write("fir".getBytes(StandardCharsets.UTF_8));
      begun.countDown();
      Await.latch(mayGoOn);
      target.write("st".getBytes(StandardCharsets.UTF_8));
      return 5;
    }

    @Override
    public int read() {
      throw new UnsupportedOperationException();
    }

    @Override
    public int read(byte[] target, int offset, int length) {
      throw new UnsupportedOperationException();
    }
  }

  private static void assertAnswers(List<Frame> frames, Frame... expected) {
    assertEquals(List.of(expected), frames);
  }

  private static Frame ok(int id, String text) {
    return new Frame(id, UNIT, 0, text);
  }

  private static void assertStatus(int id, int code, String part, List<Frame> frames) {
    assertEquals(1, frames.size(), frames::toString);
    final Frame frame = frames.get(0);
    assertEquals(id, frame.id());
    assertEquals(STATUS, frame.flags());
    assertEquals(code, frame.code());
    assertTrue(frame.text().contains(part), frame::text);
  }

  @Test
  void handlerThrowsWhileAnotherThreadMarshals() {
    final Slow slow = new Slow();
    handler =
        given -> {
          inAnotherThread(
              () -> {
                given.sendHeaders(new Metadata());
                given.sendMessage(slow);
                given.close(Status.OK, new Metadata());
              });
          Await.latch(slow.begun);
          throw new IllegalStateException("test");
        };
    steps.request(1, 0, "a");
    steps.runTasks();
    assertStatus(1, UNKNOWN, "Application error", steps.frames());
    steps.request(2, 1, "b"); // answers in the midst of which the first call's thread goes on
    steps.runTasks();
    assertAnswers(steps.frames(), ok(2, "second"));
    steps.request(3, 1, "c");
    steps.request(4, 1, "d");
    steps.runTasks();
    assertAnswers(steps.frames(), ok(3, "second"), ok(4, "second"));
    assertEquals(List.of("halfClose", "complete"), events);
  }

  @Test
  void handlerThrowsBeforeAnotherThreadAnswers() {
    handler =
        given -> {
          inAnotherThread(
              () -> {
                Await.latch(mayGoOn);
                given.sendHeaders(new Metadata());
                given.sendMessage(message("late"));
                given.close(Status.OK, new Metadata());
              });
          throw new IllegalStateException("test");
        };
    steps.request(1, 0, "a");
    steps.runTasks();
    assertStatus(1, UNKNOWN, "Application error", steps.frames());
    steps.request(2, 1, "b");
    steps.runTasks();
    assertAnswers(steps.frames(), ok(2, "second"));
  }

  @Test
  void closedWhileAnotherThreadMarshals() {
    final Slow slow = new Slow();
    handler =
        given -> {
          given.sendHeaders(new Metadata());
          inAnotherThread(() -> given.sendMessage(slow));
          Await.latch(slow.begun);
          given.close(Status.OK, new Metadata());
        };
    steps.request(1, 0, "a");
    steps.runTasks();
    assertStatus(1, INTERNAL, "another thread", steps.frames());
    steps.request(2, 1, "b");
    steps.runTasks();
    assertAnswers(steps.frames(), ok(2, "second"));
  }

  @Test
  void tooManyResponsesAreACancelAndTheCloseThatFollowsIsIgnored() {
    handler =
        given -> {
          given.sendHeaders(new Metadata());
          given.sendMessage(message("one"));
          given.sendMessage(message("two"));
          given.sendMessage(message("three"));
          assertTrue(given.isCancelled());
          assertFalse(given.isReady());
          given.close(Status.OK, new Metadata());
          events.add("closed");
        };
    steps.request(1, 0, "a");
    steps.runTasks();
    assertStatus(1, INTERNAL, "Too many responses", steps.frames());
    assertEquals(List.of("halfClose", "closed", "cancel"), events);
    assertTrue(context.isCancelled());
  }

  @Test
  void trailersThatCannotBeSerialisedAreAnAnswer() {
    handler =
        given -> {
          given.sendHeaders(new Metadata());
          given.sendMessage(message("one"));
          given.close(Status.OK, ServerSteps.brokenTrailers());
        };
    steps.request(1, 0, "a");
    steps.runTasks();
    final List<Frame> frames = steps.frames();
    assertEquals(1, frames.size(), frames::toString);
    assertEquals(UNKNOWN, frames.get(0).code());
    assertEquals(List.of("halfClose", "complete"), events);
  }

  @Test
  void cancelWhileTheContextIsMade() {
    inLookup = name -> steps.cancel(1); // between the first look and the context
    steps.requestByName(1, "steps.Steps/Late");
    steps.runTasks();
    assertEquals(null, call, "the handler was started");
    assertAnswers(steps.frames(), new Frame(1, FrameDescriptor.CLOSE, 1, ""));
  }

  @Test
  void cancelReachesTheContextWithoutAnExecutor() {
    steps.request(1, 0, "a");
    steps.runTasks();
    steps.rejecting = true;
    steps.cancel(1);
    assertTrue(context.isCancelled());
    assertAnswers(steps.frames(), new Frame(1, FrameDescriptor.CLOSE, 1, ""));
  }

  @Test
  void cancelReachesTheContextOfABusyHandlerWithoutAnExecutor() {
    handler =
        given -> {
          steps.rejecting = true;
          steps.cancel(1);
          assertTrue(context.isCancelled());
          events.add("busy");
        };
    steps.request(1, 0, "a");
    steps.runTasks();
    assertEquals(List.of("halfClose", "busy", "cancel"), events);
  }

  @Test
  void requestsAreRefusedWithoutAnExecutor() {
    steps.rejecting = true;
    steps.request(1, 0, "a");
    assertStatus(1, UNAVAILABLE, "Server executor: shut down", steps.frames());
    steps.rejecting = false;
    steps.request(2, 1, "b");
    steps.runTasks();
    assertAnswers(steps.frames(), ok(2, "second"));
  }

  @Test
  void requestsAreRefusedWithoutAThread() {
    steps.outOfThreads = true;
    steps.request(1, 0, "a");
    assertStatus(1, UNAVAILABLE, "Server executor: no thread", steps.frames());
    steps.outOfThreads = false;
    steps.request(2, 1, "b");
    steps.runTasks();
    assertAnswers(steps.frames(), ok(2, "second"));
  }

  @Test
  void cancelReachesTheContextWithoutAThread() {
    steps.request(1, 0, "a");
    steps.runTasks();
    steps.outOfThreads = true;
    steps.cancel(1);
    assertTrue(context.isCancelled());
    assertAnswers(steps.frames(), new Frame(1, FrameDescriptor.CLOSE, 1, ""));
  }

  @Test
  void callThatWaitsForTheHandlerEndsWithoutAnExecutor() {
    asks = false;
    steps.request(1, 0, "a");
    steps.runTasks();
    steps.rejecting = true;
    call.request(1); // would have to run the call's task
    assertStatus(1, UNAVAILABLE, "Server executor: shut down", steps.frames());
    assertTrue(context.isCancelled());
    call.sendHeaders(new Metadata());
    call.sendMessage(message("late"));
    call.close(Status.OK, new Metadata());
    assertAnswers(steps.frames());
  }

  @Test
  void answerWithoutAnExecutorForWhatFollows() {
    steps.request(1, 0, "a");
    steps.runTasks();
    steps.rejecting = true;
    call.sendHeaders(new Metadata());
    call.sendMessage(message("late"));
    call.close(Status.OK, new Metadata());
    assertAnswers(steps.frames(), ok(1, "late"));
    assertTrue(context.isCancelled());
  }
}
