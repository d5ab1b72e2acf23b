package dev.ringfetch.rpc;

import dev.ringfetch.session.poller.DeadlineTimer;
import io.grpc.Attributes;
import io.grpc.ClientStreamTracer;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Watches the streams of the application's calls on the connection beneath, where sessions have
 * streams, too, and a server may limit their number: the application's come first. A session's
 * stream is opened after that of the call that wants a ring, and is given up when calls wait for a
 * stream. Thread-safe.
 */
final class StreamRoom {
  /** How long a call has a connection and no stream on it before that is no coincidence. */
  static final long PATIENCE_NS = TimeUnit.MILLISECONDS.toNanos(250);

  private static final long RELEASED_NS = TimeUnit.MILLISECONDS.toNanos(10);

  private final Sessions sessions;
  private final Set<Tracer> waiting = new LinkedHashSet<>(); // the eldest first; guarded by itself
  private final ClientStreamTracer.Factory alone = factory(true);
  private final ClientStreamTracer.Factory withMessage = factory(false);
  private boolean looking; // guarded by waiting
  private boolean released; // guarded by waiting

  StreamRoom(Sessions sessions) {
    this.sessions = sessions;
  }

  /** What watches the streams of calls of a method. */
  ClientStreamTracer.Factory of(MethodDescriptor<?, ?> method) {
    return method.getType().clientSendsOneMessage() ? withMessage : alone;
  }

  private ClientStreamTracer.Factory factory(boolean headersComeAlone) {
    return new ClientStreamTracer.Factory() {
      @Override
      public ClientStreamTracer newClientStreamTracer(
          ClientStreamTracer.StreamInfo info, Metadata headers) {
        return new Tracer(headersComeAlone);
      }
    };
  }

  /**
   * A stream of a session has ended. A call that takes its place may wait for a flush that only
   * another write brings, where it was this side that has ended the stream.
   */
  void onReleased() {
    synchronized (waiting) {
      if (!waiting.isEmpty()) {
        released = true;
        lookLater(RELEASED_NS);
      }
    }
  }

  /** Guarded by waiting. */
  private void lookLater(long delayNs) {
    looking = true;
    final Future<?> unused =
        DeadlineTimer.schedule(() -> DefaultExecutor.RETRYING.execute(this::look), delayNs);
  }

  private void look() {
    synchronized (waiting) {
      looking = false;
      if (waiting.isEmpty()) {
        return;
      }
      final long waitedNs = System.nanoTime() - waiting.iterator().next().sinceNs;
      lookLater(Math.max(PATIENCE_NS - waitedNs, PATIENCE_NS / 2));
      if (waitedNs < PATIENCE_NS && !released) {
        return;
      }
      released = false;
    }
    sessions.makeRoom();
  }

  /** What is done about it. */
  interface Sessions {
    /** Whether there are streams of sessions, or of attempts to open one. */
    boolean haveStreams();

    /**
     * Calls wait for a stream: those of sessions are to go. In a thread of the default executor.
     */
    void makeRoom();

    /** A call's stream is on its way, or will never be. Must not block. */
    void onCallSent();
  }

  /** Of one stream, in any thread. */
  private final class Tracer extends ClientStreamTracer {
    private final boolean headersComeAlone;
    private long sinceNs; // guarded by waiting, as the next
    private boolean told;

    /**
     * Creates it.
     *
     * @param headersComeAlone whether gRPC sends them at once, not with the call's only message.
     */
    Tracer(boolean headersComeAlone) {
      this.headersComeAlone = headersComeAlone;
    }

    @Override
    public void streamCreated(Attributes transport, Metadata headers) {
      if (headersComeAlone) {
        enter();
      }
    }

    @Override
    public void outboundMessage(int number) {
      if (!headersComeAlone) {
        enter();
      }
    }

    /** It is to have a stream, and may have to wait for one. */
    private void enter() {
      synchronized (waiting) {
        if (!told && waiting.add(this)) {
          sinceNs = System.nanoTime();
          if (!looking && sessions.haveStreams()) {
            lookLater(PATIENCE_NS);
          }
        }
      }
    }

    /** From here on it has a stream. */
    @Override
    public void outboundHeaders() {
      sent();
    }

    @Override
    public void inboundHeaders() {
      sent();
    }

    @Override
    public void streamClosed(Status status) {
      sent();
    }

    private void sent() {
      synchronized (waiting) {
        if (told) {
          return;
        }
        told = true;
        waiting.remove(this);
      }
      sessions.onCallSent();
    }
  }
}
