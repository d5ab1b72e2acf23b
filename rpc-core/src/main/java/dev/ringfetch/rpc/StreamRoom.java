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
 * Watch over the streams of the gRPC connection, so that the application's calls get streams before
 * sessions do. Sessions have streams on the same connection, and a server may limit their number.
 * So a session's stream is opened after that of the call that wants a ring, and is given up when
 * calls wait for a stream. Thread-safe.
 */
final class StreamRoom {
  /** How long a call waits for a stream on its connection before it counts as a lack of streams. */
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

  /** Returns the tracer factory that watches the streams of a method's calls. */
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
   * Called when a stream of a session has ended. If this side has ended it, a call that gets the
   * stream instead may wait for a flush, which only another write causes.
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

  /** The actions of the sessions on a lack of streams. */
  interface Sessions {
    /** Whether there are streams of sessions, or of attempts to open one. */
    boolean haveStreams();

    /** Ends sessions' streams, because calls wait for one. On a thread of the default executor. */
    void makeRoom();

    /** Called when a call's stream is on its way, or will never be. Must not block. */
    void onCallSent();
  }

  /** Tracer of one stream. Any thread. */
  private final class Tracer extends ClientStreamTracer {
    private final boolean headersComeAlone;
    private long sinceNs; // guarded by waiting, as the next
    private boolean told;

    /**
     * Creates the tracer of one stream.
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

    /** Called when the call needs a stream, and may have to wait for one. */
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

    /** Called when the call has a stream. */
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
