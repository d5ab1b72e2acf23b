package dev.ringfetch.session.handshake;

import dev.ringfetch.fabric.FabricCapabilities.WriteOrder;
import dev.ringfetch.fabric.Obstacle;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.protocol.Answer;
import dev.ringfetch.protocol.Decline;
import dev.ringfetch.protocol.FabricOffer;
import dev.ringfetch.protocol.Hello;
import dev.ringfetch.protocol.OpenRequest;
import dev.ringfetch.protocol.OpenResponse;
import dev.ringfetch.protocol.Refusal;
import dev.ringfetch.protocol.RingSizes;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.session.ClientSession;
import dev.ringfetch.session.SessionConnection;
import dev.ringfetch.session.SessionContext;
import dev.ringfetch.session.carrier.Geometry;
import dev.ringfetch.session.poller.Poller;
import dev.ringfetch.session.remote.ReplyPolicy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The client's side of opening a session: sends its capabilities, takes the answer, connects; where
 * it cannot connect over one fabric, it asks again for the others. Called by the owner of the
 * control stream, one call at a time.
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
    final List<FabricOffer> offers = new ArrayList<>();
    addFabrics(offers, false);
    addFabrics(offers, true);
    if (offers.isEmpty()) {
      control.close();
      listener.onRefused(obstacles().toString());
      return;
    }
    final RingSizes wish =
        new RingSizes()
            .set(RingSizes.REQUEST_RING_BYTES, Math.min(context.requestRingLength(), maxRingLength))
            .set(
                RingSizes.RESPONSE_RING_BYTES,
                Math.min(context.responseRingLength(), maxRingLength))
            .set(RingSizes.MAX_FRAME_BYTES, context.maxFrameLength());
    final Hello hello =
        new Hello()
            .set(Hello.MIN_VERSION, Wire.VERSION)
            .set(Hello.MAX_VERSION, Wire.VERSION)
            .set(Hello.FABRICS, offers)
            .set(Hello.GEOMETRY, wish)
            .set(Hello.LONG_READS, 1);
    if (!context.acrossProxies()) {
      hello.set(Hello.CLIENT_ADDRESS, listener.ownAddress());
    }
    control.send(new OpenRequest().set(OpenRequest.HELLO, hello));
  }

  private void addFabrics(List<FabricOffer> offers, boolean doubtful) {
    for (final PolledFabric polled : fabrics) {
      final String name = polled.fabric().name();
      if (!obstacles.containsKey(name) && listener.isDoubtful(name) == doubtful) {
        offers.add(
            new FabricOffer()
                .set(FabricOffer.NAME, name)
                .set(FabricOffer.HINT, polled.fabric().hint()));
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
    if (response.has(OpenResponse.ANSWER)) {
      connect(response.get(OpenResponse.ANSWER));
    } else if (response.has(OpenResponse.REFUSAL)) {
      control.close();
      final String reason = response.get(OpenResponse.REFUSAL).get(Refusal.REASON);
      listener.onRefused(obstacles().add(reason).toString());
    } else {
      refuse("the server took a step that this version does not know");
    }
  }

  private void connect(Answer answer) {
    final PolledFabric polled = find(answer.get(Answer.FABRIC));
    if (polled == null || answer.get(Answer.VERSION) != Wire.VERSION) {
      refuse(
          "answer: fabric=" + answer.get(Answer.FABRIC) + " version=" + answer.get(Answer.VERSION));
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
                  answer.get(Answer.FABRIC_DESCRIPTOR),
                  answer.get(Answer.TOKEN),
                  CONNECT_TIMEOUT_NS,
                  context.replyPolicy() == ReplyPolicy.DATAGRAM);
      final boolean longReads = answer.get(Answer.LONG_READS) != 0;
      session = open(new SessionConnection(queuePair, geometry, longReads, poller));
    } catch (IOException | LinkageError e) { // the latter of what the fabric needs of others
      tryOthers(answer.get(Answer.FABRIC), Obstacle.of(e));
      return;
    } catch (IllegalArgumentException e) {
      refuse(e.getMessage());
      return;
    }
    listener.onSession(session, answer.get(Answer.FABRIC), answer.get(Answer.METHODS));
  }

  /** Opens a session, or closes the queue pair. */
  private ClientSession open(SessionConnection connection) throws IOException {
    final QueuePair queuePair = connection.queuePair();
    try {
      checkMemory(queuePair, connection.geometry());
      if (!queuePair.capabilities().loadStore()) {
        connection.geometry().prepare(queuePair.memory()); // of its own, without the server's words
      }
      final ClientSession made = new ClientSession(connection, context, listener);
      made.serve();
      return made;
    } catch (UncheckedIOException e) {
      queuePair.close();
      throw e.getCause();
    } catch (IOException | RuntimeException | Error e) {
      queuePair.close();
      throw e;
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
    final RingSizes sizes = answer.get(Answer.GEOMETRY);
    final int requestRing = sizes.get(RingSizes.REQUEST_RING_BYTES);
    final int responseRing = sizes.get(RingSizes.RESPONSE_RING_BYTES);
    final int maxFrame = sizes.get(RingSizes.MAX_FRAME_BYTES);
    ArenaDescriptor.checkRingLength("request_ring_bytes", requestRing);
    ArenaDescriptor.checkRingLength("response_ring_bytes", responseRing);
    final int maxStreams = answer.get(Answer.MAX_STREAMS);
    if (maxStreams < 1 || maxStreams > SessionContext.MAX_STREAMS_LIMIT) {
      throw new IllegalArgumentException("max_streams=" + maxStreams);
    }
    if (maxFrame < FrameDescriptor.SLOT_LENGTH) {
      throw new IllegalArgumentException("max_frame_bytes=" + maxFrame);
    }
    if (answer.get(Answer.TOKEN).length != Wire.TOKEN_LENGTH) {
      throw new IllegalArgumentException("token length=" + answer.get(Answer.TOKEN).length);
    }
    checkPosition("request_position", answer.get(Answer.REQUEST_POSITION));
    checkPosition("response_position", answer.get(Answer.RESPONSE_POSITION));
    return new Geometry(
        requestRing,
        responseRing,
        maxFrame,
        maxStreams,
        answer.get(Answer.EPOCH),
        answer.get(Answer.REQUEST_POSITION),
        answer.get(Answer.RESPONSE_POSITION));
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
      throw new IOException(
          "memory length="
              + queuePair.memory().length()
              + " of "
              + needed
              + ", capabilities="
              + queuePair.capabilities());
    }
  }

  /** Tries the other fabrics, because the server's memory cannot be reached over this one. */
  private void tryOthers(String fabric, String reason) {
    obstacles.put(fabric, reason);
    listener.onUnreachable(fabric);
    decline(reason);
    hello();
  }

  /** Refuses, because the server has broken a rule. */
  private void refuse(String reason) {
    decline(reason);
    control.close();
    listener.onRefused(reason);
  }

  private void decline(String reason) {
    control.send(
        new OpenRequest().set(OpenRequest.DECLINE, new Decline().set(Decline.REASON, reason)));
  }

  /** Listener for the result of a handshake: {@link #onSession} or {@link #onRefused}, once. */
  public interface Listener extends ClientSession.Listener {
    /** Why this client may not use a fabric, in one line, or null when it may. */
    default @Nullable String obstacle(String fabric) {
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

    /** Called when the memory that the server has offered over this fabric could not be reached. */
    default void onUnreachable(String fabric) {}

    /**
     * A session is open.
     *
     * @param fabric name of the fabric.
     * @param methods full names; the index is the id.
     */
    void onSession(ClientSession session, String fabric, List<String> methods);

    /** Called when there is no session, with the reason. */
    void onRefused(String reason);

    /** The session has ended, after {@link #onSession} or while it is called. */
    @Override
    void onEnded(ClientSession session, String reason);
  }
}
