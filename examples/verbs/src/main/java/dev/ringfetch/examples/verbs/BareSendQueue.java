package dev.ringfetch.examples.verbs;

import dev.ringfetch.rdma.natives.CompletionLayout;
import dev.ringfetch.rdma.natives.CompletionQueues;
import dev.ringfetch.rdma.natives.Errors;
import dev.ringfetch.rdma.natives.QueuePairs;
import dev.ringfetch.rdma.natives.Regions;
import dev.ringfetch.rdma.natives.Request;
import dev.ringfetch.rdma.natives.SendLayout;
import java.nio.ByteBuffer;

/**
 * The send side of one end: posts requests, and takes completions. READs complete each; of
 * everything else one request in {@link BareSignals#INTERVAL} does. One thread.
 */
final class BareSendQueue {
  private static final int PATIENCE_SECONDS = 10;

  private final long queuePair;
  private final long completionQueue;
  private final BareSignals signals = new BareSignals();
  private final BareWait wait = new BareWait(PATIENCE_SECONDS, "completion of a work request");
  private final ByteBuffer completion = Request.direct(CompletionLayout.SIZE);
  private final long completionAddress = Regions.address(completion);
  private boolean signalPending;
  private boolean readPending;
  private long signaled;

  /** Posts to a queue pair of {@link BareSignals#DEPTH}, and owns its completion queue's poll. */
  BareSendQueue(long queuePair, long completionQueue) {
    this.queuePair = queuePair;
    this.completionQueue = completionQueue;
  }

  /** Posts a WRITE or a SEND. */
  void post(BareRequest request) {
    final boolean signaled = signals.next();
    if (signaled) {
      wait.begin();
      while (signalPending) {
        poll();
      }
      signalPending = true;
      this.signaled++;
    }
    post(request, signaled);
  }

  /** Requests so far, READs apart, that asked for a completion. */
  long signaled() {
    return signaled;
  }

  /** Posts a READ and waits until it is done. */
  void read(BareRequest request) {
    readPending = true;
    post(request, true);
    wait.begin();
    while (readPending) {
      poll();
    }
  }

  private void post(BareRequest request, boolean signaled) {
    final int error = QueuePairs.errno(QueuePairs.postSend(queuePair, request.address(signaled)));
    if (error != 0) {
      throw new IllegalStateException("post: errno " + -error);
    }
  }

  /** Takes a completion, or passes a moment of the wait. */
  private void poll() {
    final int count = CompletionQueues.poll(completionQueue, 1, completionAddress);
    if (count == 0) {
      wait.pause();
      return;
    }
    if (count < 0) {
      throw new IllegalStateException("poll: errno " + -count);
    }
    final int status = completion.getInt(CompletionLayout.STATUS);
    if (status != CompletionLayout.SUCCESS) {
      throw new IllegalStateException("work request: " + Errors.completionText(status));
    }
    if (completion.getLong(CompletionLayout.ID) == SendLayout.READ) {
      readPending = false;
    } else {
      signalPending = false;
    }
  }
}
