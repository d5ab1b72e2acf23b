package dev.ringfetch.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.fabric.Doorbell;
import dev.ringfetch.fabric.sim.SimContext;
import dev.ringfetch.fabric.sim.SimFabric;
import dev.ringfetch.fabric.sim.SimNetwork;
import dev.ringfetch.fabric.sim.Timeline;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.session.carrier.Geometry;
import dev.ringfetch.session.poller.Poller;
import dev.ringfetch.session.remote.RemoteSide;
import dev.ringfetch.session.remote.ReplyPolicy;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.NanoClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A server of three clients, of which two may be in use before all take turns, one by one. */
class ServerTurnTest {
  private static final int UNIT =
      FrameDescriptor.PREFIX | FrameDescriptor.MESSAGE | FrameDescriptor.SUFFIX;
  private static final int RING_LENGTH = 64 * 1024;
  private static final int CLIENTS = 3;
  private static final int LENGTH_NS = 10_000;
  private static final int PERIOD_NS = CLIENTS * LENGTH_NS;
  private static final long EPOCH_NS = (long) RemoteSide.EPOCH_TURNS * LENGTH_NS;
  private static final long SPIN_NS = LENGTH_NS / 2;

  private final Timeline timeline = new Timeline(1);
  private final SimNetwork network =
      new SimNetwork(
          timeline, new SimContext().loadStore(false).maxDelayNs(10).preemption(() -> {}));
  private final List<RemotePair> pairs = new ArrayList<>();
  private final List<ClientSession> clients = new ArrayList<>();
  private final List<ServerSession> servers = new ArrayList<>();
  private final List<ServerStream> requests = new ArrayList<>();
  private final List<ServerSession> askers = new ArrayList<>();
  private Poller poller;
  private int answered;
  private long nowNs = 1;

  private void open(ReplyPolicy mode) throws IOException {
    final SessionContext context =
        new SessionContext()
            .clock((NanoClock) () -> nowNs)
            .spinNs(SPIN_NS)
            .replyPolicy(mode)
            .turnThreshold(CLIENTS - 1)
            .turnGroup(1)
            .turnLengthNs(LENGTH_NS);
    final SimFabric owner = network.open();
    poller = new Poller(owner.openDoorbell(), context);
    for (int i = 0; i < CLIENTS; i++) {
      final SimFabric peer = network.open();
      final Doorbell doorbell = peer.openDoorbell();
      final Geometry geometry =
          new Geometry(RING_LENGTH, RING_LENGTH, RING_LENGTH, 64, i, 1000, 2000);
      final RemotePair pair =
          RemotePair.connect(timeline, owner, poller.doorbell(), peer, doorbell, geometry, false);
      pairs.add(pair);
      clients.add(pair.openClient(new Poller(doorbell, context), context));
      servers.add(
          pair.openServer(
              poller,
              context,
              (session, stream) -> {
                askers.add(session);
                requests.add(stream);
              }));
    }
    round();
  }

  /** The cards do all that was posted, and everybody looks. */
  private void round() throws IOException {
    look(poller);
    for (final ClientSession client : clients) {
      look(client.poller());
    }
    while (timeline.runNext()) {}
  }

  /** A poller has slept if it had nothing to do, was woken if it was rung for, and looks. */
  private void look(Poller looking) throws IOException {
    while (timeline.runNext()) {}
    looking.serveNested();
    looking.doWork();
  }

  /** A call that is answered at once, whenever it may be sent; no time passes otherwise. */
  private void call(int client) throws IOException {
    final int before = answered;
    final ClientStream stream = clients.get(client).open();
    stream.outbound().addBytes(new byte[20], 0, 20);
    stream.prepare(
        (told, outcome) -> {
          answered++;
          clients.get(client).recycle(told);
        },
        UNIT,
        5,
        Stream.NO_DEADLINE,
        1024);
    clients.get(client).send(stream);
    for (int rounds = 0; answered == before; rounds++) {
      assertTrue(rounds < 100, "no answer");
      round();
      if (!requests.isEmpty()) {
        final ServerStream request = requests.remove(0);
        request.outbound().addBytes(new byte[20], 0, 20);
        askers.remove(0).respond(request, UNIT, 0, true);
      } else if (answered == before) {
        nowNs += LENGTH_NS / 4;
      }
    }
  }

  private void callAll() throws IOException {
    for (int i = 0; i < CLIENTS; i++) {
      call(i);
    }
  }

  /** All were in use for an epoch, and again. */
  private void begin(ReplyPolicy mode) throws IOException {
    open(mode);
    callAll();
    pass(EPOCH_NS);
    callAll();
    round();
  }

  private void pass(long ns) throws IOException {
    nowNs += ns;
    round();
  }

  private long told(int client) {
    return servers.get(client).count(Counter.SESSION_TURNS_TOLD);
  }

  private boolean isHeld(int client) {
    return clients.get(client).turn.holds(false);
  }

  @ParameterizedTest
  @EnumSource(
      value = ReplyPolicy.class,
      names = {"FETCH", "PUSH"})
  void oneAfterTheOtherHasItsTurn(ReplyPolicy mode) throws IOException {
    begin(mode);
    final int[] turns = new int[CLIENTS];
    for (int step = 0; step < 4 * CLIENTS; step++) {
      int held = 0;
      for (int i = 0; i < CLIENTS; i++) {
        held += isHeld(i) ? 1 : 0;
        turns[i] += isHeld(i) ? 0 : 1;
      }
      assertEquals(CLIENTS - 1, held, "step " + step);
      nowNs += LENGTH_NS;
    }
    for (int i = 0; i < CLIENTS; i++) {
      assertEquals(4, turns[i], "turns of client " + i);
    }
  }

  @Test
  void upToTheThresholdNobodyIsTold() throws IOException {
    open(ReplyPolicy.FETCH);
    for (int epoch = 0; epoch < 4; epoch++) {
      call(0);
      call(1);
      pass(EPOCH_NS);
    }
    for (int i = 0; i < CLIENTS; i++) {
      assertEquals(0, told(i));
      assertFalse(isHeld(i));
    }
  }

  @Test
  void whoIsPushedToIsToldOnceInSixteenPeriods() throws IOException {
    begin(ReplyPolicy.PUSH);
    for (int i = 0; i < CLIENTS; i++) {
      assertEquals(1, told(i));
    }
    for (int periods = 0; periods < 15; periods++) {
      pass(PERIOD_NS);
      callAll();
    }
    final long before = told(0);
    for (int periods = 0; periods < 16; periods++) {
      pass(PERIOD_NS);
      call(0);
    }
    assertTrue(told(0) - before >= 1 && told(0) - before <= 2, "told " + (told(0) - before));
  }

  /** The write comes before the turn: the client is held when it comes. */
  @Test
  void whoFetchesIsToldBeforeEachTurn() throws IOException {
    begin(ReplyPolicy.FETCH);
    for (int turn = 0; turn < 4; turn++) {
      call(1);
      final long before = told(1);
      for (int wait = 0; told(1) == before; wait++) {
        assertTrue(wait < 4 * PERIOD_NS / 100, "not told");
        pass(100);
      }
      assertTrue(isHeld(1), "told in its turn");
      final long toldNs = nowNs;
      while (isHeld(1)) {
        nowNs += 100;
      }
      assertTrue(nowNs - toldNs < LENGTH_NS, "told too early: " + (nowNs - toldNs));
    }
  }

  /** Else each turn would begin with a doorbell. */
  @Test
  void serverPollsWhoHasTurnsFromTurnToTurn() throws IOException {
    begin(ReplyPolicy.PUSH);
    callAll();
    pass(2 * SPIN_NS);
    assertEquals(CLIENTS, poller.tally().get(Counter.POLLER_SESSIONS_POLLED));
    for (int i = 0; i < 4; i++) {
      pass(PERIOD_NS);
    }
    assertEquals(0, poller.tally().get(Counter.POLLER_SESSIONS_POLLED));
  }

  @Test
  void turnsEndWithTheNextCallOfWhoIsLeft() throws IOException {
    begin(ReplyPolicy.PUSH);
    for (int i = 0; i < 4; i++) {
      pass(EPOCH_NS);
      call(0);
    }
    for (int step = 0; step < CLIENTS; step++) {
      assertFalse(isHeld(0));
      nowNs += LENGTH_NS;
    }
    final long told = told(0);
    pass(EPOCH_NS);
    call(0);
    assertEquals(told, told(0));
  }

  /** Without room in the send queue, the next round tells. */
  @Test
  void whatFoundNoRoomIsToldLater() throws IOException {
    open(ReplyPolicy.FETCH);
    callAll();
    pass(EPOCH_NS);
    pairs.get(2).server().refuse(1);
    callAll();
    round();
    assertEquals(1, told(2));
    assertFalse(servers.get(2).delivery.isBehind());
    int held = 0;
    for (int step = 0; step < CLIENTS; step++) {
      held += isHeld(2) ? 1 : 0;
      nowNs += LENGTH_NS;
    }
    assertEquals(CLIENTS - 1, held);
  }
}
