package dev.ringfetch.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.HeapFabric;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.ring.ControlFlyweight;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.ring.RingWriter;
import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.carrier.Geometry;
import dev.ringfetch.session.poller.Poller;
import dev.ringfetch.session.unit.UnitBuffer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.agrona.concurrent.NanoClock;

/** Both sides of a session in one thread, which a test drives step by step under its own clock. */
public final class SessionSteps {
  static final int UNIT = FrameDescriptor.PREFIX | FrameDescriptor.MESSAGE | FrameDescriptor.SUFFIX;
  static final long START_NS = 1_000_000_000L;

  private static final int SETTLE_LIMIT = 200_000;

  public final HeapFabric fabric;
  final Geometry geometry;
  final Poller clientPoller;
  final Poller serverPoller;
  public final ClientSession client;
  public final ServerSession server;
  final List<ServerCall> requests = new ArrayList<>();
  int crowded; // how often the client was told that it is
  final List<String> clientEnds = new ArrayList<>();
  final List<String> serverEnds = new ArrayList<>();

  /** Runs whenever somebody looks at the clock: what the others do while a thread polls. */
  Runnable onClock = () -> {};

  /** What the server does first with a request. */
  Runnable onRequest = () -> {};

  /** What it does with the stream of one: keeps it, for the test to answer. */
  Consumer<ServerStream> onStream = stream -> requests.add(new ServerCall(stream));

  private final Runnable drain;

  private long nowNs = START_NS;

  /** Sizes of a session. */
  public record Sizes(int ringLength, int maxFrameLength, int maxStreams, int maxInboundLength) {
    public static final Sizes ROOMY = new Sizes(64 * 1024, 4 * 1024, 64, 1024 * 1024);
    public static final Sizes TINY = new Sizes(128, 128, 8, 1024 * 1024);
  }

  public SessionSteps(Sizes sizes) {
    this(sizes, new DirectRegion(ArenaDescriptor.length(sizes.ringLength, sizes.ringLength)));
  }

  public SessionSteps(Sizes sizes, DirectRegion region) {
    this(sizes, new HeapFabric(region), () -> {});
  }

  /**
   * Creates both sides.
   *
   * @param drain makes visible what either side has stored; called when both come to rest.
   */
  public SessionSteps(Sizes sizes, HeapFabric fabric, Runnable drain) {
    this(sizes, fabric, drain, context -> {});
  }

  /** Creates both sides, whose threads poll for this long before they give up. */
  public SessionSteps(Sizes sizes, long spinNs) {
    this(sizes, context -> context.spinNs(spinNs));
  }

  /** Creates both sides with further options. */
  public SessionSteps(Sizes sizes, Consumer<SessionContext> options) {
    this(
        sizes,
        new HeapFabric(ArenaDescriptor.length(sizes.ringLength, sizes.ringLength)),
        () -> {},
        options);
  }

  /** Creates both sides, whose rings start at these positions. */
  SessionSteps(Sizes sizes, long requestPosition, long responsePosition) {
    this(
        sizes,
        new HeapFabric(ArenaDescriptor.length(sizes.ringLength, sizes.ringLength)),
        () -> {},
        context -> {},
        requestPosition,
        responsePosition);
  }

  private SessionSteps(
      Sizes sizes, HeapFabric fabric, Runnable drain, Consumer<SessionContext> options) {
    this(sizes, fabric, drain, options, Long.MAX_VALUE - 10, -20);
  }

  private SessionSteps(
      Sizes sizes,
      HeapFabric fabric,
      Runnable drain,
      Consumer<SessionContext> options,
      long requestPosition,
      long responsePosition) {
    this.fabric = fabric;
    this.drain = drain;
    geometry =
        new Geometry(
            sizes.ringLength,
            sizes.ringLength,
            sizes.maxFrameLength,
            sizes.maxStreams,
            0x5EED_0000_0000_5EEDL,
            requestPosition,
            responsePosition);
    final SessionContext context =
        new SessionContext()
            .clock((NanoClock) this::clock)
            .spinNs(0)
            .maxInboundLength(sizes.maxInboundLength);
    options.accept(context);
    new ControlFlyweight(fabric.server(), ArenaDescriptor.SERVER_CONTROL_OFFSET)
        .consumed(geometry.requestPosition());
    new ControlFlyweight(fabric.client(), ArenaDescriptor.CLIENT_CONTROL_OFFSET)
        .consumed(geometry.responsePosition());
    clientPoller = new Poller(fabric.clientDoorbell(), context);
    serverPoller = new Poller(fabric.serverDoorbell(), context);
    client =
        new ClientSession(
            new SessionConnection(fabric.client(), geometry, clientPoller),
            context,
            new ClientSession.Listener() {
              @Override
              public void onCrowded(ClientSession session) {
                crowded++;
              }

              @Override
              public void onEnded(ClientSession session, String reason) {
                clientEnds.add(reason);
              }
            });
    server =
        new ServerSession(
            new SessionConnection(fabric.server(), geometry, serverPoller),
            context,
            (session, stream) -> {
              onRequest.run();
              onStream.accept(stream);
            },
            (session, reason) -> serverEnds.add(reason));
    clientPoller.add(client.entry);
    serverPoller.add(server.entry);
    settle();
  }

  private long clock() {
    onClock.run();
    return nowNs;
  }

  long nowNs() {
    return nowNs;
  }

  public void advance(long nanos) {
    nowNs += nanos;
  }

  /** The client's poller sleeps if it has nothing to do, is rung awake, and does one round. */
  void stepClient() {
    step(clientPoller);
  }

  /** One round of the server's poller. */
  void stepServer() {
    step(serverPoller);
  }

  private static void step(Poller poller) {
    try {
      poller.serveNested();
      poller.doWork();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Both pollers run until they sleep and nothing rings. */
  public void settle() {
    int quiet = 0;
    for (int steps = 0; quiet < 4; steps++) {
      assertTrue(steps < SETTLE_LIMIT, "both sides never come to rest");
      final long before = progress();
      drain.run();
      stepClient();
      stepServer();
      quiet = before == progress() && isRead() ? quiet + 1 : 0;
    }
  }

  /** Answers whatever comes until nothing comes any more. */
  void answerAll() {
    settle();
    while (!requests.isEmpty()) {
      requests.remove(0).echo();
      settle();
    }
  }

  private boolean isRead() {
    return client.reads.isEmpty() && server.reads.isEmpty();
  }

  private long progress() {
    return client.writePosition()
        + client.pollPosition()
        + server.writePosition()
        + server.pollPosition()
        + fabric.client().ringsSent()
        + fabric.server().ringsSent()
        + clientEnds.size()
        + serverEnds.size();
  }

  /** Opens a call with this request, without sending it. */
  Call prepare(byte[] request, long timeoutNs) {
    final ClientStream stream = client.open();
    if (stream == null) {
      return null;
    }
    final Call call = new Call(stream);
    final boolean timed = timeoutNs != Stream.NO_DEADLINE;
    if (timed) {
      stream.outbound().addLong(timeoutNs);
    }
    stream.outbound().addBytes(request, 0, request.length);
    stream.prepare(
        call,
        timed ? UNIT | FrameDescriptor.DEADLINE : UNIT,
        5,
        timed ? nowNs + timeoutNs : Stream.NO_DEADLINE,
        1024 * 1024);
    return call;
  }

  Call send(byte[] request) {
    return send(request, Stream.NO_DEADLINE);
  }

  Call send(byte[] request, long timeoutNs) {
    final Call call = prepare(request, timeoutNs);
    client.send(call.stream);
    return call;
  }

  /** The only request that has come and was not taken. */
  ServerCall request() {
    assertEquals(1, requests.size(), "requests");
    return requests.remove(0);
  }

  /** A peer's end of the request ring, to write there what no client would. */
  RingWriter hostileClient() {
    return new RingWriter(
        fabric.client(),
        ArenaDescriptor.REQUEST_RING_OFFSET,
        geometry.requestRingLength(),
        geometry.epoch(),
        client.writePosition(),
        new ControlFlyweight(fabric.client(), ArenaDescriptor.SERVER_CONTROL_OFFSET));
  }

  /** A peer's end of the response ring. */
  RingWriter hostileServer() {
    return new RingWriter(
        fabric.server(),
        ArenaDescriptor.responseRingOffset(geometry.requestRingLength()),
        geometry.responseRingLength(),
        geometry.epoch(),
        server.writePosition(),
        new ControlFlyweight(fabric.server(), ArenaDescriptor.CLIENT_CONTROL_OFFSET));
  }

  static byte[] bytes(int length, int fill) {
    final byte[] bytes = new byte[length];
    Arrays.fill(bytes, (byte) fill);
    return bytes;
  }

  private static byte[] copy(UnitBuffer unit, int skip) {
    final int start = unit.offset() + skip;
    return Arrays.copyOfRange(unit.array(), start, unit.offset() + unit.length());
  }

  /** A call of the client: told once, lets go of its stream as the contract has it. */
  final class Call implements ClientStream.Listener {
    final ClientStream stream;
    Outcome outcome;
    byte[] response;
    int flags;
    int code;
    boolean discarded;
    boolean cancelled;
    Runnable onClosed = () -> {};

    Call(ClientStream stream) {
      this.stream = stream;
    }

    @Override
    public void onClosed(ClientStream told, Outcome how) {
      assertEquals(stream, told);
      if (cancelled) {
        client.release(told, true);
        return;
      }
      assertNull(outcome, "told twice");
      assertTrue(how != null, "told of nothing");
      outcome = how;
      if (how == Outcome.ANSWERED) {
        response = copy(told.inbound(), 0);
        flags = told.inboundFlags();
        code = told.inboundCode();
        discarded = told.inboundDiscarded();
        client.recycle(told);
      } else {
        client.release(told, false);
      }
      onClosed.run();
    }

    /** Cancels, unless it has ended. */
    void cancel() {
      if (outcome == null && !cancelled) {
        cancelled = true;
        client.cancel(stream);
      }
    }

    boolean isOver() {
      return cancelled || outcome != null;
    }
  }

  /** A call at the server. */
  final class ServerCall {
    final ServerStream stream;
    final int id;
    final byte[] request;
    int cancels;

    ServerCall(ServerStream stream) {
      this.stream = stream;
      this.id = stream.id;
      final boolean timed =
          stream.flow == null && (stream.inboundFlags() & FrameDescriptor.DEADLINE) != 0;
      this.request = copy(stream.inbound(), timed ? Long.BYTES : 0);
      stream.listener(
          () -> {
            cancels++;
            assertEquals(1, cancels, "cancels told");
          });
    }

    void respond(byte[] response) {
      stream.outbound().addBytes(response, 0, response.length);
      server.respond(stream, UNIT, 0, true);
    }

    /** Answers with the request, each byte plus one. */
    void echo() {
      respond(answerTo(request));
    }
  }

  static byte[] answerTo(byte[] request) {
    final byte[] answer = request.clone();
    for (int i = 0; i < answer.length; i++) {
      answer[i]++;
    }
    return answer;
  }
}
