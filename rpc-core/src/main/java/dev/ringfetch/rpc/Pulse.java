package dev.ringfetch.rpc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.grpc.Metadata;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * The periodic empty step that a server sends on a session's stream at the client's request. While
 * calls go over a ring, nothing else is sent on the connection. A client with keepalive then pings,
 * and a gRPC server counts pings without data in between as abuse: after the third it would end the
 * connection. Thread-safe.
 */
final class Pulse {
  /** Header by which a client asks, with the interval in milliseconds; servers may not know it. */
  static final Metadata.Key<String> HEADER =
      Metadata.Key.of("ringfetch-pulse-ms", Metadata.ASCII_STRING_MARSHALLER);

  /**
   * Pings come 10 s apart or more, and the server tolerates two without data in between. One more
   * goes with each beat: gRPC's client measures the connection by it.
   */
  static final long INTERVAL_NS = TimeUnit.SECONDS.toNanos(15);

  private static final long MIN_INTERVAL_NS = TimeUnit.MILLISECONDS.toNanos(200);
  private static final int MAX_DIGITS = 9;

  private final long intervalNs;
  private final BooleanSupplier beat;

  @GuardedBy("this")
  private Future<?> next;

  @GuardedBy("this")
  private boolean stopped;

  private Pulse(long intervalNs, BooleanSupplier beat) {
    this.intervalNs = intervalNs;
    this.beat = beat;
  }

  /**
   * Creates the pulse that a client has asked for.
   *
   * @param header of the session's stream, or null.
   * @param beat sends the step, on a thread of the default executor; false when the stream has
   *     ended.
   * @return null where none was asked for.
   */
  static Pulse of(String header, BooleanSupplier beat) {
    if (header == null || !header.matches("[0-9]{1," + MAX_DIGITS + "}")) {
      return null;
    }
    final long askedNs = TimeUnit.MILLISECONDS.toNanos(Long.parseLong(header));
    return new Pulse(Math.max(MIN_INTERVAL_NS, askedNs), beat);
  }

  /** Sends the first step after one interval. */
  synchronized void start() {
    if (!stopped) {
      next = DefaultExecutor.schedule(this::run, intervalNs);
    }
  }

  private void run() {
    if (beat.getAsBoolean()) {
      start();
    }
  }

  /** Sends no further step. Idempotent. */
  synchronized void stop() {
    stopped = true;
    if (next != null) {
      next.cancel(false);
    }
  }
}
