package dev.ringfetch.rpc;

import dev.ringfetch.call.ClientConnection;
import dev.ringfetch.call.Codecs;
import dev.ringfetch.protocol.OpenRequest;
import dev.ringfetch.protocol.OpenResponse;
import dev.ringfetch.session.ClientSession;
import dev.ringfetch.session.SessionContext;
import dev.ringfetch.session.handshake.ClientHandshake;
import dev.ringfetch.session.poller.DeadlineTimer;
import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.Channel;
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

/**
 * The sessions of a channel: opens one when a call wants a ring, again at once after one was lost
 * that had carried an answer, and with backoff after one that had not or was refused. A fabric that
 * could not be reached comes after the others for a while. A session whose rings have been full is
 * drained when another one with longer rings has taken its place. Nothing happens without a call,
 * but that {@link IdleWatch} looks at a ring that is open, and that {@link WaitForReady} repeats
 * attempts for calls that wait. Thread-safe.
 */
final class ChannelSessions implements StreamRoom.Sessions {
  static final String SHUTDOWN = "Channel shutdown invoked";

  /** How long a session takes the calls that had chosen it before another took its place. */
  private static final long OUTGROWN_NS = 100_000_000;

  private final Channel control;
  private final SharedFabrics shared;
  private final SessionContext context;
  private final PlaintextFabrics plaintext;
  private final String target;
  private final String meanwhile;
  private final Codecs codecs;
  private final IdleWatch idleWatch;
  private final WaitForReady<ClientConnection> waitForReady =
      new WaitForReady<>(this::connect, this::pauseNs);

  private static final String NO_ROOM =
      "the server allows so few calls on a connection that gRPC's wait for the session's stream";

  /** How long an attempt waits for the stream of the call that has asked for it. */
  private static final long FIRST_CALL_NS = 1_000_000_000;

  private static final int MAX_FLUSHES = 3;

  private final StreamRoom room = new StreamRoom(this);

  private volatile ClientConnection connection;
  private volatile long pulseNs;
  private volatile boolean hasStreams;
  private volatile boolean sought; // a call has asked for a ring, and its stream comes first
  private volatile boolean scarce; // calls have waited for the stream of a session, lately

  // Below: guarded by this.
  private Attempt attempt;
  private final Set<Attempt> streams = new HashSet<>(); // whose control stream has not ended
  private final Set<ClientSession> sessions = new HashSet<>(); // the newest, and those that drain
  private String obstacle = "no call has asked for a ring yet";
  private boolean unasked = true; // there was no attempt, or none since the channel was idle
  private String logged;
  private final Growth growth; // tryBegin needs no guard
  private final Backoff backoff = new Backoff();
  private final Backoff roomBackoff = new Backoff(); // since calls have waited for a stream
  private long soughtNs;
  private int flushes; // since a stream has ended
  private int lacks; // how often calls have waited for the stream of a session
  private final Map<String, Long> failures = new HashMap<>(); // last time, by name of a fabric
  private long openedPosition; // of the connection's inbound ring
  private volatile long sessionsOpened;
  private volatile long sessionsRefused;
  private boolean shutdown;
  private Runnable onTerminated;

  /**
   * Creates the object; nothing is opened yet.
   *
   * @param control channel over which sessions are opened.
   * @param plaintext fabrics that may be used although that channel is encrypted.
   * @param meanwhile what calls do without a ring, for the log.
   * @param codecs of the channel.
   * @param idleWatch looks after the sessions.
   */
  ChannelSessions(
      Channel control,
      SharedFabrics shared,
      SessionContext context,
      PlaintextFabrics plaintext,
      String target,
      String meanwhile,
      Codecs codecs,
      IdleWatch idleWatch) {
    this.control = control;
    this.shared = shared;
    this.context = context;
    this.plaintext = plaintext;
    this.target = target;
    this.meanwhile = meanwhile;
    this.codecs = codecs;
    this.idleWatch = idleWatch;
    this.growth = new Growth(context);
  }

  /** Servers are asked to send something on a session's stream so often; 0: they are not. */
  void pulse(long intervalNs) {
    pulseNs = intervalNs;
  }

  /**
   * The ring for a new call, or null: then one is being opened, unless it is too early for that.
   */
  ClientConnection current() {
    final ClientConnection open = open();
    if (open == null) {
      begin();
    }
    return open;
  }

  /**
   * Opens a ring, if it is the time for that, once a call that goes over gRPC has its stream: with
   * that of a session it might find no room on the connection.
   */
  void seek() {
    if (sought) {
      final boolean waited;
      synchronized (this) {
        waited = System.nanoTime() - soughtNs > FIRST_CALL_NS;
      }
      if (waited) { // the one that was to come first: it may never tell
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

  /** Streams of sessions that drain anyway go first. Their calls, and those of others, go on. */
  @Override
  public void makeRoom(boolean lacking) {
    final List<Attempt> ending;
    final boolean flushes;
    synchronized (this) {
      flushes = streams.isEmpty() && mayFlush();
      if (lacking && !streams.isEmpty()) {
        scarce = true;
        lacks++;
      }
      final List<Attempt> draining =
          streams.stream()
              .filter(begun -> begun.opened != null && begun.opened.isDraining())
              .toList();
      ending = !lacking ? List.of() : draining.isEmpty() ? List.copyOf(streams) : draining;
      if (draining.isEmpty() && !ending.isEmpty()) {
        roomBackoff.failed(Backoff.MAX_NS);
      }
    }
    ending.forEach(begun -> begun.stream.giveUp(NO_ROOM));
    if (flushes) {
      flush();
    }
  }

  /** Guarded by this. Whether one more flush may help: some at most, after a stream's end. */
  private boolean mayFlush() {
    return ++flushes <= MAX_FLUSHES;
  }

  /** Has the connection written to: what comes of the call, which is cancelled, does not matter. */
  private void flush() {
    final ClientCall<OpenRequest, OpenResponse> call =
        control.newCall(
            SessionService.OPEN, CallOptions.DEFAULT.withExecutor(DefaultExecutor.RETRYING));
    call.start(new ClientCall.Listener<>() {}, new Metadata());
    call.cancel("made to flush", null);
  }

  /** What watches the streams of calls that go over gRPC. */
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

  /** As {@link #connect}, and again and again until there is one, a cancel, or a shutdown. */
  CompletableFuture<ClientConnection> connectWaitingForReady() {
    return waitForReady.await();
  }

  private synchronized long pauseNs() {
    return Math.max(backoff.remainingNs(), roomBackoff.remainingNs());
  }

  /** Starts an attempt, if it is the time for one. */
  private void begin() {
    final Attempt begun;
    final String news;
    synchronized (this) {
      if (!isTimeForAttempt()) {
        return;
      }
      if (shared.fabrics().opened().isEmpty()) {
        begun = null;
        news = refused(shared.fabrics().obstacles(), Backoff.MAX_NS);
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

  /** Guarded by this. */
  private boolean isTimeForAttempt() {
    return (connection == null || !connection.isOpen())
        && attempt == null
        && !shutdown
        && backoff.remainingNs() <= 0
        && roomBackoff.remainingNs() <= 0;
  }

  /** Guarded by this. */
  private Attempt newAttempt(String grownFabric) {
    if (scarce) { // there may be no room for a second stream: what it would bring, the first does
      growth.onCrowded();
    }
    final Attempt made = new Attempt(growth.maxRingLength(), grownFabric);
    streams.add(made);
    hasStreams = true;
    attempt = made; // last: until that is refused or opens a session, there is no other
    if (unasked) {
      unasked = false;
      obstacle = "a session is being opened";
    }
    return made;
  }

  /** A session has too little room: another one is to take its place. */
  private void grow(ClientSession session) {
    final Attempt begun;
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
    final String ended = connection == null ? null : connection.session().endReason();
    return ended == null ? obstacle : ended;
  }

  /** Sessions that were opened. */
  long sessionsOpened() {
    return sessionsOpened;
  }

  /** Attempts of which no session came. */
  long sessionsRefused() {
    return sessionsRefused;
  }

  /** Lets the next call try at once, and those that wait. */
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
    final Attempt growing;
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
      // Where there is no ring, whoever waits for one waits for the attempt, whatever it was for.
      final boolean grows = isOpen && attempt != null && attempt.grownFabric != null;
      growing = grows && streams.contains(attempt) ? attempt : null; // else it ends just now
      if (growing != null) {
        attempt = null; // it says nothing any more; a call makes another one
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
   * Ends the session when its calls have ended, and opens none any more. Without effect when it was
   * called before.
   *
   * @param onTerminated called once, when nothing is left.
   */
  void shutdown(Runnable onTerminated) {
    final List<Attempt> begun;
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
    begun.forEach(Attempt::abandonUnlessServing);
    draining.forEach(ClientSession::drain);
    terminateIfIdle();
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

  /** Guarded by this. Returns what is to be logged, or null. */
  private String refused(String reason, long maxBackoffNs) {
    backoff.failed(maxBackoffNs);
    return hasNoRing(reason);
  }

  /** Guarded by this. Returns what is to be logged, or null: a reason is, until another comes. */
  private String hasNoRing(String reason) {
    obstacle = reason;
    if (shutdown || reason.equals(logged)) {
      return null;
    }
    logged = reason;
    return reason;
  }

  /** Outside the lock: a handler of the log may do anything. */
  private void log(String reason) {
    if (reason != null) {
      System.getLogger(RingChannel.class.getName())
          .log(
              System.Logger.Level.INFO,
              "there is no ring to {0}, so calls {1}: {2}",
              target,
              meanwhile,
              reason);
    }
  }

  /** One handshake, and the session that it leads to. */
  private final class Attempt implements ClientHandshake.Listener, HandshakeStream.Listener {
    final CompletableFuture<ClientConnection> future = new CompletableFuture<>();

    private final HandshakeStream stream =
        new HandshakeStream(
            this, HandshakeStream.CONNECT_TIMEOUT_NS, HandshakeStream.STEP_TIMEOUT_NS);
    private final int maxRingLength;
    private final String grownFabric;
    private final ClientHandshake handshake;
    private final int lacksBefore = lacks;
    // Guarded by the channel's sessions.
    private ClientSession opened;
    private boolean detached; // nobody waits for it, and no session has come of it yet

    /**
     * Creates it.
     *
     * @param maxRingLength that no ring is to exceed.
     * @param grownFabric of the session whose place it is to take, on the same fabric; null:
     *     nobody's. That session itself would be kept, with its memory, as long as its successor.
     */
    Attempt(int maxRingLength, String grownFabric) {
      this.maxRingLength = maxRingLength;
      this.grownFabric = grownFabric;
      this.handshake =
          new ClientHandshake(shared.fabrics().opened(), context, maxRingLength, stream, this);
    }

    void start() {
      try {
        stream.start(control, pulseNs);
      } catch (Error e) { // for want of memory, perhaps of that for its deadline
        refuse("handshake: " + e, Backoff.MAX_NS);
        stream.abandon(); // it may have begun
        throw e;
      }
    }

    @Override
    public void onConnected() {
      handshake.start();
    }

    @Override
    public void onResponse(OpenResponse response) {
      handshake.onResponse(response);
    }

    @Override
    public String obstacle(String fabric) {
      if (grownFabric != null && !grownFabric.equals(fabric)) {
        return "longer rings are for " + grownFabric;
      }
      return plaintext.obstacle(fabric, stream.level().future().join()); // known by now
    }

    @Override
    public byte[] ownAddress() {
      return Endpoints.encode(stream.ownAddress());
    }

    @Override
    public boolean isDoubtful(String fabric) {
      synchronized (ChannelSessions.this) {
        final Long failedNs = failures.get(fabric);
        return failedNs != null && System.nanoTime() - failedNs < Backoff.MAX_NS;
      }
    }

    @Override
    public void onUnreachable(String fabric) {
      synchronized (ChannelSessions.this) {
        if (grownFabric == null) { // for so long a ring it may have no room
          failures.put(fabric, System.nanoTime());
        }
      }
    }

    /** The channel shuts down: an answer is not waited for, the stream of a session is. */
    void abandonUnlessServing() {
      synchronized (ChannelSessions.this) {
        if (sessions.contains(opened)) {
          return;
        }
      }
      stream.abandon();
    }

    /** A session that is open finishes the calls that it has. */
    @Override
    public void onEnd(String reason, long maxBackoffNs) {
      final ClientSession draining;
      synchronized (ChannelSessions.this) {
        streams.remove(this);
        hasStreams = !streams.isEmpty();
        flushes = 0;
        draining = opened;
      }
      room.onReleased();
      if (draining == null) {
        refuse(reason, maxBackoffNs);
      } else {
        draining.drain(reason);
      }
      terminateIfIdle(); // nobody may have waited for it but that
    }

    @Override
    public void onSession(ClientSession session, String fabric, List<String> methods) {
      final Attributes attributes = stream.attributes();
      final ClientConnection made =
          new ClientConnection(
              session,
              fabric,
              methods,
              BufferAllocator.attributes(
                  attributes.toBuilder().set(Transport.TRANSPORT_ATTR_FABRIC, fabric).build(),
                  session),
              PlaintextFabrics.level(fabric, stream.level().of(attributes)),
              codecs);
      final boolean abandoned;
      final boolean unwanted;
      final String ended;
      ClientConnection outgrown = null;
      synchronized (ChannelSessions.this) {
        opened = session;
        detached = false;
        abandoned = attempt != this; // but the server was first
        unwanted = shutdown || abandoned;
        ended = session.endReason();
        if (ended == null) {
          sessionsOpened++;
          sessions.add(session);
          failures.remove(fabric);
        }
        if (ended == null && !abandoned) {
          attempt = null;
          scarce &= lacks != lacksBefore; // there was room for its stream
          openedPosition = session.pollPosition();
          outgrown = open();
          connection = made;
          logged = null;
          obstacle = "drained"; // once it is not open, until its end or a refusal says more
        }
      }
      if (ended != null) { // before it has served anything: as if there had been none
        onRefused(ended);
        terminateIfIdle(); // nobody may have waited for it but that
        return;
      }
      future.complete(made);
      waitForReady.wake(); // who sleeps after an earlier attempt
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

    /** Calls that have just chosen the session are sent on it; they would have to begin again. */
    private void drainSoon(ClientSession session) {
      final Runnable drain = () -> session.drain("another session has longer rings");
      try {
        final Future<?> unused =
            DeadlineTimer.schedule(() -> DefaultExecutor.RETRYING.execute(drain), OUTGROWN_NS);
      } catch (OutOfMemoryError e) { // now, or never
        drain.run();
      }
    }

    @Override
    public void onRefused(String reason) {
      refuse(reason, Backoff.MAX_NS);
    }

    /** There is no session, unless one has opened before. */
    private void refuse(String reason, long maxBackoffNs) {
      final String news;
      final String told;
      synchronized (ChannelSessions.this) {
        if (attempt != this) {
          return;
        }
        attempt = null;
        sessionsRefused++;
        told = shutdown ? SHUTDOWN : reason;
        if (grownFabric == null) {
          news = refused(told, maxBackoffNs);
        } else { // which says nothing of a session that begins
          news = open() == null ? hasNoRing(told) : null;
        }
      }
      log(news);
      future.completeExceptionally(
          Status.UNAVAILABLE.withDescription("no ring: " + told).asRuntimeException());
      terminateIfIdle();
    }

    @Override
    public void onCrowded(ClientSession session) {
      if (growth.tryBegin(maxRingLength)) {
        DefaultExecutor.RETRYING.execute(() -> grow(session));
      }
    }

    @Override
    public void onEnded(ClientSession session, String reason) {
      String news = null;
      final boolean last;
      synchronized (ChannelSessions.this) {
        opened = session;
        sessions.remove(session);
        last = shutdown;
        if (connection != null && connection.session() == session) {
          connection = null;
          if (session.pollPosition() == openedPosition) {
            news = refused(reason, Backoff.MAX_NS);
          } else { // it has worked
            backoff.succeeded();
            news = hasNoRing(reason);
          }
        }
      }
      log(news);
      if (last) {
        stream.abandon(); // or the channel would wait for a server that does not end the stream
      } else {
        stream.close();
      }
      terminateIfIdle();
    }
  }
}
