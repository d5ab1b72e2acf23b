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
 * at the server's state a few times a second: sessions drain when it is shut down, and are ended
 * when it has terminated while they had calls, which only {@code shutdownNow} causes. Thread-safe.
 */
final class AttachedServer {
  /** Short beside the seconds that applications wait for a server's end; four wake-ups a second. */
  private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(250);

  private final Server server;
  private final SessionEndpoint endpoint;
  private final Fabrics fabrics;
  private final Runnable onEnd;
  private final ServerMethodDefinition<?, ?> open;
  private final Subject subject;
  private final LongAdder grpcCalls = new LongAdder();

  private boolean drained; // of the looks, which follow each other

  /** Creates the rings of a server that has started; {@link #watch} follows. */
  AttachedServer(Server server, SessionEndpoint endpoint, Fabrics fabrics, Runnable onEnd) {
    this.server = server;
    this.endpoint = endpoint;
    this.fabrics = fabrics;
    this.onEnd = onEnd;
    endpoint.start(server, fabrics.opened());
    open = endpoint.definition().getMethod(SessionService.OPEN.getFullMethodName());
    subject = fabrics.counters().add(Kind.SERVER, "port " + server.getPort(), this::count);
  }

  /** Returns the method that opens sessions, without the server's interceptors. */
  ServerMethodDefinition<?, ?> open() {
    return open;
  }

  void countGrpcCall() {
    grpcCalls.increment();
  }

  private long count(Counter counter) {
    return counter == Counter.SERVER_CALLS_GRPC ? grpcCalls.sum() : endpoint.count(counter);
  }

  /** Looks at the server's state from now on, until it has ended. */
  void watch() {
    final Future<?> unused = DefaultExecutor.schedule(this::look, LOOK_NS);
  }

  private void look() {
    if (server.isTerminated()) {
      endpoint.abort("Server shutdownNow invoked");
      if (endpoint.isIdle()) {
        end();
        return;
      }
    } else if (server.isShutdown() && !drained) {
      drained = true;
      endpoint.drain();
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
