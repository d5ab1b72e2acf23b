package dev.ringfetch.rpc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.protocol.OpenRequest;
import dev.ringfetch.protocol.OpenResponse;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * The control streams of a backend's sessions and attempts, which stand back behind the streams of
 * calls that go over gRPC: a session's stream is opened after that of the call that wants a ring,
 * and ends when calls wait for a stream. Thread-safe, under the lock of the sessions.
 */
final class SessionStreams implements StreamRoom.Sessions {
  private static final String NO_ROOM =
      "the server allows so few calls on a connection that gRPC's wait for the session's stream";

  private static final long WAITED_MS =
      TimeUnit.NANOSECONDS.toMillis(StreamRoom.PATIENCE_NS + StreamRoom.AGAIN_NS);

  private static final String SLOW_HANDSHAKE =
      "took longer than " + WAITED_MS + " ms, for which a call waited to be sent";

  private static final String SLOW_CALL =
      "a call waited longer than " + WAITED_MS + " ms to be sent";

  /** How long an attempt waits for the stream of the call that caused it. */
  private static final long FIRST_CALL_NS = 1_000_000_000;

  /** Time after the end of a stream in which the transport may still have it. */
  private static final long ENDING_NS = 5_000_000_000L;

  private final BackendSessions sessions;
  private final ReconnectPolicy reconnect;
  private final Backend backend;
  private final ChannelContext context;
  private final StreamRoom room = new StreamRoom(this);

  private volatile boolean hasStreams;
  private volatile long endedNs = System.nanoTime() - ENDING_NS; // the last stream
  private volatile boolean sought; // a call has asked for a ring, and its stream comes first
  private volatile boolean scarce; // calls have waited for the stream of a session, lately

  @GuardedBy("sessions")
  private final Set<SessionAttempt> streams = new HashSet<>(); // that have not ended

  @GuardedBy("sessions")
  private long soughtNs;

  @GuardedBy("sessions")
  private int lacks; // how often calls have waited for the stream of a session

  SessionStreams(
      BackendSessions sessions,
      ReconnectPolicy reconnect,
      Backend backend,
      ChannelContext context) {
    this.sessions = sessions;
    this.reconnect = reconnect;
    this.backend = backend;
    this.context = context;
  }

  /** Returns the watch over the streams of calls that go over gRPC. */
  StreamRoom room() {
    return room;
  }

  /** Returns the attempts with a stream that has not ended. */
  List<SessionAttempt> list() {
    synchronized (sessions) {
      return List.copyOf(streams);
    }
  }

  void add(SessionAttempt begun) {
    synchronized (sessions) {
      streams.add(begun);
      hasStreams = true;
    }
  }

  void remove(SessionAttempt ended) {
    synchronized (sessions) {
      streams.remove(ended);
      hasStreams = !streams.isEmpty();
      endedNs = System.nanoTime();
      reconnect.onStreamEnded();
    }
  }

  /** How often calls have waited for the stream of a session. */
  int lacks() {
    synchronized (sessions) {
      return lacks;
    }
  }

  /** True if calls have waited for the stream of a session, lately. */
  boolean areScarce() {
    return scarce;
  }

  /** Called when an attempt has led to a session: if no call has lacked a stream, there is room. */
  void onOpened(SessionAttempt successful) {
    synchronized (sessions) {
      scarce &= lacks != successful.plan.lacksBefore();
    }
  }

  /**
   * Opens a ring, if it is time for that, once a call that goes over gRPC has its stream. The
   * session's stream comes second, because it might take the last stream of the connection.
   */
  void seek() {
    if (sought) {
      final boolean waited;
      synchronized (sessions) {
        waited = System.nanoTime() - soughtNs > FIRST_CALL_NS;
      }
      if (waited) { // the call that was to come first: it may never report a stream
        onCallSent();
      }
      return;
    }
    synchronized (sessions) {
      if (sessions.isTimeForAttempt()) {
        soughtNs = System.nanoTime();
        sought = true;
      }
    }
  }

  @Override
  public void onCallSent() {
    if (sought) {
      sought = false;
      DefaultExecutor.RETRYING.execute(sessions::begin);
    }
  }

  @Override
  public boolean haveStreams() {
    return hasStreams || System.nanoTime() - endedNs < ENDING_NS;
  }

  /** Ends streams of sessions, those of draining sessions first. Calls on the rings continue. */
  @Override
  public void makeRoom(boolean lacking) {
    final List<SessionAttempt> ending;
    final boolean flushes;
    synchronized (sessions) {
      flushes = streams.isEmpty() && reconnect.mayFlush();
      if (lacking && !streams.isEmpty()) {
        scarce = true;
        lacks++;
      }
      final List<SessionAttempt> draining =
          streams.stream()
              .filter(begun -> begun.opened != null && begun.opened.isDraining())
              .toList();
      ending = !lacking ? List.of() : draining.isEmpty() ? List.copyOf(streams) : draining;
      if (draining.isEmpty() && !ending.isEmpty()) {
        reconnect.lackedStreams();
      }
    }
    ending.forEach(this::giveUp);
    if (flushes) {
      flush();
    }
  }

  private void giveUp(SessionAttempt begun) {
    final String slow;
    synchronized (sessions) {
      slow = begun.opened == null ? SLOW_HANDSHAKE : SLOW_CALL;
    }
    // When the stream ends: a call that has been sent by then has not waited for its end.
    begun.stream.giveUp(() -> room.isLacking() ? NO_ROOM : slow);
  }

  /** Causes a write on the connection, by a call that is cancelled; its outcome does not matter. */
  private void flush() {
    final ClientCall<OpenRequest, OpenResponse> call =
        context
            .control()
            .newCall(
                SessionService.OPEN,
                backend.handshakeOptions().withExecutor(DefaultExecutor.RETRYING));
    call.start(new ClientCall.Listener<>() {}, new Metadata());
    call.cancel("made to flush", null);
  }
}
