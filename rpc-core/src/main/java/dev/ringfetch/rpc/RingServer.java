package dev.ringfetch.rpc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Kind;
import dev.ringfetch.counters.Subject;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.session.SessionContext;
import dev.ringfetch.session.handshake.PolledFabric;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import java.io.IOException;
import java.net.SocketAddress;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;

/**
 * A server that serves gRPC on a port, and rings beside it. Built by {@link RingServerBuilder};
 * thread-safe.
 *
 * <p>Where no fabric can be used it serves gRPC alone, and says so once.
 */
public final class RingServer extends Server {
  /** The description of calls that a server's {@code shutdownNow} ends, as gRPC's ends them. */
  static final String SHUTDOWN_NOW = "Server shutdownNow invoked";

  private final Server grpc;
  private final SessionEndpoint endpoint;
  private final FabricSelection selection;
  private final FabricContext fabricContext;
  private final SessionContext sessionContext;
  private final int pollers;
  private final LongAdder grpcCalls;
  private final AtomicBoolean ending = new AtomicBoolean();
  private final CountDownLatch ended = new CountDownLatch(1);
  private volatile boolean open; // there are fabrics, and they are not closed

  @GuardedBy("this")
  private boolean starting;

  @GuardedBy("this")
  private Fabrics fabrics;

  @GuardedBy("this")
  private Subject subject;

  @GuardedBy("this")
  private boolean fabricsClosed;

  RingServer(
      Server grpc,
      SessionEndpoint endpoint,
      FabricSelection selection,
      FabricContext fabricContext,
      SessionContext sessionContext,
      int pollers,
      LongAdder grpcCalls) {
    this.grpc = grpc;
    this.endpoint = endpoint;
    this.selection = selection;
    this.fabricContext = fabricContext;
    this.sessionContext = sessionContext;
    this.pollers = pollers;
    this.grpcCalls = grpcCalls;
  }

  /**
   * Opens the fabrics and the port. A start that fails, for whatever reason, leaves nothing behind
   * and may be repeated, as gRPC's may.
   *
   * @throws IllegalStateException when the server has started, is starting or was shut down.
   */
  @Override
  public RingServer start() throws IOException {
    synchronized (this) {
      if (starting || fabrics != null) {
        throw new IllegalStateException("Already started");
      }
      if (ending.get()) { // gRPC would say so, after the fabrics were opened
        throw new IllegalStateException("Shutting down");
      }
      starting = true;
    }
    Fabrics opened = null;
    boolean started = false;
    try {
      opened = new Fabrics(selection, fabricContext, sessionContext, pollers, "ringfetch-server");
      opened.logObstacles();
      endpoint.start(this, opened.opened());
      grpc.start();
      synchronized (this) {
        fabrics = opened;
        open = true;
      }
      started = true;
    } finally {
      if (!started) {
        endpoint.start(this, List.of());
        if (opened != null) {
          opened.close();
        }
      }
      synchronized (this) {
        starting = false;
        notifyAll();
      }
    }
    synchronized (this) {
      if (!fabricsClosed) {
        subject = opened.counters().add(Kind.SERVER, "port " + grpc.getPort(), this::count);
      }
    }
    return this;
  }

  /** Returns the value of a counter of this server. */
  long count(Counter counter) {
    return counter == Counter.SERVER_CALLS_GRPC ? grpcCalls.sum() : endpoint.count(counter);
  }

  /** Names of the fabrics that are served beside gRPC, and why others are not. */
  public synchronized String fabrics() {
    if (fabrics == null) {
      return "not started";
    }
    final String names =
        fabrics.opened().stream()
            .map(PolledFabric::fabric)
            .map(fabric -> fabric.name())
            .collect(Collectors.joining(", "));
    return names.isEmpty() ? "none (" + fabrics.obstacles() + ")" : names;
  }

  /** Sessions that are open, or on offer to a client. */
  public int sessionCount() {
    return endpoint.sessionCount();
  }

  /** Closes the fabrics, also those that a start is about to open. */
  private synchronized void closeFabrics() throws InterruptedException {
    while (starting) {
      wait();
    }
    if (fabrics != null) {
      fabricsClosed = true;
      fabrics.counters().remove(subject);
      try {
        fabrics.close();
      } finally {
        open = false;
      }
    }
  }

  @Override
  public int getPort() {
    return grpc.getPort();
  }

  @Override
  public List<? extends SocketAddress> getListenSockets() {
    return grpc.getListenSockets();
  }

  @Override
  public List<ServerServiceDefinition> getServices() {
    return grpc.getServices();
  }

  @Override
  public List<ServerServiceDefinition> getImmutableServices() {
    return grpc.getImmutableServices();
  }

  @Override
  public List<ServerServiceDefinition> getMutableServices() {
    return grpc.getMutableServices();
  }

  /** Refuses new calls on the port, and asks the clients of rings to start no new ones there. */
  @Override
  public RingServer shutdown() {
    endpoint.drain();
    grpc.shutdown();
    closeFabricsAtTheEnd();
    return this;
  }

  @Override
  public RingServer shutdownNow() {
    endpoint.abort(SHUTDOWN_NOW);
    grpc.shutdownNow();
    closeFabricsAtTheEnd();
    return this;
  }

  /**
   * Closes the fabrics at the end, even if no thread waits for it, as in gRPC's server. In a thread
   * of its own: a poller that is stuck in the application's code delays it, but no thread that
   * awaits the termination for a limited time.
   */
  private void closeFabricsAtTheEnd() {
    if (ending.compareAndSet(false, true)) {
      DefaultExecutor.RETRYING.execute(this::end);
    }
  }

  private void end() {
    try {
      grpc.awaitTermination();
      endpoint.awaitIdle(Long.MAX_VALUE);
      closeFabrics();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // no thread does
    } finally {
      ended.countDown();
    }
  }

  @Override
  public boolean isShutdown() {
    return grpc.isShutdown();
  }

  /**
   * True when the port is closed, all calls have ended, including those of sessions that have lost
   * their gRPC stream, and the fabrics are closed. Does not wait.
   */
  @Override
  public boolean isTerminated() {
    return grpc.isTerminated() && endpoint.isIdle() && !open;
  }

  @Override
  public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
    return ended.await(timeout, unit);
  }

  @Override
  public void awaitTermination() throws InterruptedException {
    ended.await();
  }
}
