package dev.ringfetch.index;

import io.grpc.Attributes;
import io.grpc.ServerTransportFilter;
import java.util.concurrent.CountDownLatch;

/**
 * The barrier between a port that is bound and the indexes behind it: connections that are made
 * before it opens wait, on the threads of the transport, and no call of theirs is handled.
 *
 * <p>Thread-safe.
 */
final class StartBarrier extends ServerTransportFilter {
  private final CountDownLatch opened = new CountDownLatch(1);

  /** Lets connections pass, from now on. */
  void open() {
    opened.countDown();
  }

  @Override
  public Attributes transportReady(Attributes attributes) {
    try {
      opened.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted before the server has served", e);
    }
    return attributes;
  }
}
