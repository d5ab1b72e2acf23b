package dev.ringfetch.session.handshake;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.FabricCapabilities.WriteOrder;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.session.ClientSession;
import dev.ringfetch.session.SessionContext;
import dev.ringfetch.session.carrier.Geometry;
import dev.ringfetch.session.poller.Poller;
import dev.ringfetch.session.remote.ReplyMode;
import dev.ringfetch.v1.Answer;
import dev.ringfetch.v1.Decline;
import dev.ringfetch.v1.FabricOffer;
import dev.ringfetch.v1.Hello;
import dev.ringfetch.v1.OpenRequest;
import dev.ringfetch.v1.OpenResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.concurrent.TimeUnit;

/**
 * The client's side of opening a session: sends what it can, takes the answer, connects; where it
 * cannot connect over one fabric, it asks again for the others. Driven by whoever owns the control
 * stream, one call at a time.
 */
public final class ClientHandshake {
  private static final long CONNECT_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(5);

  private final List<PolledFabric> fabrics;
  private final SessionContext context;
  private final int maxRingLength;
  private final ControlStream<OpenRequest> control;
  private final Listener listener;
  private final Map<String, String> obstacles = new HashMap<>(); // by the name of a fabric

  /**
   * Creates the handshake.
   *
   * @param fabrics that this process can use, the best first.
   * @param maxRingLength in bytes, that neither ring is to exceed, whatever the context says.
   */
  public ClientHandshake(
      List<PolledFabric> fabrics,
      SessionContext context,
      int maxRingLength,
      ControlStream<OpenRequest> control,
      Listener listener) {
    this.fabrics = List.copyOf(fabrics);
    this.context = context;
    this.maxRingLength = maxRingLength;
    this.control = control;
    this.listener = listener;
  }

  /** Sends the first step, or refuses where this client may use none of its fabrics. */
  public void start() {
    for (final PolledFabric polled : fabrics) {
      final String name = polled.fabric().name();
      final String obstacle = listener.obstacle(name);
      if (obstacle != null) {
        obstacles.put(name, obstacle);
      }
    }
    hello();
  }

  private void hello() {
    final Hello.Builder hello =
        Hello.newBuilder().setMinVersion(Wire.VERSION).setMaxVersion(Wire.VERSION);
    addFabrics(hello, false);
    addFabrics(hello, true);
    if (hello.getFabricsCount() == 0) {
      control.close();
      listener.onRefused(obstacles().toString());
      return;
    }
    hello
        .getGeometryBuilder()
        .setRequestRingBytes(Math.min(context.requestRingLength(), maxRingLength))
        .setResponseRingBytes(Math.min(context.responseRingLength(), maxRingLength))
        .setMaxFrameBytes(context.maxFrameLength());
    if (!context.acrossProxies()) {
      hello.setClientAddress(ByteString.copyFrom(listener.ownAddress()));
    }
    control.send(OpenRequest.newBuilder().setHello(hello).build());
  }

  private void addFabrics(Hello.Builder hello, boolean doubtful) {
    for (final PolledFabric polled : fabrics) {
      final String name = polled.fabric().name();
      if (!obstacles.containsKey(name) && listener.isDoubtful(name) == doubtful) {
        hello.addFabrics(
            FabricOffer.newBuilder()
                .setName(name)
                .setHint(ByteString.copyFrom(polled.fabric().hint())));
      }
    }
  }

  /** Why fabrics cannot be used, the best first. */
  private StringJoiner obstacles() {
    final StringJoiner reasons = new StringJoiner("; ");
    for (final PolledFabric polled : fabrics) {
      final String name = polled.fabric().name();
      if (obstacles.containsKey(name)) {
        reasons.add(name + ": " + obstacles.get(name));
      }
    }
    return reasons;
  }

  /** Takes a step of the server. Blocks while it connects. */
  public void onResponse(OpenResponse response) {
    switch (response.getStepCase()) {
      case ANSWER -> connect(response.getAnswer());
      case REFUSAL -> {
        control.close();
        listener.onRefused(obstacles().add(response.getRefusal().getReason()).toString());
      }
      default -> refuse("the server took a step that this version does not know");
    }
  }

  private void connect(Answer answer) {
    final PolledFabric polled = find(answer.getFabric());
    if (polled == null || answer.getVersion() != Wire.VERSION) {
      refuse("answer: fabric=" + answer.getFabric() + " version=" + answer.getVersion());
      return;
    }
    final ClientSession session;
    try {
      final Geometry geometry = geometry(answer);
      final Poller poller = polled.nextPoller();
      final QueuePair queuePair =
          polled
              .fabric()
              .connect(
                  poller.doorbell(),
                  answer.getFabricDescriptor().toByteArray(),
                  answer.getToken().toByteArray(),
                  CONNECT_TIMEOUT_NS,
                  context.replyMode() == ReplyMode.DATAGRAM);
      checkMemory(queuePair, geometry);
      if (!queuePair.capabilities().loadStore()) {
        geometry.prepare(queuePair.memory()); // of its own, in which the server's words are not
      }
      session = open(queuePair, geometry, poller);
      session.serve();
    } catch (IOException e) {
      tryOthers(answer.getFabric(), e.getMessage() == null ? e.toString() : e.getMessage());
      return;
    } catch (IllegalArgumentException e) {
      refuse(e.getMessage());
      return;
    }
    listener.onSession(session, answer.getFabric(), answer.getMethodsList());
  }

  private ClientSession open(QueuePair queuePair, Geometry geometry, Poller poller)
      throws IOException {
    try {
      return new ClientSession(queuePair, geometry, poller, context, listener);
    } catch (UncheckedIOException e) {
      queuePair.close();
      throw e.getCause();
    }
  }

  private PolledFabric find(String name) {
    for (final PolledFabric polled : fabrics) {
      if (polled.fabric().name().equals(name)
          && !obstacles.containsKey(name)
          && listener.obstacle(name) == null) {
        return polled;
      }
    }
    return null;
  }

  private static Geometry geometry(Answer answer) {
    final dev.ringfetch.v1.Geometry sizes = answer.getGeometry();
    ArenaDescriptor.checkRingLength("request_ring_bytes", sizes.getRequestRingBytes());
    ArenaDescriptor.checkRingLength("response_ring_bytes", sizes.getResponseRingBytes());
    final int maxStreams = answer.getMaxStreams();
    if (maxStreams < 1 || maxStreams > SessionContext.MAX_STREAMS_LIMIT) {
      throw new IllegalArgumentException("max_streams=" + maxStreams);
    }
    if (sizes.getMaxFrameBytes() < FrameDescriptor.SLOT_LENGTH) {
      throw new IllegalArgumentException("max_frame_bytes=" + sizes.getMaxFrameBytes());
    }
    if (answer.getToken().size() != Wire.TOKEN_LENGTH) {
      throw new IllegalArgumentException("token length=" + answer.getToken().size());
    }
    checkPosition("request_position", answer.getRequestPosition());
    checkPosition("response_position", answer.getResponsePosition());
    return new Geometry(
        sizes.getRequestRingBytes(),
        sizes.getResponseRingBytes(),
        sizes.getMaxFrameBytes(),
        maxStreams,
        answer.getEpoch(),
        answer.getRequestPosition(),
        answer.getResponsePosition());
  }

  private static void checkPosition(String name, long position) {
    if (position < 0 || position >= Wire.POSITIONS_LIMIT) {
      throw new IllegalArgumentException(name + "=" + position);
    }
  }

  private static void checkMemory(QueuePair queuePair, Geometry geometry) throws IOException {
    final int needed =
        ArenaDescriptor.length(geometry.requestRingLength(), geometry.responseRingLength());
    if (queuePair.memory().length() < needed
        || (queuePair.capabilities().loadStore()
            && queuePair.capabilities().writeOrder() != WriteOrder.ASCENDING)) {
      queuePair.close();
      throw new IOException(
          "memory length="
              + queuePair.memory().length()
              + " of "
              + needed
              + ", capabilities="
              + queuePair.capabilities());
    }
  }

  /** The server's memory cannot be reached over a fabric: perhaps it can over another. */
  private void tryOthers(String fabric, String reason) {
    obstacles.put(fabric, reason);
    listener.onUnreachable(fabric);
    decline(reason);
    hello();
  }

  /** The server does not keep to the rules. */
  private void refuse(String reason) {
    decline(reason);
    control.close();
    listener.onRefused(reason);
  }

  private void decline(String reason) {
    control.send(
        OpenRequest.newBuilder().setDecline(Decline.newBuilder().setReason(reason)).build());
  }

  /** Told what comes of a handshake: {@link #onSession} or {@link #onRefused}, once. */
  public interface Listener extends ClientSession.Listener {
    /** Why this client may not use a fabric, in one line, or null when it may. */
    default String obstacle(String fabric) {
      return null;
    }

    /** This client's end of the connection, as the message Hello has it; empty when unknown. */
    default byte[] ownAddress() {
      return new byte[0];
    }

    /** True when a fabric has failed of late: the others come before it. */
    default boolean isDoubtful(String fabric) {
      return false;
    }

    /** What the server had offered over this fabric could not be reached. */
    default void onUnreachable(String fabric) {}

    /**
     * A session is open.
     *
     * @param fabric name of the fabric.
     * @param methods full names; the index is the id.
     */
    void onSession(ClientSession session, String fabric, List<String> methods);

    /** There is no session, for this reason. */
    void onRefused(String reason);

    /** The session has ended, after {@link #onSession} or while it is called. */
    @Override
    void onEnded(ClientSession session, String reason);
  }
}
