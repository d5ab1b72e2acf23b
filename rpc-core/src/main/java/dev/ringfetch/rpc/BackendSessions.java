package dev.ringfetch.rpc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.call.ClientConnection;
import dev.ringfetch.counters.Counter;
import dev.ringfetch.flight.FlightEvents;
import dev.ringfetch.session.ClientSession;
import io.grpc.Context;
import io.grpc.Status;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

/**
 * The sessions of a backend, and the attempts to open them: one session serves new calls, and is
 * replaced when it is lost. A lost session that had carried an answer is replaced at once; after
 * one that had carried none, or was refused, {@link ReconnectPolicy} says when the next attempt may
 * follow. A session with rings that have been full is drained as soon as a session with longer
 * rings has replaced it. Only calls cause any of this, with two exceptions: {@link IdleWatch} looks
 * at a ring that is open, and {@link WaitForReady} repeats attempts for calls that wait.
 * Thread-safe.
 *
 * <table>
 *   <caption>States</caption>
 *   <tr><th>state</th><th>event</th><th>next</th></tr>
 *   <tr><td>IDLE, WITHOUT</td><td>a call wants a ring, after the pause</td><td>OPENING</td></tr>
 *   <tr><td>IDLE, WITHOUT</td><td>this process has no fabric</td><td>WITHOUT</td></tr>
 *   <tr><td>OPENING</td><td>the session is open</td><td>OPEN</td></tr>
 *   <tr><td>OPENING</td><td>the attempt has failed</td><td>WITHOUT</td></tr>
 *   <tr><td>OPEN</td><td>the session drains, a call wants a ring</td><td>OPENING</td></tr>
 *   <tr><td>OPEN</td><td>a session with longer rings is open</td><td>OPEN</td></tr>
 *   <tr><td>OPEN</td><td>the session has ended</td><td>WITHOUT</td></tr>
 *   <tr><td>OPEN, OPENING</td><td>no call for the idle timeout; gRPC has lost its connection
 *       </td><td>IDLE</td></tr>
 *   <tr><td>all before</td><td>the policy gives the server up; shutdown</td><td>LEAVING</td></tr>
 *   <tr><td>LEAVING</td><td>the last session and attempt have ended</td><td>ENDED</td></tr>
 * </table>
 */
final class BackendSessions {
  /** See the table of {@link BackendSessions}. */
  enum State {
    IDLE,
    OPENING,
    OPEN,
    WITHOUT,
    LEAVING,
    ENDED;

    private boolean mayBecome(State next) {
      return switch (next) {
        case IDLE -> this == OPEN || this == OPENING;
        case OPENING -> this == IDLE || this == WITHOUT || this == OPEN;
        case OPEN -> this == OPENING || this == OPEN;
        case WITHOUT -> this != LEAVING && this != ENDED;
        case LEAVING -> this != LEAVING && this != ENDED;
        case ENDED -> this == LEAVING;
      };
    }
  }

  /** How long a replaced session still takes the calls that had chosen it before. */
  private static final long OUTGROWN_NS = 100_000_000;

  private final Backends channel;
  private final ChannelContext context;
  private final Backend backend;
  private final IdleWatch idleWatch;
  private final SessionStreams streams;
  private final WaitForReady<ClientConnection> waitForReady =
      new WaitForReady<>(this::connect, this::pauseNs);

  private volatile ClientConnection connection; // of the newest session; changed under the monitor

  @GuardedBy("this")
  private SessionAttempt attempt;

  @GuardedBy("this")
  private final Set<ClientSession> sessions = new HashSet<>(); // the newest, and those that drain

  @GuardedBy("this")
  private State state = State.IDLE;

  @GuardedBy("this")
  private String obstacle = "no call has asked for a ring yet";

  private final Growth growth; // tryBegin needs no guard

  @GuardedBy("this")
  private final ReconnectPolicy reconnect;

  @GuardedBy("this")
  private long openedPosition; // of the connection's inbound ring

  @GuardedBy("this")
  private long endedCalls; // of sessions that have ended

  @GuardedBy("this")
  private Runnable onTerminated;

  private volatile boolean left; // no new call comes here

  /**
   * Creates the empty set of a backend; nothing is opened yet.
   *
   * @param knowsConnections whether {@link #onConnected} is called.
   */
  BackendSessions(
      Backends channel, Backend backend, IdleWatch idleWatch, boolean knowsConnections) {
    this.channel = channel;
    this.context = channel.context();
    this.backend = backend;
    this.idleWatch = idleWatch;
    this.growth = new Growth(context.sessions());
    this.reconnect = new ReconnectPolicy(knowsConnections);
    this.streams = new SessionStreams(this, reconnect, backend, context);
  }

  /** True once no new call comes here. */
  boolean hasLeft() {
    return left;
  }

  /** The control streams of these sessions and attempts. */
  SessionStreams streams() {
    return streams;
  }

  /** Calls that the rings have carried. */
  synchronized long callCount() {
    return endedCalls
        + sessions.stream().mapToLong(session -> session.count(Counter.SESSION_CALLS)).sum();
  }

  /** Called when gRPC has a connection to the server, perhaps another one. */
  synchronized void onConnected() {
    reconnect.connected();
  }

  /** Called when gRPC has lost its connection: the next one may lead to another server. */
  void onDisconnected() {
    final List<SessionAttempt> early;
    final ClientConnection last;
    synchronized (this) { // both at one moment
      early = streams.list().stream().filter(begun -> begun.opened == null).toList();
      early.forEach(begun -> begun.disconnected = true);
      last = connection;
    }
    early.forEach(begun -> begun.stream.giveUp(() -> Backend.LOST_CONNECTION));
    if (last != null) {
      final boolean unused = giveUp(last.session(), Backend.LOST_CONNECTION, false);
    }
  }

  /**
   * Whether a call had better wait for a ring that is being opened: on gRPC it might wait for the
   * stream over which that is done.
   */
  boolean isWorthAWait() {
    if (!streams.areScarce() || open() != null) {
      return false;
    }
    begin();
    synchronized (this) {
      return attempt != null;
    }
  }

  /** As {@link Backend#current}, for a call that will have a ring or nothing. */
  CompletableFuture<ClientConnection> connect() {
    begin();
    synchronized (this) {
      final ClientConnection open = open();
      if (open != null) {
        return CompletableFuture.completedFuture(open);
      }
      return attempt != null
          ? attempt.future
          : failed(isLeaving() ? Backend.SHUTDOWN : backend.reason());
    }
  }

  /** As {@link #connect}, but repeats attempts until one succeeds, a cancel, or a shutdown. */
  CompletableFuture<ClientConnection> connectWaitingForReady() {
    return waitForReady.await();
  }

  /** Fails the calls that wait, once. */
  void failWaiting(Status status) {
    waitForReady.fail(status);
  }

  private synchronized long pauseNs() {
    return reconnect.pauseNs();
  }

  @GuardedBy("this")
  private boolean isLeaving() {
    return state == State.LEAVING || state == State.ENDED;
  }

  /** Changes the state; a backend that leaves stays in that state, whatever its sessions do. */
  @GuardedBy("this")
  private void move(State next) {
    if (next != State.ENDED && isLeaving()) {
      return;
    }
    if (!state.mayBecome(next)) {
      throw new IllegalStateException("state=" + state + " next=" + next);
    }
    state = next;
    context.fabrics().counters().changed();
  }

  /** Starts an attempt, if it is the time for one. */
  void begin() {
    final SessionAttempt begun;
    final String news;
    synchronized (this) {
      if (!isTimeForAttempt()) {
        return;
      }
      if (context.fabrics().fabrics().opened().isEmpty()) {
        begun = null;
        news = context.fabrics().fabrics().obstacles();
        refused(news, Backoff.MAX_NS);
      } else {
        begun = newAttempt(null);
        news = null;
      }
    }
    log(System.Logger.Level.INFO, news);
    if (begun != null) {
      // A session serves all calls of the channel: it does not end with the first one's context.
      Context.ROOT.run(begun::start);
    }
  }

  /** The ring of new calls; null if none is open. */
  ClientConnection open() {
    final ClientConnection newest = connection;
    return newest != null && newest.isOpen() ? newest : null;
  }

  /** True if an attempt may start now. */
  synchronized boolean isTimeForAttempt() {
    return open() == null && attempt == null && !isLeaving() && reconnect.pauseNs() <= 0;
  }

  @GuardedBy("this")
  private SessionAttempt newAttempt(String grownFabric) {
    if (streams.areScarce()) { // no room for a second stream, perhaps: long rings at once
      growth.onCrowded();
    }
    final SessionAttempt.Plan plan =
        new SessionAttempt.Plan(growth.maxRingLength(), grownFabric, streams.lacks());
    final SessionAttempt made = new SessionAttempt(channel, plan, backend);
    streams.add(made);
    attempt = made; // last: until that is refused or opens a session, there is no other
    if (grownFabric == null) {
      if (state == State.IDLE) {
        obstacle = "a session is being opened";
      }
      move(State.OPENING);
    }
    return made;
  }

  /** Starts the attempt that replaces a session whose rings are too short. */
  private void grow(ClientSession session) {
    final SessionAttempt begun;
    synchronized (this) {
      final ClientConnection open = open();
      if (isLeaving() || open == null || open.session() != session) {
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
    return CompletableFuture.failedFuture(Backends.noRing(reason).asRuntimeException());
  }

  /** Why there is no ring, as far as attempts and sessions tell. */
  synchronized String reason() {
    final String ended = connection == null ? null : connection.session().endReason();
    return ended == null ? obstacle : ended;
  }

  /** Lets the next call, and the waiting ones, try at once. */
  void resetBackoff() {
    synchronized (this) {
      reconnect.reset();
    }
    waitForReady.wake();
  }

  /** Ends the session when its calls have ended; the next call opens another, at once. */
  void enterIdle() {
    final ClientConnection last = connection;
    if (last != null) {
      final boolean unused = enterIdle(last.session());
    }
  }

  /** As {@link #enterIdle()}, if the session is the newest still; returns whether it is. */
  boolean enterIdle(ClientSession session) {
    return giveUp(session, "the channel is idle", true);
  }

  /**
   * Ends a session when its calls have ended, if it is the newest still; returns whether it is.
   *
   * @param rests whether calls have paused: later rings begin with the shortest length again.
   */
  private boolean giveUp(ClientSession session, String reason, boolean rests) {
    final SessionAttempt growing;
    synchronized (this) {
      if (connection == null || connection.session() != session) {
        return false;
      }
      final boolean isOpen = open() != null;
      connection = null;
      if (rests) {
        growth.reset();
      }
      obstacle = reason;
      reconnect.skip();
      // Where there is no ring, waiting calls wait for the attempt, whatever caused it.
      final boolean grows = isOpen && attempt != null && attempt.plan.grownFabric() != null;
      growing =
          grows && streams.list().contains(attempt) ? attempt : null; // else it is ending just now
      if (growing != null) {
        attempt = null; // it reports nothing any more; the next call starts another one
        growing.detached = true;
      }
      if (attempt == null) {
        move(State.IDLE);
      } else if (state == State.OPEN) {
        move(State.OPENING);
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
      if (isLeaving()) {
        return;
      }
      move(State.LEAVING);
      left = true;
      this.onTerminated = onTerminated;
      begun = streams.list();
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
    ending.forEach(session -> session.end(RingChannel.SHUTDOWN_NOW));
  }

  private void terminateIfIdle() {
    final Runnable terminated;
    synchronized (this) {
      if (!isLeaving()
          || !sessions.isEmpty()
          || attempt != null
          || streams.list().stream().anyMatch(begun -> begun.detached)
          || onTerminated == null) {
        return;
      }
      move(State.ENDED);
      terminated = onTerminated;
      onTerminated = null;
    }
    terminated.run();
  }

  /** Notes why there is no ring, and that the next attempt has to wait. */
  @GuardedBy("this")
  private void refused(String reason, long maxPauseNs) {
    reconnect.refused(reason, maxPauseNs);
    obstacle = reason;
    move(State.WITHOUT);
  }

  /** Logs; called outside the lock, because a log handler may do anything. */
  private void log(System.Logger.Level level, String reason) {
    if (reason != null && !left) {
      FlightEvents.fellBack(backend, reason);
      channel.log(level, reason);
    }
  }

  /** Whether a fabric could not be reached a short time ago. */
  synchronized boolean hasFailedLately(String fabric) {
    return reconnect.hasFailedLately(fabric);
  }

  /** A fabric could not be reached. */
  synchronized void onUnreachable(SessionAttempt unsuccessful, String fabric) {
    if (unsuccessful.plan.grownFabric() == null) { // for so long a ring it may have no room
      reconnect.onUnreachable(fabric);
    }
  }

  /** A session is open, but may have ended since. */
  void onOpened(SessionAttempt successful, ClientConnection made) {
    final ClientSession session = made.session();
    final boolean abandoned;
    final boolean unwanted;
    final String ended;
    ClientConnection outgrown = null;
    synchronized (this) {
      successful.opened = session;
      successful.detached = false;
      abandoned = attempt != successful; // but the server was first
      unwanted = isLeaving() || abandoned;
      ended = session.endReason();
      if (ended == null) {
        channel.opened().increment();
        sessions.add(session);
        reconnect.onReached(made.fabric());
      }
      if (ended == null && !abandoned) {
        attempt = null;
        streams.onOpened(successful);
        openedPosition = session.pollPosition();
        outgrown = open();
        connection = made;
        move(State.OPEN);
        obstacle = "drained"; // once it is not open, until its end or a refusal says more
      }
    }
    if (ended != null) { // before it has served anything: as if there had been none
      onRefused(successful, ended, Backoff.MAX_NS);
      terminateIfIdle(); // nobody may have waited for it but that
      return;
    }
    channel.onRing();
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
    }
    FlightEvents.opened(FlightEvents.Side.CLIENT, backend, made.fabric());
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

  /** The attempt has ended, unless a session has opened before. */
  void onRefused(SessionAttempt unsuccessful, String reason, long maxBackoffNs) {
    final String news;
    final String told;
    final boolean reached;
    synchronized (this) {
      if (attempt != unsuccessful) {
        return;
      }
      reached = !unsuccessful.disconnected && maxBackoffNs >= Backoff.MAX_NS;
      attempt = null;
      channel.refused().increment();
      told = isLeaving() ? Backend.SHUTDOWN : reason;
      if (unsuccessful.plan.grownFabric() == null) {
        refused(told, maxBackoffNs);
        news = told;
      } else if (open() == null) { // it says nothing of a session that begins
        obstacle = told;
        move(State.WITHOUT);
        news = told;
      } else {
        news = null;
      }
    }
    // Where gRPC has no connection either, it is no ring that is missing: a drain looks like that.
    log(reached ? System.Logger.Level.INFO : System.Logger.Level.DEBUG, news);
    unsuccessful.future.completeExceptionally(Backends.noRing(told).asRuntimeException());
    terminateIfIdle();
  }

  /** The stream has ended; a session that is open finishes its calls. */
  void onStreamEnded(SessionAttempt ending, String reason, long maxBackoffNs) {
    final ClientSession draining;
    synchronized (this) {
      streams.remove(ending);
      draining = ending.opened;
    }
    streams.room().onReleased();
    if (draining == null) {
      onRefused(ending, reason, maxBackoffNs);
    } else {
      draining.drain(reason);
    }
    terminateIfIdle(); // nobody may have waited for it but that
  }

  /** The session's rings have been full. */
  void onCrowded(SessionAttempt successful, ClientSession session) {
    if (growth.tryBegin(successful.plan.maxRingLength())) {
      DefaultExecutor.RETRYING.execute(() -> grow(session));
    }
  }

  /** The session has ended. */
  void onSessionEnded(SessionAttempt successful, ClientSession session, String reason) {
    String news = null;
    System.Logger.Level level = System.Logger.Level.INFO;
    final boolean last;
    final boolean known;
    final long calls = session.count(Counter.SESSION_CALLS);
    synchronized (this) {
      successful.opened = session;
      known = sessions.remove(session);
      if (known) {
        endedCalls += calls;
      }
      last = isLeaving();
      if (connection != null && connection.session() == session) {
        connection = null;
        news = reason;
        if (session.pollPosition() == openedPosition) {
          reconnect.refused(reason, Backoff.MAX_NS);
        } else { // it has worked
          reconnect.succeeded();
          level = System.Logger.Level.DEBUG; // every connection ends once, and another one follows
        }
        obstacle = reason;
        if (attempt == null) {
          move(State.WITHOUT);
        } else if (state == State.OPEN) {
          move(State.OPENING);
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
    if (known) {
      FlightEvents.ended(FlightEvents.Side.CLIENT, backend, reason, calls);
    }
  }
}
