package dev.ringfetch.rpc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.call.ClientConnection;
import dev.ringfetch.call.Codecs;
import dev.ringfetch.protocol.OpenRequest;
import dev.ringfetch.protocol.OpenResponse;
import dev.ringfetch.session.ClientSession;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * The sessions of a channel: opens a session when a call wants a ring, and replaces lost sessions.
 * A lost session that had carried an answer is replaced at once; after one that had carried none,
 * or was refused, the next attempt follows with backoff. A fabric that could not be reached is
 * tried after the others for a while. A session with rings that have been full is drained as soon
 * as a session with longer rings has replaced it. Only calls cause any of this, with two
 * exceptions: {@link IdleWatch} looks at a ring that is open, and {@link WaitForReady} repeats
 * attempts for calls that wait. Thread-safe.
 */
final class ChannelSessions implements StreamRoom.Sessions, SessionAttempt.Outcomes {
  static final String SHUTDOWN = "Channel shutdown invoked";

  /** How long a replaced session still takes the calls that had chosen it before. */
  private static final long OUTGROWN_NS = 100_000_000;

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

  /** How often calls that wait for a ring look whether a ring could carry them again. */
  private static final long OBSTACLE_NS = 1_000_000_000;

  private static final int MAX_FLUSHES = 3;

  private final ChannelContext context;
  private final RingPolicy policy;
  private final Codecs codecs;
  private final IdleWatch idleWatch;
  private final WaitForReady<ClientConnection> waitForReady =
      new WaitForReady<>(this::connect, this::pauseNs);
  private final StreamRoom room = new StreamRoom(this);

  private volatile ClientConnection connection;
  private volatile boolean hasStreams;
  private volatile boolean sought; // a call has asked for a ring, and its stream comes first
  private volatile boolean scarce; // calls have waited for the stream of a session, lately

  @GuardedBy("this")
  private SessionAttempt attempt;

  // those with a control stream that has not ended
  @GuardedBy("this")
  private final Set<SessionAttempt> streams = new HashSet<>();

  @GuardedBy("this")
  private final Set<ClientSession> sessions = new HashSet<>(); // the newest, and those that drain

  @GuardedBy("this")
  private String obstacle = "no call has asked for a ring yet";

  @GuardedBy("this")
  private boolean unasked = true; // there was no attempt, or none since the channel was idle

  @GuardedBy("this")
  private String logged;

  private final Growth growth; // tryBegin needs no guard

  @GuardedBy("this")
  private final Backoff backoff = new Backoff();

  @GuardedBy("this")
  private final Backoff roomBackoff = new Backoff(); // since calls have waited for a stream

  @GuardedBy("this")
  private long soughtNs;

  @GuardedBy("this")
  private int flushes; // since a stream has ended

  @GuardedBy("this")
  private int lacks; // how often calls have waited for the stream of a session

  @GuardedBy("this")
  private final Map<String, Long> failures = new HashMap<>(); // last time, by name of a fabric

  @GuardedBy("this")
  private long openedPosition; // of the connection's inbound ring

  private volatile long sessionsOpened;
  private volatile long sessionsRefused;

  @GuardedBy("this")
  private boolean shutdown;

  @GuardedBy("this")
  private Runnable onTerminated;

  /**
   * Creates the sessions of a channel; nothing is opened yet.
   *
   * @param codecs of the channel.
   * @param idleWatch looks after the sessions.
   */
  ChannelSessions(ChannelContext context, RingPolicy policy, Codecs codecs, IdleWatch idleWatch) {
    this.context = context;
    this.policy = policy;
    this.codecs = codecs;
    this.idleWatch = idleWatch;
    this.growth = new Growth(context.sessions());
  }

  /**
   * Returns the ring for a new call. Null: one is being opened, unless it is too early for that.
   */
  ClientConnection current() {
    final ClientConnection open = open();
    if (open == null) {
      begin();
    }
    return open;
  }

  /**
   * Opens a ring, if it is time for that, once a call that goes over gRPC has its stream. The
   * session's stream comes second, because it might take the last stream of the connection.
   */
  void seek() {
    if (sought) {
      final boolean waited;
      synchronized (this) {
        waited = System.nanoTime() - soughtNs > FIRST_CALL_NS;
      }
      if (waited) { // the call that was to come first: it may never report a stream
        onCallSent();
      }
      return;
    }
    synchronized (this) {
      if (isTimeForAttempt()) {
        soughtNs = System.nanoTime();
        sought = true;
      }
    }
  }

  @Override
  public void onCallSent() {
    if (sought) {
      sought = false;
      DefaultExecutor.RETRYING.execute(this::begin);
    }
  }

  @Override
  public boolean haveStreams() {
    return hasStreams;
  }

  /** Ends streams of sessions, those of draining sessions first. Calls on the rings continue. */
  @Override
  public void makeRoom(boolean lacking) {
    final List<SessionAttempt> ending;
    final boolean flushes;
    synchronized (this) {
      flushes = streams.isEmpty() && mayFlush();
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
        roomBackoff.failed(Backoff.MAX_NS);
      }
    }
    ending.forEach(this::giveUp);
    if (flushes) {
      flush();
    }
  }

  private void giveUp(SessionAttempt begun) {
    final String slow;
    synchronized (this) {
      slow = begun.opened == null ? SLOW_HANDSHAKE : SLOW_CALL;
    }
    // When the stream ends: a call that has been sent by then has not waited for its end.
    begun.stream.giveUp(() -> room.isLacking() ? NO_ROOM : slow);
  }

  /** Whether one more flush may help: some at most, after a stream's end. */
  @GuardedBy("this")
  private boolean mayFlush() {
    return ++flushes <= MAX_FLUSHES;
  }

  /** Causes a write on the connection, by a call that is cancelled; its outcome does not matter. */
  private void flush() {
    final ClientCall<OpenRequest, OpenResponse> call =
        context
            .control()
            .newCall(
                SessionService.OPEN, CallOptions.DEFAULT.withExecutor(DefaultExecutor.RETRYING));
    call.start(new ClientCall.Listener<>() {}, new Metadata());
    call.cancel("made to flush", null);
  }

  /** Returns the watch over the streams of calls that go over gRPC. */
  StreamRoom room() {
    return room;
  }

  /**
   * Whether a call had better wait for a ring that is being opened: on gRPC it might wait for the
   * stream over which that is done.
   */
  boolean isWorthAWait() {
    if (!scarce || open() != null) {
      return false;
    }
    begin();
    synchronized (this) {
      return attempt != null;
    }
  }

  /** As {@link #current}, for a call that will have a ring or nothing. */
  CompletableFuture<ClientConnection> connect() {
    begin();
    synchronized (this) {
      if (connection != null && connection.isOpen()) {
        return CompletableFuture.completedFuture(connection);
      }
      return attempt != null ? attempt.future : failed(shutdown ? SHUTDOWN : reason());
    }
  }

  /** As {@link #connect}, but repeats attempts until one succeeds, a cancel, or a shutdown. */
  CompletableFuture<ClientConnection> connectWaitingForReady() {
    return waitForReady.await();
  }

  private synchronized long pauseNs() {
    if (policy.balancing().obstacle() != null) {
      return OBSTACLE_NS;
    }
    return Math.max(backoff.remainingNs(), roomBackoff.remainingNs());
  }

  /** Starts an attempt, if it is the time for one. */
  private void begin() {
    final SessionAttempt begun;
    final String news;
    synchronized (this) {
      if (!isTimeForAttempt()) {
        return;
      }
      if (context.fabrics().fabrics().opened().isEmpty()) {
        begun = null;
        news = refused(context.fabrics().fabrics().obstacles(), Backoff.MAX_NS);
      } else {
        begun = newAttempt(null);
        news = null;
      }
    }
    log(news);
    if (begun != null) {
      // A session serves all calls of the channel: it does not end with the first one's context.
      Context.ROOT.run(begun::start);
    }
  }

  @GuardedBy("this")
  private boolean isTimeForAttempt() {
    return (connection == null || !connection.isOpen())
        && attempt == null
        && !shutdown
        && policy.balancing().obstacle() == null
        && backoff.remainingNs() <= 0
        && roomBackoff.remainingNs() <= 0;
  }

  @GuardedBy("this")
  private SessionAttempt newAttempt(String grownFabric) {
    if (scarce) { // there may be no room for a second stream: the first session gets long rings
      growth.onCrowded();
    }
    final SessionAttempt.Plan plan =
        new SessionAttempt.Plan(growth.maxRingLength(), grownFabric, lacks);
    final SessionAttempt made = new SessionAttempt(context, policy, codecs, plan, this);
    streams.add(made);
    hasStreams = true;
    attempt = made; // last: until that is refused or opens a session, there is no other
    if (unasked) {
      unasked = false;
      obstacle = "a session is being opened";
    }
    return made;
  }

  /** Starts the attempt that replaces a session whose rings are too short. */
  private void grow(ClientSession session) {
    final SessionAttempt begun;
    synchronized (this) {
      final ClientConnection open = open();
      if (shutdown || open == null || open.session() != session) {
        if (open == null && !sessions.contains(session)) { // it was lost, and not put to rest
          growth.onCrowded();
        }
        return;
      }
      growth.onCrowded();
      if (attempt != null) {
        return; // and begins with more
      }
      begun = newAttempt(open.fabric());
    }
    Context.ROOT.run(begun::start);
  }

  private static CompletableFuture<ClientConnection> failed(String reason) {
    return CompletableFuture.failedFuture(
        Status.UNAVAILABLE.withDescription("no ring: " + reason).asRuntimeException());
  }

  /** The ring that is open, or null. */
  ClientConnection open() {
    final ClientConnection open = connection;
    return open != null && open.isOpen() ? open : null;
  }

  /** Why there is no ring. */
  synchronized String reason() {
    final String general = policy.balancing().obstacle();
    if (general != null) {
      return general;
    }
    final String ended = connection == null ? null : connection.session().endReason();
    return ended == null ? obstacle : ended;
  }

  /** Sessions that were opened. */
  long sessionsOpened() {
    return sessionsOpened;
  }

  /** Attempts that led to no session. */
  long sessionsRefused() {
    return sessionsRefused;
  }

  /** Lets the next call, and the waiting ones, try at once. */
  void resetBackoff() {
    synchronized (this) {
      backoff.skip();
      backoff.succeeded();
      roomBackoff.skip();
      failures.clear();
    }
    waitForReady.wake();
  }

  /** Ends the session when its calls have ended; the next call opens another, at once. */
  void enterIdle() {
    final ClientConnection open = connection;
    if (open != null) {
      final boolean unused = enterIdle(open.session());
    }
  }

  /** As {@link #enterIdle()}, if the session is the newest still; returns whether it is. */
  boolean enterIdle(ClientSession session) {
    final SessionAttempt growing;
    synchronized (this) {
      if (connection == null || connection.session() != session) {
        return false;
      }
      final boolean isOpen = connection.isOpen();
      connection = null;
      growth.reset();
      obstacle = "the channel is idle";
      unasked = true;
      backoff.skip();
      // Where there is no ring, waiting calls wait for the attempt, whatever caused it.
      final boolean grows = isOpen && attempt != null && attempt.plan.grownFabric() != null;
      growing = grows && streams.contains(attempt) ? attempt : null; // else it is ending just now
      if (growing != null) {
        attempt = null; // it reports nothing any more; the next call starts another one
        growing.detached = true;
      }
    }
    if (growing != null) {
      growing.stream.abandon(); // nobody needs the room
    }
    session.drain();
    return true;
  }

  /**
   * Ends the session when its calls have ended, and opens no further one. Idempotent.
   *
   * @param onTerminated called once, when nothing is left.
   */
  void shutdown(Runnable onTerminated) {
    final List<SessionAttempt> begun;
    final List<ClientSession> draining;
    synchronized (this) {
      if (shutdown) {
        return;
      }
      shutdown = true;
      this.onTerminated = onTerminated;
      begun = List.copyOf(streams);
      draining = List.copyOf(sessions);
    }
    idleWatch.stop();
    waitForReady.end(RingChannel.SHUTDOWN);
    begun.forEach(this::abandonUnlessServing);
    draining.forEach(ClientSession::drain);
    terminateIfIdle();
  }

  /** Abandons an attempt, unless it has led to a session. */
  private void abandonUnlessServing(SessionAttempt begun) {
    synchronized (this) {
      if (sessions.contains(begun.opened)) {
        return;
      }
    }
    begun.stream.abandon();
  }

  /** Ends the session, with its calls. */
  void shutdownNow() {
    final List<ClientSession> ending;
    synchronized (this) {
      ending = List.copyOf(sessions);
    }
    ending.forEach(session -> session.end("Channel shutdownNow invoked"));
  }

  private void terminateIfIdle() {
    final Runnable terminated;
    synchronized (this) {
      if (!shutdown
          || !sessions.isEmpty()
          || attempt != null
          || streams.stream().anyMatch(begun -> begun.detached)
          || onTerminated == null) {
        return;
      }
      terminated = onTerminated;
      onTerminated = null;
    }
    terminated.run();
  }

  /** Returns the line to log, or null. */
  @GuardedBy("this")
  private String refused(String reason, long maxBackoffNs) {
    backoff.failed(maxBackoffNs);
    return hasNoRing(reason);
  }

  /** Returns the line to log, or null when the reason is the one logged last. */
  @GuardedBy("this")
  private String hasNoRing(String reason) {
    obstacle = reason;
    if (shutdown || reason.equals(logged)) {
      return null;
    }
    logged = reason;
    return reason;
  }

  /**
   * Called when calls are not for a ring, or not any more: says why, and ends the session when its
   * calls have ended.
   */
  void onObstacle() {
    final String reason = policy.balancing().obstacle();
    if (reason == null) {
      return;
    }
    final SessionAttempt vain;
    final String news;
    synchronized (this) {
      vain = attempt;
      news = hasNoRing(reason);
    }
    log(news);
    enterIdle();
    if (vain != null) {
      onRefused(vain, reason, Backoff.MAX_NS);
      vain.stream.abandon();
    }
  }

  private void log(String reason) {
    log(System.Logger.Level.INFO, reason);
  }

  /** Logs; called outside the lock, because a log handler may do anything. */
  private void log(System.Logger.Level level, String reason) {
    if (reason != null) {
      System.getLogger(RingChannel.class.getName())
          .log(
              level,
              "there is no ring to {0}, so calls {1}: {2}",
              context.target(),
              policy.meanwhile(),
              reason);
    }
  }

  @Override
  public synchronized boolean hasFailedLately(String fabric) {
    final Long failedNs = failures.get(fabric);
    return failedNs != null && System.nanoTime() - failedNs < Backoff.MAX_NS;
  }

  @Override
  public synchronized void onUnreachable(SessionAttempt unsuccessful, String fabric) {
    if (unsuccessful.plan.grownFabric() == null) { // for so long a ring it may have no room
      failures.put(fabric, System.nanoTime());
    }
  }

  @Override
  public void onOpened(SessionAttempt successful, ClientConnection made) {
    final ClientSession session = made.session();
    final boolean abandoned;
    final boolean unwanted;
    final String ended;
    ClientConnection outgrown = null;
    synchronized (this) {
      successful.opened = session;
      successful.detached = false;
      abandoned = attempt != successful; // but the server was first
      unwanted = shutdown || abandoned;
      ended = session.endReason();
      if (ended == null) {
        sessionsOpened++;
        sessions.add(session);
        failures.remove(made.fabric());
      }
      if (ended == null && !abandoned) {
        attempt = null;
        scarce &= lacks != successful.plan.lacksBefore(); // there was room for its stream
        openedPosition = session.pollPosition();
        outgrown = open();
        connection = made;
        logged = null;
        obstacle = "drained"; // once it is not open, until its end or a refusal says more
      }
    }
    if (ended != null) { // before it has served anything: as if there had been none
      onRefused(successful, ended, Backoff.MAX_NS);
      terminateIfIdle(); // nobody may have waited for it but that
      return;
    }
    successful.future.complete(made);
    waitForReady.wake(); // calls that wait after an earlier attempt
    if (!abandoned) {
      idleWatch.start(session);
    }
    if (outgrown != null) {
      drainSoon(outgrown.session());
    }
    if (unwanted) {
      session.drain();
    } else if (policy.balancing().obstacle() != null) { // since it has been asked for
      final boolean unused = enterIdle(session);
    }
  }

  /**
   * Drains a session after a delay, so that calls that have just chosen it need not begin again.
   */
  private static void drainSoon(ClientSession session) {
    final Runnable drain = () -> session.drain("another session has longer rings");
    try {
      final Future<?> unused = DefaultExecutor.schedule(drain, OUTGROWN_NS);
    } catch (OutOfMemoryError e) { // now, or never
      drain.run();
    }
  }

  @Override
  public void onRefused(SessionAttempt unsuccessful, String reason, long maxBackoffNs) {
    final String news;
    final String told;
    synchronized (this) {
      if (attempt != unsuccessful) {
        return;
      }
      attempt = null;
      sessionsRefused++;
      told = shutdown ? SHUTDOWN : reason;
      if (unsuccessful.plan.grownFabric() == null) {
        news = refused(told, maxBackoffNs);
      } else { // which says nothing of a session that begins
        news = open() == null ? hasNoRing(told) : null;
      }
    }
    log(news);
    unsuccessful.future.completeExceptionally(
        Status.UNAVAILABLE.withDescription("no ring: " + told).asRuntimeException());
    terminateIfIdle();
  }

  @Override
  public void onStreamEnded(SessionAttempt ending, String reason, long maxBackoffNs) {
    final ClientSession draining;
    synchronized (this) {
      streams.remove(ending);
      hasStreams = !streams.isEmpty();
      flushes = 0;
      draining = ending.opened;
    }
    room.onReleased();
    if (draining == null) {
      onRefused(ending, reason, maxBackoffNs);
    } else {
      draining.drain(reason);
    }
    terminateIfIdle(); // nobody may have waited for it but that
  }

  @Override
  public void onCrowded(SessionAttempt successful, ClientSession session) {
    if (growth.tryBegin(successful.plan.maxRingLength())) {
      DefaultExecutor.RETRYING.execute(() -> grow(session));
    }
  }

  @Override
  public void onSessionEnded(SessionAttempt successful, ClientSession session, String reason) {
    String news = null;
    System.Logger.Level level = System.Logger.Level.INFO;
    final boolean last;
    synchronized (this) {
      successful.opened = session;
      sessions.remove(session);
      last = shutdown;
      if (connection != null && connection.session() == session) {
        connection = null;
        if (session.pollPosition() == openedPosition) {
          news = refused(reason, Backoff.MAX_NS);
        } else { // it has worked
          backoff.succeeded();
          news = hasNoRing(reason);
          level = System.Logger.Level.DEBUG; // every connection ends once, and another one follows
        }
      }
    }
    log(level, news);
    if (last) {
      successful.stream
          .abandon(); // or the channel would wait for a server that does not end the stream
    } else {
      successful.stream.close();
    }
    terminateIfIdle();
  }
}
