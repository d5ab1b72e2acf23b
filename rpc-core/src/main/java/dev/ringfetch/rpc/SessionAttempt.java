package dev.ringfetch.rpc;

import dev.ringfetch.call.ClientConnection;
import dev.ringfetch.protocol.OpenResponse;
import dev.ringfetch.session.ClientSession;
import dev.ringfetch.session.handshake.ClientHandshake;
import io.grpc.Attributes;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * One attempt of a channel to open a session: a stream on the gRPC connection, the handshake over
 * it, and the session that this leads to. What each outcome means, {@link BackendSessions} decides.
 * Thread-safe, but for the fields that the lock of those guards.
 */
final class SessionAttempt implements ClientHandshake.Listener, HandshakeStream.Listener {
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

  // Guarded by the sessions.
  ClientSession opened;
  boolean detached; // no call waits for it, and it has led to no session yet
  boolean disconnected; // gRPC has lost the connection that it began on

  private final Backends channel;
  private final ChannelContext context;
  private final Backend backend;
  private final BackendSessions sessions;
  private final ClientHandshake handshake;

  /** Creates an attempt that has not begun yet. */
  SessionAttempt(Backends channel, Plan plan, Backend backend) {
    this.channel = channel;
    this.context = channel.context();
    this.plan = plan;
    this.backend = backend;
    this.sessions = backend.sessions();
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
      stream.start(context.control(), backend.handshakeOptions(), channel.policy().pulseNs());
    } catch (Error e) { // for want of memory, perhaps of that for its deadline
      sessions.onRefused(this, "handshake: " + e, Backoff.MAX_NS);
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
    return sessions.hasFailedLately(fabric);
  }

  @Override
  public void onUnreachable(String fabric) {
    sessions.onUnreachable(this, fabric);
  }

  @Override
  public void onSession(ClientSession session, String fabric, List<String> methods) {
    final Attributes attributes = stream.attributes();
    sessions.onOpened(
        this,
        new ClientConnection(
            session,
            fabric,
            methods,
            BufferAllocator.attributes(
                attributes.toBuilder().set(Transport.TRANSPORT_ATTR_FABRIC, fabric).build(),
                session),
            PlaintextFabrics.level(fabric, stream.level().of(attributes)),
            channel.codecs()));
  }

  @Override
  public void onRefused(String reason) {
    sessions.onRefused(this, reason, Backoff.MAX_NS);
  }

  @Override
  public void onEnd(String reason, long maxBackoffNs) {
    sessions.onStreamEnded(this, reason, maxBackoffNs);
  }

  @Override
  public void onCrowded(ClientSession session) {
    sessions.onCrowded(this, session);
  }

  @Override
  public void onEnded(ClientSession session, String reason) {
    sessions.onSessionEnded(this, session, reason);
  }
}
