package dev.ringfetch.examples.balance;

import dev.ringfetch.examples.greeter.v1.GreeterGrpc;
import dev.ringfetch.examples.greeter.v1.HelloRequest;
import io.grpc.Channel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The load: threads that make numbered calls, one after the other. A call that ends UNAVAILABLE,
 * because its server was killed, is repeated. Lost is a call that ends otherwise, with another
 * answer, or not at all.
 */
final class Load {
  private static final int DEADLINE_SECONDS = 30;

  private final List<Thread> threads = new ArrayList<>();
  private final GreeterGrpc.GreeterBlockingStub stub;
  private final AtomicLong begun = new AtomicLong();
  private final AtomicLong answered = new AtomicLong();
  private final AtomicLong repeated = new AtomicLong();
  private final AtomicReference<String> failure = new AtomicReference<>();
  private volatile boolean stopped;

  Load(Channel channel, int callers) {
    stub = GreeterGrpc.newBlockingStub(channel);
    for (int i = 0; i < callers; i++) {
      threads.add(new Thread(this::run, "caller-" + i));
    }
  }

  void start() {
    threads.forEach(Thread::start);
  }

  /** Stops, and waits for the calls under way. */
  void stop() throws InterruptedException {
    stopped = true;
    for (final Thread thread : threads) {
      thread.join(TimeUnit.SECONDS.toMillis(2L * DEADLINE_SECONDS));
    }
  }

  long answered() {
    return answered.get();
  }

  long repeated() {
    return repeated.get();
  }

  /** Calls that have begun and got no answer. */
  long unanswered() {
    return begun.get() - answered.get();
  }

  /** Returns why a call was lost, or null. */
  String failure() {
    return failure.get();
  }

  private void run() {
    while (!stopped && failure.get() == null) {
      final String text = "call " + begun.incrementAndGet();
      final String answer = call(text);
      if (!text.equals(answer)) {
        failure.compareAndSet(null, text + " has got: " + answer);
        return;
      }
      answered.incrementAndGet();
    }
  }

  private String call(String text) {
    final HelloRequest request = HelloRequest.newBuilder().setName(text).build();
    while (true) {
      try {
        return stub.withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS)
            .sayHello(request)
            .getMessage();
      } catch (StatusRuntimeException e) {
        if (e.getStatus().getCode() != Status.Code.UNAVAILABLE) {
          return e.getStatus().toString();
        }
        repeated.incrementAndGet();
      }
    }
  }
}
