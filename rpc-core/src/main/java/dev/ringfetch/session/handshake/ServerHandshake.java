package dev.ringfetch.session.handshake;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.Obstacle;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.protocol.Answer;
import dev.ringfetch.protocol.FabricOffer;
import dev.ringfetch.protocol.Hello;
import dev.ringfetch.protocol.OpenRequest;
import dev.ringfetch.protocol.OpenResponse;
import dev.ringfetch.protocol.Refusal;
import dev.ringfetch.protocol.RingSizes;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.session.ServerSession;
import dev.ringfetch.session.SessionConnection;
import dev.ringfetch.session.SessionContext;
import dev.ringfetch.session.carrier.Geometry;
import dev.ringfetch.session.poller.Poller;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.StringJoiner;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The server's side of opening a session: takes the client's capabilities, offers memory, and
 * creates the session when the client has connected. Called by the owner of the control stream;
 * {@link #onRequest} one call at a time, {@link #onClosed} at any time.
 */
public final class ServerHandshake {
  /** How long an offer waits for its client, which connects at once or not at all. */
  static final long OFFER_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);

  /**
   * How long a client may take to send its hello, which comes with the stream or after a decline.
   */
  static final long HELLO_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);

  private final HandshakeContext context;
  private final Function<String, ServerSession.Acceptor> acceptors;
  private final ControlStream<OpenResponse> control;
  private final Listener listener;

  private boolean begun;

  @GuardedBy("this")
  private Offering offering;

  @GuardedBy("this")
  private Silence silence; // while the hello is awaited

  @GuardedBy("this")
  private ServerSession session;

  @GuardedBy("this")
  private boolean closed;

  /**
   * Creates the handshake.
   *
   * @param acceptors supplies the acceptor of a session's calls, by the name of its fabric.
   */
  public ServerHandshake(
      HandshakeContext context,
      Function<String, ServerSession.Acceptor> acceptors,
      ControlStream<OpenResponse> control,
      Listener listener) {
    this.context = context;
    this.acceptors = acceptors;
    this.control = control;
    this.listener = listener;
  }

  /** Called when the client's stream is open: starts the timeout of its hello. */
  public void onOpened() {
    awaitHello();
  }

  private void awaitHello() {
    final Silence begun = new Silence();
    synchronized (this) {
      if (!closed) {
        begun.timeout = context.timer().schedule(() -> onSilent(begun), HELLO_TIMEOUT_NS);
        silence = begun;
      }
    }
  }

  /** Ends the wait for a hello, if there is one. */
  private synchronized void endSilence() {
    if (silence != null) {
      silence.timeout.run();
      silence = null;
    }
  }

  private void onSilent(Silence late) {
    synchronized (this) {
      if (silence != late) {
        return; // the hello came at the same time
      }
      silence = null;
      closed = true;
    }
    listener.onAbandoned();
    control.expired("no hello of the client in time: timeoutNs=" + HELLO_TIMEOUT_NS);
  }

  /** Takes a step of the client. */
  public void onRequest(OpenRequest request) {
    endSilence();
    if (request.has(OpenRequest.HELLO) && !begun) {
      begun = true;
      listener.onHello(() -> answer(request.get(OpenRequest.HELLO)));
      return;
    }
    final Offering declined = request.has(OpenRequest.DECLINE) ? take() : null;
    if (declined != null) {
      withdraw(declined);
      begun = false; // it may send a hello again, without that fabric
      awaitHello();
    } else {
      onClosed(); // a step that does not come here
    }
  }

  /**
   * Called when the control stream has ended, or is to end: withdraws an offer, or drains the
   * session.
   */
  public void onClosed() {
    final Offering withdrawn;
    final ServerSession draining;
    synchronized (this) {
      closed = true;
      withdrawn = take();
      draining = session;
    }
    endSilence();
    if (withdrawn != null) {
      withdraw(withdrawn);
    }
    if (draining != null) {
      draining.drain();
    }
    control.close();
  }

  /**
   * Withdraws an offer after its timeout: otherwise a client that never connects would keep the
   * memory forever.
   */
  private void onTimeout(Offering late) {
    if (take(late)) {
      withdraw(late);
      listener.onAbandoned();
      control.close();
    }
  }

  /** Takes the present offer, if any, for the thread that withdraws it. */
  private synchronized Offering take() {
    final Offering taken = offering;
    return taken != null && take(taken) ? taken : null;
  }

  /**
   * Takes an offer, for the thread that connects or withdraws it. False when another thread was
   * first.
   */
  private synchronized boolean take(Offering taken) {
    if (offering != taken) {
      return false;
    }
    offering = null;
    taken.timeout.run();
    return true;
  }

  private void withdraw(Offering withdrawn) {
    withdrawn.offer.close();
    notOpened(withdrawn.length);
  }

  private void notOpened(int length) {
    OfferedMemory.release(length);
    listener.onNotOpened();
  }

  private synchronized boolean isClosed() {
    return closed;
  }

  private void answer(Hello hello) {
    if (isClosed()) {
      return;
    }
    final int min = hello.get(Hello.MIN_VERSION);
    final int max = hello.get(Hello.MAX_VERSION);
    if (Integer.compareUnsigned(min, Wire.VERSION) > 0
        || Integer.compareUnsigned(max, Wire.VERSION) < 0) {
      refuse(
          "wire version "
              + Wire.VERSION
              + " is served, not "
              + Integer.toUnsignedString(min)
              + " to "
              + Integer.toUnsignedString(max));
      return;
    }
    final String between =
        context.sessions().acrossProxies()
            ? null
            : listener.between(hello.get(Hello.CLIENT_ADDRESS));
    if (between != null) {
      refuse(between);
      return;
    }
    if (!listener.onOpening()) {
      control.exhausted("the server takes no further session");
      return;
    }
    final Geometry geometry = geometry(hello.get(Hello.GEOMETRY));
    final int length =
        ArenaDescriptor.length(geometry.requestRingLength(), geometry.responseRingLength());
    if (!OfferedMemory.reserve(length)) {
      listener.onNotOpened();
      control.exhausted("the server has too much memory on offer");
      return;
    }
    final StringBuilder reasons = new StringBuilder();
    final Map<String, PolledFabric> untried = new HashMap<>();
    context.fabrics().forEach(own -> untried.put(own.fabric().name(), own));
    final boolean longReads = hello.get(Hello.LONG_READS) != 0;
    boolean counted = true;
    try {
      for (final FabricOffer theirs : hello.get(Hello.FABRICS)) {
        final String name = theirs.get(FabricOffer.NAME);
        final PolledFabric ours = untried.remove(name); // however often it is named
        if (ours == null) {
          continue;
        }
        final String obstacle = listener.obstacle(name);
        if (obstacle != null) {
          reasons.append("; ").append(name).append(": ").append(obstacle);
          continue;
        }
        try {
          final OpenResponse answer =
              offer(ours, theirs, geometry, new Offering(length, longReads));
          if (answer != null) {
            counted = false; // the offer's end gives it back
            control.send(answer);
          }
          return;
        } catch (IOException | LinkageError e) { // the latter of what the fabric needs of others
          reasons.append("; ").append(name).append(": ").append(Obstacle.of(e));
        }
      }
    } finally {
      if (counted) { // also by an Error: there may be no memory to map
        notOpened(length);
      }
    }
    refuse(reasons.isEmpty() ? noneServed() : "no fabric in common" + reasons);
  }

  /** None that the client names; it knows which those are. */
  private String noneServed() {
    final StringJoiner served = new StringJoiner(", ");
    served.setEmptyValue("none");
    context.fabrics().forEach(own -> served.add(own.fabric().name()));
    return "no fabric in common; the server has " + served;
  }

  private void refuse(String reason) {
    control.send(
        new OpenResponse().set(OpenResponse.REFUSAL, new Refusal().set(Refusal.REASON, reason)));
    control.close();
  }

  /** Puts memory on offer; null when the control stream has ended meanwhile. */
  private @Nullable OpenResponse offer(
      PolledFabric polled, FabricOffer theirs, Geometry geometry, Offering begun)
      throws IOException {
    final byte[] token = new byte[Wire.TOKEN_LENGTH];
    context.random().nextBytes(token);
    final Poller poller = polled.nextPoller();
    final ServerSession.Acceptor acceptor = acceptors.apply(polled.fabric().name());
    final Fabric.Offer made =
        polled
            .fabric()
            .offer(
                poller.doorbell(),
                theirs.get(FabricOffer.HINT),
                begun.length,
                token,
                queuePair -> connected(queuePair, begun, geometry, poller, acceptor));
    boolean kept = false;
    try {
      final OpenResponse answer = answer(polled, made, token, geometry, begun.longReads);
      geometry.prepare(made.memory());
      synchronized (this) {
        if (closed) {
          return null;
        }
        begun.offer = made;
        begun.timeout =
            context
                .timer()
                .schedule(() -> poller.execute(() -> onTimeout(begun)), OFFER_TIMEOUT_NS);
        offering = begun;
        kept = true;
      }
      return answer;
    } finally {
      if (!kept) {
        made.close();
      }
    }
  }

  private OpenResponse answer(
      PolledFabric polled, Fabric.Offer made, byte[] token, Geometry geometry, boolean longReads) {
    final RingSizes sizes =
        new RingSizes()
            .set(RingSizes.REQUEST_RING_BYTES, geometry.requestRingLength())
            .set(RingSizes.RESPONSE_RING_BYTES, geometry.responseRingLength())
            .set(RingSizes.MAX_FRAME_BYTES, geometry.maxFrameLength());
    final Answer answer =
        new Answer()
            .set(Answer.VERSION, Wire.VERSION)
            .set(Answer.FABRIC, polled.fabric().name())
            .set(Answer.TOKEN, token)
            .set(Answer.FABRIC_DESCRIPTOR, made.descriptor())
            .set(Answer.GEOMETRY, sizes)
            .set(Answer.EPOCH, geometry.epoch())
            .set(Answer.REQUEST_POSITION, geometry.requestPosition())
            .set(Answer.RESPONSE_POSITION, geometry.responsePosition())
            .set(Answer.MAX_STREAMS, geometry.maxStreams())
            .set(Answer.METHODS, context.methods())
            .set(Answer.MAX_REQUEST_BYTES, context.sessions().maxInboundLength())
            .set(Answer.MAX_METADATA_BYTES, context.sessions().maxMetadataLength());
    if (longReads) {
      answer.set(Answer.LONG_READS, 1);
    }
    return new OpenResponse().set(OpenResponse.ANSWER, answer);
  }

  /** The client's wishes where they can be granted. Positions start anywhere but near their end. */
  private Geometry geometry(RingSizes wish) {
    final SessionContext own = context.sessions();
    final int maxFrame = wish.get(RingSizes.MAX_FRAME_BYTES);
    return new Geometry(
        ringLength(wish.get(RingSizes.REQUEST_RING_BYTES), own.requestRingLength()),
        ringLength(wish.get(RingSizes.RESPONSE_RING_BYTES), own.responseRingLength()),
        maxFrame >= FrameDescriptor.SLOT_LENGTH
            ? Math.min(maxFrame, own.maxFrameLength())
            : own.maxFrameLength(),
        own.maxStreams(),
        context.random().nextLong(),
        context.random().nextLong() >>> 2,
        context.random().nextLong() >>> 2);
  }

  private static int ringLength(int wished, int own) {
    return wished >= ArenaDescriptor.MIN_RING_LENGTH
            && wished <= Wire.MAX_WISHED_RING_LENGTH
            && Integer.bitCount(wished) == 1
        ? wished
        : own;
  }

  private void connected(
      QueuePair queuePair,
      Offering taken,
      Geometry geometry,
      Poller poller,
      ServerSession.Acceptor acceptor) {
    final ServerSession opened =
        new ServerSession(
            new SessionConnection(queuePair, geometry, taken.longReads, poller),
            context.sessions(),
            acceptor,
            this::ended);
    if (!take(taken)) { // withdrawn at the same time, and given back already
      queuePair.close();
      return;
    }
    OfferedMemory.release(taken.length);
    // The poller first, then the listeners that may end the session: it must be added before it is
    // removed.
    opened.serve();
    listener.onSession(opened);
    final boolean drain;
    synchronized (this) {
      session = opened;
      drain = closed;
    }
    if (drain) {
      opened.drain();
    }
  }

  private void ended(ServerSession session, String reason) {
    listener.onEnded(session, reason);
    control.close();
  }

  /** The present offer to the client: one at a time; the ones before could not be reached. */
  private static final class Offering {
    final int length; // what is counted for it
    final boolean longReads; // both sides READ long messages
    Fabric.Offer offer;
    Runnable timeout; // cancels it

    Offering(int length, boolean longReads) {
      this.length = length;
      this.longReads = longReads;
    }
  }

  /** The wait for one hello. */
  private static final class Silence {
    Runnable timeout; // cancels it
  }

  /** Listener for the result of a handshake. */
  public interface Listener {
    /**
     * Called when a client has sent its hello. The callee runs the answer once, on any thread, now
     * or when it is the client's turn; or never, when it has ended the control stream.
     */
    default void onHello(Runnable answer) {
      answer.run();
    }

    /** Why this client may not use a fabric, in one line, or null when it may. */
    default @Nullable String obstacle(String fabric) {
      return null;
    }

    /**
     * Describes in one line the proxy between the client and this server; null when none is known.
     *
     * @param clientAddress of the client, as the message Hello has it.
     */
    default @Nullable String between(byte[] clientAddress) {
      return null;
    }

    /** Called when a client wants a session. False refuses it: there are too many. */
    boolean onOpening();

    /** Called when the session that {@link #onOpening} allowed was not opened. */
    void onNotOpened();

    /** Called when the client has not sent its hello, or has not connected, in time. */
    default void onAbandoned() {}

    /** A session is open. */
    void onSession(ServerSession session);

    /** A session has ended. */
    void onEnded(ServerSession session, String reason);
  }
}
