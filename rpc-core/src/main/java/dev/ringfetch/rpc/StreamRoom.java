package dev.ringfetch.rpc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.session.handshake.HandshakeContext;
import io.grpc.Attributes;
import io.grpc.ClientStreamTracer;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Watch over the streams of the gRPC connection, so that the application's calls get streams before
 * sessions do. Sessions have streams on the same connection, and a server may limit their number.
 * So a session's stream is opened after that of the call that wants a ring, and is given up when
 * calls wait for a stream. Thread-safe.
 */
final class StreamRoom {
  /** How long a call waits for a stream on its connection before it counts as a lack of streams. */
  static final long PATIENCE_NS = TimeUnit.MILLISECONDS.toNanos(250);

  /** Between two looks that see the same call wait: after a pause of the process it is sent. */
  static final long AGAIN_NS = PATIENCE_NS / 2;

  private static final long RELEASED_NS = TimeUnit.MILLISECONDS.toNanos(10);

  private final Sessions sessions;
  private final LongSupplier clock;
  private final HandshakeContext.Timer timer;

  @GuardedBy("waiting")
  private final Set<Tracer> waiting = new LinkedHashSet<>(); // the eldest first

  private final ClientStreamTracer.Factory alone = factory(true);
  private final ClientStreamTracer.Factory withMessage = factory(false);

  @GuardedBy("waiting")
  private Look next;

  @GuardedBy("waiting")
  private boolean released;

  @GuardedBy("waiting")
  private Tracer late; // the eldest, when a look has seen it wait for long

  @GuardedBy("waiting")
  private long lateNs;

  StreamRoom(Sessions sessions) {
    this(sessions, System::nanoTime, SessionEndpoint::later);
  }

  /** Creates the room with a time of its own. */
  StreamRoom(Sessions sessions, LongSupplier clock, HandshakeContext.Timer timer) {
    this.sessions = sessions;
    this.clock = clock;
    this.timer = timer;
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

  /**
   * Whether a call has waited for so long that it lacks a stream. When the transport ends a stream
   * that a session has given up, it has done all that came before, such as to send the calls that
   * waited then: a call that waits still had no room.
   */
  boolean isLacking() {
    synchronized (waiting) {
      return !waiting.isEmpty()
          && clock.getAsLong() - waiting.iterator().next().sinceNs >= PATIENCE_NS;
    }
  }

  /** Plans a look. One is due at a time: the earliest. */
  @GuardedBy("waiting")
  private void lookLater(long delayNs) {
    final long dueNs = clock.getAsLong() + delayNs;
    if (next != null) {
      if (next.dueNs - dueNs <= 0) {
        return;
      }
      next.cancel.run();
    }
    next = new Look(dueNs);
    next.cancel = timer.schedule(next, delayNs);
  }

  private void look(Look look) {
    final boolean lacking;
    synchronized (waiting) {
      if (next != look) {
        return; // another has taken its place
      }
      next = null;
      if (waiting.isEmpty()) {
        late = null;
        return;
      }
      final Tracer eldest = waiting.iterator().next();
      final long nowNs = clock.getAsLong();
      final long waitedNs = nowNs - eldest.sinceNs;
      lacking = eldest == late && nowNs - lateNs >= AGAIN_NS;
      if (waitedNs < PATIENCE_NS) {
        late = null;
      } else if (eldest != late) {
        late = eldest;
        lateNs = nowNs;
      }
      lookLater(Math.max(PATIENCE_NS - waitedNs, AGAIN_NS));
      if (!lacking && !released) {
        return;
      }
      released = false;
    }
    sessions.makeRoom(lacking);
  }

  /** One look at the calls that wait. */
  private final class Look implements Runnable {
    private final long dueNs;

    private Runnable cancel; // guarded by the room's waiting

    Look(long dueNs) {
      this.dueNs = dueNs;
    }

    @Override
    public void run() {
      look(this);
    }
  }

  /** The actions of the sessions on a lack of streams. */
  interface Sessions {
    /** Whether there are, or were a moment ago, streams of sessions or of attempts to open one. */
    boolean haveStreams();

    /**
     * Makes room for calls that wait for a stream. On a thread of the default executor.
     *
     * @param lacking whether they have waited for so long that sessions' streams are to end;
     *     otherwise there may be room already, and the connection is to be flushed.
     */
    void makeRoom(boolean lacking);

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
          sinceNs = clock.getAsLong();
          if (next == null && sessions.haveStreams()) {
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
        if (late == this) {
          late = null;
        }
      }
      sessions.onCallSent();
    }
  }
}
