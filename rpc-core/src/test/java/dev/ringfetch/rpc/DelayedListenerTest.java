package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.grpc.ClientCall;
import io.grpc.Context;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

final class DelayedListenerTest {
  private final List<String> events = new ArrayList<>();
  private final Queue<Runnable> tasks = new ArrayDeque<>();
  private final ClientCall<String, String> call =
      new SimpleForwardingClientCall<>(new ClosedCall<>()) {
        @Override
        public void cancel(String message, Throwable cause) {
          events.add("cancel");
        }
      };
  private final DelayedListener<String> delayed =
      new DelayedListener<>(
          new ClientCall.Listener<>() {
            @Override
            public void onMessage(String message) {
              events.add(message);
              if (message.equals("throw")) {
                throw new IllegalStateException("the test wants it");
              }
            }

            @Override
            public void onReady() {
              events.add("ready");
            }

            @Override
            public void onClose(Status status, Metadata trailers) {
              events.add("close");
            }
          });

  private void release() {
    delayed.release(call, tasks::add, Context.ROOT);
  }

  @Test
  void eventsWaitForTheReleaseAndComeByTheExecutor() {
    delayed.onReady();
    release();
    delayed.onMessage("later");
    assertEquals(List.of(), events);
    tasks.remove().run();
    assertEquals(List.of("ready", "later"), events);
    delayed.onClose(Status.OK, new Metadata());
    assertEquals(List.of("ready", "later", "close"), events);
  }

  @Test
  void withoutAnEventTheReleaseNeedsNoExecutor() {
    release();
    delayed.onReady();
    assertEquals(List.of("ready"), events);
    assertEquals(0, tasks.size());
  }

  @Test
  void aListenerThatThrowsCancelsTheCall() {
    delayed.onMessage("throw");
    delayed.onClose(Status.CANCELLED, new Metadata());
    release();
    tasks.remove().run();
    assertEquals(List.of("throw", "cancel", "close"), events);
  }

  @Test
  void anExecutorThatRejectsKeepsNoEventBack() {
    delayed.onReady();
    delayed.release(
        call,
        task -> {
          throw new RejectedExecutionException("the test wants it");
        },
        Context.ROOT);
    assertEquals(List.of("ready"), events);
  }
}
