package dev.ringfetch.rpc;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Kind;
import dev.ringfetch.counters.Subject;
import io.grpc.Server;
import io.grpc.ServerMethodDefinition;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * The rings of one server that another builder has built. gRPC announces no shutdown, so this looks
 * at the server's state a few times a second: sessions drain when it is shut down. {@code
 * shutdownNow} ends them, as the tracers of their streams tell at once. A session that has lost its
 * stream before, and still has calls, does not keep the server from its termination; such calls may
 * end within {@link #GRACE_NS}. Thread-safe.
 */
final class AttachedServer {
  /** Short beside the seconds that applications wait for a server's end; four wake-ups a second. */
  private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(250);

  /** How long calls on rings may go on after the server's termination. */
  private static final long GRACE_NS = TimeUnit.SECONDS.toNanos(30);

  private final Server server;
  private final SessionEndpoint endpoint;
  private final Fabrics fabrics;
  private final Runnable onEnd;
  private final ServerMethodDefinition<?, ?> open;
  private final Subject subject;
  private final LongAdder grpcCalls = new LongAdder();

  private boolean drained; // of the looks, which follow each other
  private long terminatedNs; // how long the looks have found the server terminated

  /**
   * Creates the rings of a server that has started; {@link #watch} follows.
   *
   * @param port of the server, or -1.
   */
  AttachedServer(
      Server server, int port, SessionEndpoint endpoint, Fabrics fabrics, Runnable onEnd) {
    this.server = server;
    this.endpoint = endpoint;
    this.fabrics = fabrics;
    this.onEnd = onEnd;
    endpoint.start(server, fabrics.opened());
    open = endpoint.definition().getMethod(SessionService.OPEN.getFullMethodName());
    subject = fabrics.counters().add(Kind.SERVER, "port " + port, this::count);
  }

  /** Returns the method that opens sessions, without the server's interceptors. */
  ServerMethodDefinition<?, ?> open() {
    return open;
  }

  void countGrpcCall() {
    grpcCalls.increment();
  }

  /** Called when the application has called {@code shutdownNow}. */
  void onShutdownNow() {
    endpoint.abort(RingServer.SHUTDOWN_NOW);
  }

  private long count(Counter counter) {
    return counter == Counter.SERVER_CALLS_GRPC ? grpcCalls.sum() : endpoint.count(counter);
  }

  /** Looks at the server's state from now on, until it has ended. */
  void watch() {
    final Future<?> unused = DefaultExecutor.schedule(this::look, LOOK_NS);
  }

  private void look() {
    final boolean terminated = server.isTerminated();
    if (!drained && (terminated || server.isShutdown())) {
      drained = true;
      endpoint.drain();
    }
    if (terminated) {
      if (endpoint.isIdle()) {
        end();
        return;
      }
      if (terminatedNs >= GRACE_NS) {
        endpoint.abort("the server has terminated");
      }
      terminatedNs += LOOK_NS;
    }
    watch();
  }

  private void end() {
    fabrics.counters().remove(subject);
    try {
      fabrics.close();
    } finally {
      onEnd.run();
    }
  }
}
