package dev.ringfetch.session;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.CountedQueuePair;
import dev.ringfetch.fabric.Doorbell;
import dev.ringfetch.fabric.sim.SimContext;
import dev.ringfetch.fabric.sim.SimFabric;
import dev.ringfetch.fabric.sim.SimNetwork;
import dev.ringfetch.fabric.sim.Timeline;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.carrier.Geometry;
import dev.ringfetch.session.poller.Poller;
import dev.ringfetch.session.remote.ReplyPolicy;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.NanoClock;

/**
 * Both sides of a session behind network cards, in one thread: a test takes the steps of either
 * side and of the cards, and counts work requests. Everything stored is visible at once.
 */
final class RemoteSteps {
  private static final int UNIT =
      FrameDescriptor.PREFIX | FrameDescriptor.MESSAGE | FrameDescriptor.SUFFIX;
  static final long SPIN_NS = 1_000_000;
  private static final int MAX_DATAGRAM = 256; // bytes

  private final Timeline timeline = new Timeline(1);
  final SimNetwork network =
      new SimNetwork(
          timeline,
          new SimContext()
              .loadStore(false)
              .maxDelayNs(10)
              .maxDatagram(MAX_DATAGRAM)
              .preemption(() -> {}));
  final SimFabric serverProcess = network.open();
  final SimFabric clientProcess = network.open();
  final CountedQueuePair clientPair;
  final CountedQueuePair serverPair;
  final ClientSession client;
  final ServerSession server;
  final Geometry geometry;
  final List<ServerStream> requests = new ArrayList<>();
  final List<String> clientEnds = new ArrayList<>(); // none, unless it may end
  int answered;
  int lastCode;
  int unanswered; // told of another end, of a session that may end
  private boolean mayEnd;
  private long nowNs;

  RemoteSteps(ReplyPolicy mode, int ringLength) throws IOException {
    this(mode, ringLength, mode == ReplyPolicy.DATAGRAM);
  }

  /** As the other one, with datagrams or without. */
  RemoteSteps(ReplyPolicy mode, int ringLength, boolean datagrams) throws IOException {
    this(new SessionContext().replyPolicy(mode), ringLength, datagrams);
  }

  /**
   * As the other one, with options for both sides.
   *
   * @param context with everything but the clock and the spin time.
   */
  RemoteSteps(SessionContext context, int ringLength, boolean datagrams) throws IOException {
    final Doorbell clientDoorbell = clientProcess.openDoorbell();
    final Doorbell serverDoorbell = serverProcess.openDoorbell();
    geometry = new Geometry(ringLength, ringLength, ringLength, 64, 7, 1000, 2000);
    final RemotePair pair =
        RemotePair.connect(
            timeline,
            serverProcess,
            serverDoorbell,
            clientProcess,
            clientDoorbell,
            geometry,
            datagrams);
    clientPair = pair.client();
    serverPair = pair.server();
    context.clock((NanoClock) () -> nowNs).spinNs(SPIN_NS);
    client =
        pair.openClient(
            new Poller(clientDoorbell, context),
            context,
            (session, reason) -> {
              assertTrue(mayEnd, reason);
              clientEnds.add(reason);
            });
    server =
        pair.openServer(
            new Poller(serverDoorbell, context),
            context,
            (session, stream) -> requests.add(stream),
            (session, reason) -> assertTrue(mayEnd, reason));
    client.poller().doWork();
    server.poller().doWork();
    cards();
  }

  /** From now on sessions may end, and calls with them. */
  void mayEnd() {
    mayEnd = true;
  }

  /** The cards do all that was posted. */
  void cards() {
    while (card()) {}
  }

  /** A card does one step. False when there is none. */
  boolean card() {
    return timeline.runNext();
  }

  /** The client's poller does a round. */
  void clientRound() throws IOException {
    client.poller().doWork();
  }

  /** The server's poller does a round. */
  void serverRound() throws IOException {
    server.poller().doWork();
  }

  /** Lets so much time pass that every thread that may sleep does. */
  void spinTimeIsOver() {
    nowNs += SPIN_NS;
  }

  /** The server's poller goes to sleep, and no time passes for the client's. */
  void serverSleeps() throws IOException {
    nowNs += SPIN_NS;
    serverRound();
    nowNs -= SPIN_NS;
  }

  /** No datagram has come for so long that the client reads. */
  void hintIsOverdue() {
    nowNs += SessionContext.HINT_WAIT_NS_DEFAULT;
  }

  /** The time of both sides. */
  long nowNs() {
    return nowNs;
  }

  /** Some time passes. */
  void pass(long ns) {
    nowNs += ns;
  }

  /** Sends a request of one slot. */
  ClientStream send() {
    return send(Stream.NO_DEADLINE);
  }

  /** As the other one, with a deadline. */
  ClientStream send(long deadlineNs) {
    return send(20, deadlineNs);
  }

  /** As the other one, of so many bytes. */
  ClientStream send(int length, long deadlineNs) {
    final ClientStream stream = client.open();
    stream.outbound().addBytes(new byte[length], 0, length);
    stream.prepare(
        (told, outcome) -> {
          assertTrue(outcome == Outcome.ANSWERED || mayEnd, "told " + outcome);
          if (outcome == Outcome.ANSWERED) {
            answered++;
            lastCode = told.inboundCode();
            client.recycle(told);
          } else {
            unanswered++;
          }
        },
        UNIT,
        5,
        deadlineNs,
        1024);
    client.send(stream);
    return stream;
  }

  /** Has a request answered with so many bytes, and what the answer takes posted. */
  void exchange(int length) throws IOException {
    send();
    while (requests.isEmpty()) {
      assertTrue(card(), "the request does not come");
      serverRound();
    }
    respond(length);
  }

  /** The cards do everything, and the client has looked. */
  void look() throws IOException {
    cards();
    clientRound();
    cards();
    clientRound();
  }

  /** Rounds of the client, and whatever the cards have to do, until it is asleep. */
  void clientSleeps() throws IOException {
    spinTimeIsOver();
    for (int rounds = 0; !client.inbox.isArmed() || client.inbox.isSettling(); rounds++) {
      assertTrue(rounds < 20, "it does not go to sleep");
      clientRound();
      cards();
    }
  }

  /** Rounds of both sides, and whatever the cards have to do, until so many calls are answered. */
  void answers(int expected) throws IOException {
    for (int rounds = 0; answered < expected; rounds++) {
      assertTrue(rounds < 20, () -> "missing: " + (expected - answered));
      cards();
      serverRound();
      clientRound();
    }
  }

  /** Answers the request that came first, in a slot. */
  void respond() {
    respond(20);
  }

  /** Answers the request that came first, with so many bytes. */
  void respond(int length) {
    final ServerStream stream = requests.remove(0);
    stream.outbound().addBytes(new byte[length], 0, length);
    server.respond(stream, UNIT, 0, true);
  }
}
