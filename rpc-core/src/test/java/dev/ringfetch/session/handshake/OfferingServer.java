package dev.ringfetch.session.handshake;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.protocol.Answer;
import dev.ringfetch.protocol.FabricOffer;
import dev.ringfetch.protocol.Hello;
import dev.ringfetch.protocol.OpenRequest;
import dev.ringfetch.protocol.OpenResponse;
import dev.ringfetch.protocol.Refusal;
import dev.ringfetch.protocol.RingSizes;
import dev.ringfetch.session.ManualFabric;
import dev.ringfetch.session.ServerSession;
import dev.ringfetch.session.SessionContext;
import dev.ringfetch.session.poller.Poller;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;

/**
 * A server of {@link ManualFabric}s; the test plays its clients. After each test it has to have
 * given everything back.
 */
@Timeout(60)
abstract class OfferingServer {
  static final int LARGEST_RING = Wire.MAX_WISHED_RING_LENGTH;

  final List<ServerHandshake> handshakes = new ArrayList<>();
  final List<Peer> peers = new ArrayList<>();
  final SessionContext context = new SessionContext(); // a test may change it before a hello
  RandomGenerator random = new Random(1);
  private final List<Throwable> uncaught = new CopyOnWriteArrayList<>(); // of the pollers' tasks
  final ManualFabric fabric = new ManualFabric("pages");
  final PolledFabric polled = open(fabric);
  List<PolledFabric> served = List.of(polled);

  /** The poller that serves the fabric. */
  final Poller poller() {
    try {
      return polled.nextPoller();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  final PolledFabric open(ManualFabric fabric) {
    try {
      final PolledFabric opened =
          PolledFabric.open(fabric, new FabricContext(), new SessionContext(), 1, "handshakes");
      opened
          .nextPoller()
          .execute(
              () ->
                  Thread.currentThread()
                      .setUncaughtExceptionHandler((thread, t) -> uncaught.add(t)));
      return opened;
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @AfterEach
  void nothingIsLeft() {
    handshakes.forEach(ServerHandshake::onClosed);
    for (final Peer peer : peers) {
      assertTrue(peer.closed, "the control stream is open");
      assertEquals(0, peer.opening, "counted");
    }
    assertEquals(0, fabric.offered(), "memory on offer");
    served.forEach(PolledFabric::close);
    assertEquals(List.of(), uncaught);
    largestIsOffered(); // by another server: nothing is counted that is not there
  }

  private static void largestIsOffered() {
    final OfferingServer other = new OfferingServer() {};
    for (int i = 0; i < 7; i++) {
      assertNotNull(other.hello(LARGEST_RING).answer);
    }
    other.handshakes.forEach(ServerHandshake::onClosed);
    other.polled.close();
  }

  /** One client's stream, and what the server counts for it. */
  static final class Peer
      implements ControlStream<OpenResponse>, ServerHandshake.Listener, HandshakeContext.Timer {
    Answer answer;
    String refusal;
    String withheld; // name of a fabric
    int steps;
    boolean closed;
    String exhausted;
    String expired;
    int abandoned;
    boolean full;
    int opening;
    long delayNs;
    Runnable timeout;
    ServerSession session;
    Runnable inAnswer = () -> {};
    Runnable inSession = () -> {};
    final CountDownLatch ended = new CountDownLatch(1);

    @Override
    public void send(OpenResponse step) {
      steps++;
      if (step.has(OpenResponse.ANSWER)) {
        answer = step.get(OpenResponse.ANSWER);
        inAnswer.run();
      } else {
        refusal = step.get(OpenResponse.REFUSAL).get(Refusal.REASON);
      }
    }

    @Override
    public synchronized void close() {
      closed = true;
    }

    @Override
    public void exhausted(String reason) {
      closed = true;
      exhausted = reason;
    }

    @Override
    public void expired(String reason) {
      closed = true;
      expired = reason;
    }

    @Override
    public void onAbandoned() {
      abandoned++;
    }

    @Override
    public String obstacle(String name) {
      return name.equals(withheld) ? "not for you" : null;
    }

    @Override
    public boolean onOpening() {
      if (full) {
        return false;
      }
      opening++;
      return true;
    }

    @Override
    public synchronized void onNotOpened() {
      opening--;
    }

    @Override
    public void onSession(ServerSession session) {
      this.session = session;
      inSession.run();
    }

    @Override
    public synchronized void onEnded(ServerSession session, String reason) {
      opening--;
      ended.countDown();
    }

    @Override
    public Runnable schedule(Runnable task, long delayNs) {
      this.delayNs = delayNs;
      timeout = task;
      return () -> timeout = null;
    }
  }

  /** A client that wishes rings of this length. */
  final Peer hello(int ringLength) {
    return begin(helloOf(ringLength));
  }

  final Peer begin(OpenRequest step) {
    return begin(new Peer(), step);
  }

  final Peer begin(Peer peer, OpenRequest step) {
    final ServerHandshake handshake =
        new ServerHandshake(
            new HandshakeContext(
                served,
                List.of("pages.Service/First", "pages.Service/Second"),
                context,
                peer,
                random),
            fabric -> (session, stream) -> {},
            peer,
            peer);
    handshakes.add(handshake);
    peers.add(peer);
    if (step == null) {
      handshake.onOpened();
    } else {
      handshake.onRequest(step);
    }
    return peer;
  }

  /** A client that has opened its stream, and says nothing. */
  final Peer silent() {
    return begin(new Peer(), null);
  }

  static OpenRequest helloOf(int ringLength) {
    return step(hello().set(Hello.GEOMETRY, rings(ringLength, ringLength)));
  }

  static OpenRequest step(Hello hello) {
    return new OpenRequest().set(OpenRequest.HELLO, hello);
  }

  /** A hello that leaves all sizes to the server. */
  static Hello hello() {
    return new Hello()
        .set(Hello.MIN_VERSION, Wire.VERSION)
        .set(Hello.MAX_VERSION, Wire.VERSION)
        .set(Hello.FABRICS, List.of(fabric("pages")));
  }

  static FabricOffer fabric(String name) {
    return new FabricOffer()
        .set(FabricOffer.NAME, name)
        .set(FabricOffer.HINT, ("to " + name).getBytes(UTF_8));
  }

  static RingSizes rings(int requestLength, int responseLength) {
    return new RingSizes()
        .set(RingSizes.REQUEST_RING_BYTES, requestLength)
        .set(RingSizes.RESPONSE_RING_BYTES, responseLength);
  }

  /** What was asked of the poller so far is done. */
  final void awaitPoller() throws InterruptedException {
    final CountDownLatch done = new CountDownLatch(1);
    poller().execute(done::countDown);
    assertTrue(done.await(30, TimeUnit.SECONDS));
  }
}
