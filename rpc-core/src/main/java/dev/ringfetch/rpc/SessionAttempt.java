package dev.ringfetch.rpc;

import dev.ringfetch.call.ClientConnection;
import dev.ringfetch.call.Codecs;
import dev.ringfetch.protocol.OpenResponse;
import dev.ringfetch.session.ClientSession;
import dev.ringfetch.session.handshake.ClientHandshake;
import io.grpc.Attributes;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * One attempt of a channel to open a session: a stream on the gRPC connection, the handshake over
 * it, and the session that this leads to. What each outcome means for the channel, its {@link
 * Outcomes} decide. Thread-safe, but for the fields that the lock of the outcomes guards.
 */
final class SessionAttempt implements ClientHandshake.Listener, HandshakeStream.Listener {
  /** The receiver of what becomes of attempts, and of their sessions. Any thread. */
  interface Outcomes {
    /** Whether a fabric could not be reached a short time ago. */
    boolean hasFailedLately(String fabric);

    /** A fabric could not be reached. */
    void onUnreachable(SessionAttempt attempt, String fabric);

    /** A session is open, but may have ended since. */
    void onOpened(SessionAttempt attempt, ClientConnection opened);

    /** The attempt has ended, unless a session has opened before. */
    void onRefused(SessionAttempt attempt, String reason, long maxBackoffNs);

    /** The stream has ended; a session that is open finishes its calls. */
    void onStreamEnded(SessionAttempt attempt, String reason, long maxBackoffNs);

    /** The session's rings have been full. */
    void onCrowded(SessionAttempt attempt, ClientSession session);

    /** The session has ended. */
    void onSessionEnded(SessionAttempt attempt, ClientSession session, String reason);
  }

  /**
   * The request of one attempt.
   *
   * @param maxRingLength limit of the length of a ring, in bytes.
   * @param grownFabric fabric of the session that this one replaces, on the same fabric; null when
   *     it replaces none. A reference to that session itself would keep it, with its memory, as
   *     long as its successor.
   * @param lacksBefore how often calls had waited for the stream of a session until then.
   */
  record Plan(int maxRingLength, String grownFabric, int lacksBefore) {}

  final CompletableFuture<ClientConnection> future = new CompletableFuture<>();
  final Plan plan;
  final HandshakeStream stream =
      new HandshakeStream(
          this, HandshakeStream.CONNECT_TIMEOUT_NS, HandshakeStream.STEP_TIMEOUT_NS);

  // Guarded by the lock of the outcomes.
  ClientSession opened;
  boolean detached; // no call waits for it, and it has led to no session yet

  private final ChannelContext context;
  private final RingPolicy policy;
  private final Codecs codecs;
  private final Outcomes outcomes;
  private final ClientHandshake handshake;

  /** Creates an attempt that has not begun yet. */
  SessionAttempt(
      ChannelContext context, RingPolicy policy, Codecs codecs, Plan plan, Outcomes outcomes) {
    this.context = context;
    this.policy = policy;
    this.codecs = codecs;
    this.plan = plan;
    this.outcomes = outcomes;
    this.handshake =
        new ClientHandshake(
            context.fabrics().fabrics().opened(),
            context.sessions(),
            plan.maxRingLength(),
            stream,
            this);
  }

  void start() {
    try {
      stream.start(context.control(), policy.pulseNs());
    } catch (Error e) { // for want of memory, perhaps of that for its deadline
      outcomes.onRefused(this, "handshake: " + e, Backoff.MAX_NS);
      stream.abandon(); // it may have begun
      throw e;
    }
  }

  @Override
  public void onConnected() {
    final String obstacle = policy.balancing().obstacle();
    if (obstacle == null) {
      handshake.start();
    } else { // known only since there is a connection
      outcomes.onRefused(this, obstacle, Backoff.MAX_NS);
      stream.abandon();
    }
  }

  @Override
  public void onResponse(OpenResponse response) {
    handshake.onResponse(response);
  }

  @Override
  public String obstacle(String fabric) {
    if (plan.grownFabric() != null && !plan.grownFabric().equals(fabric)) {
      return "longer rings are for " + plan.grownFabric();
    }
    return context.plaintext().obstacle(fabric, stream.level().future().join()); // known by now
  }

  @Override
  public byte[] ownAddress() {
    return Endpoints.encode(stream.ownAddress());
  }

  @Override
  public boolean isDoubtful(String fabric) {
    return outcomes.hasFailedLately(fabric);
  }

  @Override
  public void onUnreachable(String fabric) {
    outcomes.onUnreachable(this, fabric);
  }

  @Override
  public void onSession(ClientSession session, String fabric, List<String> methods) {
    final Attributes attributes = stream.attributes();
    outcomes.onOpened(
        this,
        new ClientConnection(
            session,
            fabric,
            methods,
            BufferAllocator.attributes(
                attributes.toBuilder().set(Transport.TRANSPORT_ATTR_FABRIC, fabric).build(),
                session),
            PlaintextFabrics.level(fabric, stream.level().of(attributes)),
            codecs));
  }

  @Override
  public void onRefused(String reason) {
    outcomes.onRefused(this, reason, Backoff.MAX_NS);
  }

  @Override
  public void onEnd(String reason, long maxBackoffNs) {
    outcomes.onStreamEnded(this, reason, maxBackoffNs);
  }

  @Override
  public void onCrowded(ClientSession session) {
    outcomes.onCrowded(this, session);
  }

  @Override
  public void onEnded(ClientSession session, String reason) {
    outcomes.onSessionEnded(this, session, reason);
  }
}
