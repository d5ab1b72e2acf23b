package dev.ringfetch.benchmarks.bulk;

import dev.ringfetch.benchmarks.v1.Received;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * The client's end of one upload: sends a message whenever the call is ready for another. Two are
 * sent at least.
 */
final class Sender<T> implements ClientResponseObserver<T, Received> {
  private static final int LEAST = 2;

  private final Supplier<T> messages;
  private final int length;
  private final Executor turns;
  private final CountDownLatch begun = new CountDownLatch(1);
  private final CompletableFuture<Received> received = new CompletableFuture<>();
  private final long startNs = System.nanoTime();
  private ClientCallStreamObserver<T> call;
  private long sent;
  private boolean ended;
  private long endNs;
  private volatile boolean stopped;

  /**
   * Creates the end of an upload that goes on until {@link #stop}.
   *
   * @param messages source of each message, called when there is room for it.
   * @param length of the payload of each, in bytes.
   * @param turns executor that it queues itself at after each message, so that other tasks there
   *     have their turn; null to send as long as the call is ready.
   */
  Sender(Supplier<T> messages, int length, Executor turns) {
    this.messages = messages;
    this.length = length;
    this.turns = turns;
  }

  @Override
  public void beforeStart(ClientCallStreamObserver<T> requests) {
    call = requests;
    requests.setOnReadyHandler(this::pump);
  }

  private void pump() {
    while (!ended && call.isReady()) {
      if (stopped && sent >= LEAST) {
        ended = true;
        call.onCompleted();
      } else {
        call.onNext(messages.get());
        sent++;
        if (sent == LEAST) {
          begun.countDown();
        }
        if (turns != null && call.isReady()) {
          turns.execute(this::pump);
          return;
        }
      }
    }
  }

  /** Makes it end when the call is ready the next time. */
  void stop() {
    stopped = true;
  }

  /** Lets it send for some time, and stops it; earlier if it fails. */
  void stopAfter(long millis) throws Exception {
    try {
      final Received unused = received.get(millis, TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      stop();
    }
  }

  /** Waits until messages are on their way. */
  void awaitBegin() throws InterruptedException {
    if (!begun.await(Upload.PATIENCE_SECONDS, TimeUnit.SECONDS)) {
      throw new IllegalStateException("the upload does not begin");
    }
  }

  /** Waits until the server has taken in all. */
  Transfer awaitEnd() throws Exception {
    final Received counted;
    try {
      counted = received.get(Upload.PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new IllegalStateException("the upload does not end", e);
    }
    final long bytes = sent * length;
    return new Transfer(sent, bytes, endNs - startNs)
        .checked(counted.getMessages(), counted.getBytes());
  }

  @Override
  public void onNext(Received answer) {
    endNs = System.nanoTime();
    received.complete(answer);
  }

  @Override
  public void onError(Throwable t) {
    received.completeExceptionally(t);
    begun.countDown();
  }

  @Override
  public void onCompleted() {
    received.completeExceptionally(new IllegalStateException("no answer")); // unless there was one
  }
}
