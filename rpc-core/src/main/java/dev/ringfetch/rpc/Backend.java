package dev.ringfetch.rpc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.call.ClientConnection;
import dev.ringfetch.counters.Counter;
import dev.ringfetch.protocol.OpenRequest;
import dev.ringfetch.protocol.OpenResponse;
import dev.ringfetch.session.ClientSession;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ConnectivityState;
import io.grpc.ConnectivityStateInfo;
import io.grpc.Context;
import io.grpc.EquivalentAddressGroup;
import io.grpc.LoadBalancer.PickResult;
import io.grpc.LoadBalancer.Subchannel;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;

/**
 * One server of a channel, as gRPC's policy sees it: opens a session to it when a call wants a
 * ring, and replaces lost sessions. A lost session that had carried an answer is replaced at once;
 * after one that had carried none, or was refused, {@link ReconnectPolicy} says when the next
 * attempt may follow. A session with rings that have been full is drained as soon as a session with
 * longer rings has replaced it. Only calls cause any of this, with two exceptions: {@link
 * IdleWatch} looks at a ring that is open, and {@link WaitForReady} repeats attempts for calls that
 * wait. Thread-safe.
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
final class Backend implements StreamRoom.Sessions {
  /** See the table of {@link Backend}. */
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

  static final String SHUTDOWN = "Channel shutdown invoked";

  /** Option of the gRPC call that opens a session: the backend that it goes to. */
  static final CallOptions.Key<Backend> HANDSHAKE =
      CallOptions.Key.create("dev.ringfetch.rpc.Backend.HANDSHAKE");

  /** How long a replaced session still takes the calls that had chosen it before. */
  private static final long OUTGROWN_NS = 100_000_000;

  private static final String NO_ROOM =
      "the server allows so few calls on a connection that gRPC's wait for the session's stream";

  static final String LOST_CONNECTION = "gRPC has lost its connection to the server";

  private static final long WAITED_MS =
      TimeUnit.NANOSECONDS.toMillis(StreamRoom.PATIENCE_NS + StreamRoom.AGAIN_NS);

  private static final String SLOW_HANDSHAKE =
      "took longer than " + WAITED_MS + " ms, for which a call waited to be sent";

  private static final String SLOW_CALL =
      "a call waited longer than " + WAITED_MS + " ms to be sent";

  /** How long an attempt waits for the stream of the call that caused it. */
  private static final long FIRST_CALL_NS = 1_000_000_000;

  private final Backends channel;
  private final ChannelContext context;
  private final Subchannel subchannel; // null: whatever gRPC's connection leads to
  private final IdleWatch idleWatch;
  private final LongAdder grpcCalls = new LongAdder();
  private final WaitForReady<ClientConnection> waitForReady =
      new WaitForReady<>(this::connect, this::pauseNs);
  private final StreamRoom room = new StreamRoom(this);

  private volatile List<EquivalentAddressGroup> addresses;
  private volatile ConnectivityStateInfo connectivity =
      ConnectivityStateInfo.forNonError(ConnectivityState.IDLE);
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
  private State state = State.IDLE;

  @GuardedBy("this")
  private String obstacle = "no call has asked for a ring yet";

  private final Growth growth; // tryBegin needs no guard

  @GuardedBy("this")
  private final ReconnectPolicy reconnect;

  @GuardedBy("this")
  private long soughtNs;

  @GuardedBy("this")
  private int lacks; // how often calls have waited for the stream of a session

  @GuardedBy("this")
  private long openedPosition; // of the connection's inbound ring

  @GuardedBy("this")
  private long endedCalls; // of sessions that have ended

  @GuardedBy("this")
  private Runnable onTerminated;

  private volatile boolean left; // no new call comes here

  /**
   * Creates a backend; nothing is opened yet.
   *
   * @param subchannel by which gRPC's policy knows it; null for whatever gRPC's connection leads
   *     to.
   * @param idleWatch looks after the sessions.
   */
  Backend(Backends channel, Subchannel subchannel, IdleWatch idleWatch) {
    this.channel = channel;
    this.context = channel.context();
    this.subchannel = subchannel;
    this.idleWatch = idleWatch;
    this.growth = new Growth(context.sessions());
    this.reconnect = new ReconnectPolicy(subchannel != null);
  }

  /** Called when gRPC has other addresses of the server. */
  void onAddresses(List<EquivalentAddressGroup> changed) {
    addresses = changed;
  }

  /** Called when gRPC's connection to this backend changes its state, before the policy knows. */
  void onState(ConnectivityStateInfo changed) {
    final boolean wasReady = connectivity.getState() == ConnectivityState.READY;
    connectivity = changed;
    if (changed.getState() == ConnectivityState.READY) {
      synchronized (this) {
        reconnect.connected();
      }
    } else if (wasReady && !left) { // the next connection may lead to another server
      final List<SessionAttempt> early;
      synchronized (this) {
        early = streams.stream().filter(begun -> begun.opened == null).toList();
      }
      early.forEach(begun -> begun.stream.giveUp(() -> LOST_CONNECTION));
      final ClientConnection open = connection;
      if (open != null) {
        final boolean unused = giveUp(open.session(), LOST_CONNECTION);
      }
    }
  }

  /** Called when the policy, too, knows gRPC's state: waiting calls are picked again. */
  void onPolicyTold() {
    if (isUnreachable()) {
      waitForReady.fail(Backends.noRing("gRPC has no connection"));
    }
  }

  /** True if gRPC neither has nor opens a connection to this backend, which goes on. */
  boolean isUnreachable() {
    final ConnectivityState now = connectivity.getState();
    return subchannel != null
        && !left
        && (now == ConnectivityState.IDLE || now == ConnectivityState.TRANSIENT_FAILURE);
  }

  /** True if a session can be opened: gRPC has a connection, or none is known to be missing. */
  boolean isReady() {
    return subchannel == null || connectivity.getState() == ConnectivityState.READY;
  }

  /** Returns what gRPC's picker returns for the call that opens a session to this backend. */
  PickResult pinned() {
    final ConnectivityStateInfo now = connectivity;
    return switch (now.getState()) {
      case READY -> PickResult.withSubchannel(subchannel);
      case TRANSIENT_FAILURE -> PickResult.withError(now.getStatus());
      case IDLE, CONNECTING, SHUTDOWN -> // else gRPC might buffer the call until its timeout
          PickResult.withError(Status.UNAVAILABLE.withDescription("gRPC has no connection"));
    };
  }

  /** Called when the policy gives the server up: its calls end on the ring, others go elsewhere. */
  void leave() {
    connectivity = ConnectivityStateInfo.forNonError(ConnectivityState.SHUTDOWN);
    shutdown(() -> channel.remove(this));
  }

  /** True if the policy has given the server up, while the channel goes on. */
  boolean hasGone() {
    return left && !channel.isShutdown();
  }

  /** Returns which transport serves its next call, with the counts of its calls. */
  BackendTransport transport() {
    final ClientConnection ring = open();
    final String address =
        subchannel == null
            ? context.target()
            : addresses.stream()
                .flatMap(group -> group.getAddresses().stream())
                .map(String::valueOf)
                .map(text -> text.startsWith("/") ? text.substring(1) : text)
                .collect(Collectors.joining(" "));
    final Transport transport =
        ring == null
            ? new Transport(
                channel.policy().isRequired() ? Transport.NONE : Transport.GRPC, reason())
            : new Transport(ring.fabric(), ring.session().describe());
    final ConnectivityState grpc =
        subchannel == null ? context.grpc().getState(false) : connectivity.getState();
    return new BackendTransport(address, grpc, transport, ringCalls(), grpcCalls.sum());
  }

  private synchronized long ringCalls() {
    return endedCalls
        + sessions.stream().mapToLong(session -> session.count(Counter.SESSION_CALLS)).sum();
  }

  /** Counts a call over gRPC. */
  void countGrpcCall() {
    grpcCalls.increment();
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
    synchronized (this) {
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
                SessionService.OPEN, handshakeOptions().withExecutor(DefaultExecutor.RETRYING));
    call.start(new ClientCall.Listener<>() {}, new Metadata());
    call.cancel("made to flush", null);
  }

  /** Returns the options of a gRPC call to this backend. */
  CallOptions handshakeOptions() {
    return subchannel == null
        ? CallOptions.DEFAULT
        : CallOptions.DEFAULT.withOption(HANDSHAKE, this);
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
      return attempt != null ? attempt.future : failed(isLeaving() ? SHUTDOWN : reason());
    }
  }

  /** As {@link #connect}, but repeats attempts until one succeeds, a cancel, or a shutdown. */
  CompletableFuture<ClientConnection> connectWaitingForReady() {
    return waitForReady.await();
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

  @GuardedBy("this")
  private boolean isTimeForAttempt() {
    return (connection == null || !connection.isOpen())
        && attempt == null
        && !isLeaving()
        && reconnect.pauseNs() <= 0;
  }

  @GuardedBy("this")
  private SessionAttempt newAttempt(String grownFabric) {
    if (scarce) { // there may be no room for a second stream: the first session gets long rings
      growth.onCrowded();
    }
    final SessionAttempt.Plan plan =
        new SessionAttempt.Plan(growth.maxRingLength(), grownFabric, lacks);
    final SessionAttempt made = new SessionAttempt(channel, plan, this);
    streams.add(made);
    hasStreams = true;
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

  /** The ring that is open, or null. */
  ClientConnection open() {
    final ClientConnection open = connection;
    return open != null && open.isOpen() ? open : null;
  }

  /** Why there is no ring. */
  synchronized String reason() {
    final ConnectivityStateInfo now = connectivity;
    if (now.getState() == ConnectivityState.TRANSIENT_FAILURE) {
      return "handshake: " + now.getStatus().getCode() + ": " + now.getStatus().getDescription();
    }
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
    final ClientConnection open = connection;
    if (open != null) {
      final boolean unused = enterIdle(open.session());
    }
  }

  /** As {@link #enterIdle()}, if the session is the newest still; returns whether it is. */
  boolean enterIdle(ClientSession session) {
    if (!giveUp(session, "the channel is idle")) {
      return false;
    }
    synchronized (this) {
      growth.reset();
    }
    return true;
  }

  /** Ends a session when its calls have ended, if it is the newest still; returns whether it is. */
  private boolean giveUp(ClientSession session, String reason) {
    final SessionAttempt growing;
    synchronized (this) {
      if (connection == null || connection.session() != session) {
        return false;
      }
      final boolean isOpen = connection.isOpen();
      connection = null;
      obstacle = reason;
      reconnect.skip();
      // Where there is no ring, waiting calls wait for the attempt, whatever caused it.
      final boolean grows = isOpen && attempt != null && attempt.plan.grownFabric() != null;
      growing = grows && streams.contains(attempt) ? attempt : null; // else it is ending just now
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
      if (!isLeaving()
          || !sessions.isEmpty()
          || attempt != null
          || streams.stream().anyMatch(begun -> begun.detached)
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
        scarce &= lacks != successful.plan.lacksBefore(); // there was room for its stream
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
    synchronized (this) {
      if (attempt != unsuccessful) {
        return;
      }
      attempt = null;
      channel.refused().increment();
      told = isLeaving() ? SHUTDOWN : reason;
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
    log(System.Logger.Level.INFO, news);
    unsuccessful.future.completeExceptionally(Backends.noRing(told).asRuntimeException());
    terminateIfIdle();
  }

  /** The stream has ended; a session that is open finishes its calls. */
  void onStreamEnded(SessionAttempt ending, String reason, long maxBackoffNs) {
    final ClientSession draining;
    synchronized (this) {
      streams.remove(ending);
      hasStreams = !streams.isEmpty();
      reconnect.onStreamEnded();
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
    synchronized (this) {
      successful.opened = session;
      if (sessions.remove(session)) {
        endedCalls += session.count(Counter.SESSION_CALLS);
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
  }
}
