package dev.ringfetch.session;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.ring.ControlDescriptor;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.v1.Answer;
import dev.ringfetch.v1.FabricOffer;
import dev.ringfetch.v1.Hello;
import dev.ringfetch.v1.OpenRequest;
import dev.ringfetch.v1.OpenResponse;
import dev.ringfetch.v1.Refusal;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.List;

/**
 * The server's side of opening a session: takes what the client can, offers memory, and makes the
 * session when the client has connected. Driven by whoever owns the control stream; {@link
 * #onRequest} one call at a time, {@link #onClosed} at any time.
 */
public final class ServerHandshake {
  private static final SecureRandom RANDOM = new SecureRandom();

  private final List<PolledFabric> fabrics;
  private final List<String> methods;
  private final SessionContext context;
  private final ServerSession.Acceptor acceptor;
  private final ControlStream<OpenResponse> control;
  private final Listener listener;

  private boolean begun;
  private Fabric.Offer offer;
  private ServerSession session;
  private boolean closed;

  /**
   * Creates the handshake.
   *
   * @param methods full names; the index is the id.
   */
  public ServerHandshake(
      List<PolledFabric> fabrics,
      List<String> methods,
      SessionContext context,
      ServerSession.Acceptor acceptor,
      ControlStream<OpenResponse> control,
      Listener listener) {
    this.fabrics = List.copyOf(fabrics);
    this.methods = methods;
    this.context = context;
    this.acceptor = acceptor;
    this.control = control;
    this.listener = listener;
  }

  /** Takes a step of the client. */
  public void onRequest(OpenRequest request) {
    if (request.hasHello() && !begun) {
      begun = true;
      answer(request.getHello());
    } else {
      onClosed(); // declined, or a step that does not come here
    }
  }

  /** The control stream has ended, or is to: what is on offer is withdrawn, a session drained. */
  public void onClosed() {
    final ServerSession draining;
    final Fabric.Offer withdrawn;
    synchronized (this) {
      closed = true;
      draining = session;
      withdrawn = offer;
      offer = null;
    }
    if (withdrawn != null) {
      withdrawn.close();
      listener.onNotOpened();
    }
    if (draining != null) {
      draining.drain();
    }
    control.close();
  }

  private void answer(Hello hello) {
    if (hello.getMinVersion() > Wire.VERSION || hello.getMaxVersion() < Wire.VERSION) {
      refuse(
          "wire version "
              + Wire.VERSION
              + " is served, not "
              + hello.getMinVersion()
              + " to "
              + hello.getMaxVersion());
      return;
    }
    if (!listener.onOpening()) {
      control.exhausted("the server takes no further session");
      return;
    }
    final StringBuilder reasons = new StringBuilder("no fabric in common");
    for (final FabricOffer theirs : hello.getFabricsList()) {
      for (final PolledFabric ours : fabrics) {
        if (ours.fabric().name().equals(theirs.getName())) {
          try {
            offer(ours, theirs, hello);
            return;
          } catch (IOException e) {
            reasons.append("; ").append(theirs.getName()).append(": ").append(e.getMessage());
          }
        }
      }
    }
    listener.onNotOpened();
    refuse(reasons.toString());
  }

  private void refuse(String reason) {
    control.send(
        OpenResponse.newBuilder().setRefusal(Refusal.newBuilder().setReason(reason)).build());
    control.close();
  }

  private void offer(PolledFabric polled, FabricOffer theirs, Hello hello) throws IOException {
    final Geometry geometry = geometry(hello.getGeometry());
    final byte[] token = new byte[Wire.TOKEN_LENGTH];
    RANDOM.nextBytes(token);
    final Poller poller = polled.nextPoller();
    final Fabric.Offer made =
        polled
            .fabric()
            .offer(
                poller.doorbell(),
                theirs.getHint().toByteArray(),
                ArenaDescriptor.length(geometry.requestRingLength(), geometry.responseRingLength()),
                token,
                queuePair -> connected(queuePair, geometry, poller));
    final MemoryRegion memory = made.memory();
    memory.putLong(
        ArenaDescriptor.CLIENT_CONTROL_OFFSET + ControlDescriptor.CONSUMED_OFFSET,
        geometry.responsePosition());
    memory.putLong(
        ArenaDescriptor.SERVER_CONTROL_OFFSET + ControlDescriptor.CONSUMED_OFFSET,
        geometry.requestPosition());
    memory.fullFence();
    synchronized (this) {
      if (!closed) {
        offer = made;
      }
      if (offer == null) {
        made.close();
        listener.onNotOpened();
        return;
      }
    }
    final Answer.Builder answer =
        Answer.newBuilder()
            .setVersion(Wire.VERSION)
            .setFabric(polled.fabric().name())
            .setToken(ByteString.copyFrom(token))
            .setFabricDescriptor(ByteString.copyFrom(made.descriptor()))
            .setEpoch(geometry.epoch())
            .setRequestPosition(geometry.requestPosition())
            .setResponsePosition(geometry.responsePosition())
            .setMaxStreams(geometry.maxStreams())
            .addAllMethods(methods)
            .setMaxRequestBytes(context.maxInboundLength())
            .setMaxMetadataBytes(context.maxMetadataLength());
    answer
        .getGeometryBuilder()
        .setRequestRingBytes(geometry.requestRingLength())
        .setResponseRingBytes(geometry.responseRingLength())
        .setMaxFrameBytes(geometry.maxFrameLength());
    control.send(OpenResponse.newBuilder().setAnswer(answer).build());
  }

  /** The client's wishes where they can be granted. Positions start anywhere but near their end. */
  private Geometry geometry(dev.ringfetch.v1.Geometry wish) {
    return new Geometry(
        ringLength(wish.getRequestRingBytes(), context.requestRingLength()),
        ringLength(wish.getResponseRingBytes(), context.responseRingLength()),
        wish.getMaxFrameBytes() >= FrameDescriptor.SLOT_LENGTH
            ? Math.min(wish.getMaxFrameBytes(), context.maxFrameLength())
            : context.maxFrameLength(),
        context.maxStreams(),
        RANDOM.nextLong(),
        RANDOM.nextLong() >>> 2,
        RANDOM.nextLong() >>> 2);
  }

  private static int ringLength(int wished, int own) {
    return wished >= ArenaDescriptor.MIN_RING_LENGTH
            && wished <= Wire.MAX_WISHED_RING_LENGTH
            && Integer.bitCount(wished) == 1
        ? wished
        : own;
  }

  private void connected(QueuePair queuePair, Geometry geometry, Poller poller) {
    final ServerSession opened =
        new ServerSession(queuePair, geometry, poller, context, acceptor, this::ended);
    synchronized (this) {
      offer = null;
      if (closed) { // the offer was withdrawn at the same time, and counts as not opened
        queuePair.close();
        return;
      }
      session = opened;
    }
    listener.onSession(opened);
    poller.add(opened);
  }

  private void ended(ServerSession session, String reason) {
    listener.onEnded(session, reason);
    control.close();
  }

  /** Told what comes of a handshake. */
  public interface Listener {
    /** A client wants a session. False refuses it: there are too many. */
    boolean onOpening();

    /** Nothing came of what {@link #onOpening} allowed. */
    void onNotOpened();

    /** A session is open. */
    void onSession(ServerSession session);

    /** A session has ended. */
    void onEnded(ServerSession session, String reason);
  }
}
