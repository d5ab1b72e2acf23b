package dev.ringfetch.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.Doorbell;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricCapabilities;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricProvider;
import dev.ringfetch.fabric.HeapDoorbell;
import dev.ringfetch.fabric.HeapFabric;
import dev.ringfetch.fabric.HeapQueuePair;
import dev.ringfetch.fabric.HeapRegion;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.v1.Answer;
import dev.ringfetch.v1.FabricOffer;
import dev.ringfetch.v1.Geometry;
import dev.ringfetch.v1.Hello;
import dev.ringfetch.v1.OpenRequest;
import dev.ringfetch.v1.OpenResponse;
import java.io.IOException;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is offered and not taken is given back, and counted once. */
@Timeout(60)
class ServerHandshakeTest {
  private static final int LARGEST_RING = Wire.MAX_WISHED_RING_LENGTH;

  private final List<ServerHandshake> handshakes = new ArrayList<>();
  private final List<Peer> peers = new ArrayList<>();
  private final Pages fabric = new Pages();
  private final PolledFabric polled = open();

  private PolledFabric open() {
    try {
      return PolledFabric.open(fabric, new FabricContext(), new SessionContext(), 1, "handshakes");
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
    polled.close();
    largestIsOffered(); // by another server: nothing is counted that is not there
  }

  private static void largestIsOffered() {
    final ServerHandshakeTest other = new ServerHandshakeTest();
    for (int i = 0; i < 7; i++) {
      assertTrue(other.hello(LARGEST_RING).answer != null);
    }
    other.handshakes.forEach(ServerHandshake::onClosed);
    other.polled.close();
  }

  /** One client's stream, and what the server counts for it. */
  private static final class Peer
      implements ControlStream<OpenResponse>, ServerHandshake.Listener, ServerHandshake.Timer {
    Answer answer;
    int steps;
    boolean closed;
    boolean exhausted;
    int opening;
    long delayNs;
    Runnable timeout;
    ServerSession session;
    Runnable inSession = () -> {};
    final CountDownLatch ended = new CountDownLatch(1);

    @Override
    public void send(OpenResponse step) {
      steps++;
      if (step.hasAnswer()) {
        answer = step.getAnswer();
      }
    }

    @Override
    public synchronized void close() {
      closed = true;
    }

    @Override
    public void exhausted(String reason) {
      closed = true;
      exhausted = true;
    }

    @Override
    public boolean onOpening() {
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

  private Peer hello(int ringLength) {
    return begin(helloOf(ringLength));
  }

  private Peer begin(OpenRequest step) {
    final Peer peer = new Peer();
    final ServerHandshake handshake =
        new ServerHandshake(
            List.of(polled),
            List.of(),
            new SessionContext(),
            (session, stream) -> {},
            peer,
            peer,
            peer,
            new Random(1));
    handshakes.add(handshake);
    peers.add(peer);
    handshake.onRequest(step);
    return peer;
  }

  private static OpenRequest helloOf(int ringLength) {
    return OpenRequest.newBuilder()
        .setHello(
            Hello.newBuilder()
                .setMinVersion(Wire.VERSION)
                .setMaxVersion(Wire.VERSION)
                .addFabrics(FabricOffer.newBuilder().setName("pages").setHint(ByteString.EMPTY))
                .setGeometry(
                    Geometry.newBuilder()
                        .setRequestRingBytes(ringLength)
                        .setResponseRingBytes(ringLength)))
        .build();
  }

  /** What was asked of the poller so far is done. */
  private void awaitPoller() throws InterruptedException {
    final CountDownLatch done = new CountDownLatch(1);
    polled.nextPoller().execute(done::countDown);
    assertTrue(done.await(30, TimeUnit.SECONDS));
  }

  @Test
  void offerThatNobodyTakesIsWithdrawn() throws InterruptedException {
    final Peer peer = hello(4096);
    assertEquals(1, fabric.offered());
    assertEquals(TimeUnit.SECONDS.toNanos(10), peer.delayNs);
    peer.timeout.run();
    awaitPoller();
    assertEquals(0, fabric.offered());
    assertTrue(peer.closed);
    assertEquals(0, peer.opening);
  }

  @Test
  void offerIsWithdrawnWithItsStream() {
    final Peer peer = hello(4096);
    handshakes.get(0).onClosed();
    assertEquals(0, fabric.offered());
    assertEquals(null, peer.timeout, "the timer still holds it");
  }

  @Test
  void secondHelloEndsIt() {
    final Peer peer = hello(4096);
    handshakes.get(0).onRequest(helloOf(4096));
    assertTrue(peer.closed);
    assertEquals(1, peer.steps);
    assertEquals(0, fabric.offered());
  }

  @Test
  void firstStepMustBeAHello() {
    final Peer peer = begin(OpenRequest.getDefaultInstance());
    assertTrue(peer.closed);
    assertEquals(0, peer.steps);
  }

  @Test
  void endOfTheStreamDrainsTheSession() throws InterruptedException {
    final Peer peer = hello(4096);
    fabric.connect(polled.nextPoller());
    awaitPoller();
    final long before = peer.session.writePosition();
    handshakes.get(0).onClosed();
    awaitPoller();
    assertEquals(before + 1, peer.session.writePosition(), "the notice");
    peer.session.end("test");
    assertTrue(peer.ended.await(30, TimeUnit.SECONDS));
  }

  @Test
  void offersAreBounded() {
    final List<Peer> offered = new ArrayList<>();
    Peer peer = hello(LARGEST_RING);
    while (!peer.exhausted) {
      assertTrue(peer.answer != null);
      offered.add(peer);
      peer = hello(LARGEST_RING);
    }
    assertEquals(ServerHandshake.MAX_OFFERED_LENGTH / (2L * LARGEST_RING) - 1, offered.size());
    assertEquals(0, peer.opening);
    handshakes.get(0).onClosed();
    assertFalse(hello(LARGEST_RING).exhausted);
  }

  @Test
  void errorInAnOfferIsCountedOut() {
    fabric.error = new OutOfMemoryError("test");
    assertThrows(OutOfMemoryError.class, () -> hello(4096));
    fabric.error = null;
    peers.get(0).closed = true; // by whoever called
  }

  @Test
  void errorInPreparingIsCountedOut() {
    fabric.memoryError = new InternalError("test");
    assertThrows(InternalError.class, () -> hello(4096));
    assertEquals(0, fabric.offered());
    peers.get(0).closed = true;
  }

  @Test
  void connectedOffersAreNotCounted() throws InterruptedException {
    for (int i = 0; i < 12; i++) {
      final Peer peer = hello(LARGEST_RING);
      assertFalse(peer.exhausted);
      fabric.connect(polled.nextPoller());
      awaitPoller();
      assertEquals(null, peer.timeout);
      peer.session.end("test");
      assertTrue(peer.ended.await(30, TimeUnit.SECONDS));
    }
  }

  @Test
  void connectionToAStreamThatHasJustEnded() throws InterruptedException {
    final Peer peer = hello(4096);
    final Pages.Offered offer = fabric.take();
    handshakes.get(0).onClosed();
    final QueuePair queuePair = offer.connect();
    awaitPoller();
    assertEquals(null, peer.session);
    assertTrue(((HeapQueuePair) queuePair).isClosed());
  }

  /** It comes out of the poller after it was put in: else the poller would keep it for ever. */
  @Test
  void sessionThatIsEndedAsSoonAsItIsKnown() throws Exception {
    final Peer peer = hello(4096);
    peer.inSession = () -> peer.session.abort("test");
    fabric.connect(polled.nextPoller());
    assertTrue(peer.ended.await(30, TimeUnit.SECONDS));
    awaitPoller();
    awaitPoller(); // the first may have been asked for in the same round
    final CompletableFuture<Integer> kept = new CompletableFuture<>();
    polled.nextPoller().execute(() -> kept.complete(sessions().size()));
    assertEquals(0, kept.get(30, TimeUnit.SECONDS));
  }

  private List<?> sessions() {
    try {
      final Field sessions = Poller.class.getDeclaredField("sessions");
      sessions.setAccessible(true);
      return (List<?>) sessions.get(polled.nextPoller());
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(e.toString(), e);
    }
  }

  /** A fabric whose offers are taken by the test. */
  private static final class Pages implements FabricProvider, Fabric {
    private final List<Offered> offers = new ArrayList<>();
    volatile Error error;
    volatile Error memoryError;

    synchronized int offered() {
      return offers.size();
    }

    /** Takes the offer that is there, as a peer with the right token does. */
    synchronized Offered take() {
      return offers.remove(0);
    }

    synchronized boolean remove(Offered offer) {
      return offers.remove(offer);
    }

    void connect(Poller poller) {
      poller.execute(() -> take().connect());
    }

    @Override
    public synchronized Offer offer(
        Doorbell doorbell, byte[] peerHint, int length, byte[] token, OfferListener listener) {
      if (error != null) {
        throw error;
      }
      final Offered offer = new Offered(listener);
      offers.add(offer);
      return offer;
    }

    /** An offer, of little memory whatever was asked for. */
    final class Offered implements Offer {
      private final HeapFabric heap =
          new HeapFabric(new HeapRegion(ArenaDescriptor.length(4096, 4096)));
      private final OfferListener listener;

      Offered(OfferListener listener) {
        this.listener = listener;
      }

      QueuePair connect() {
        listener.onConnected(heap.server());
        return heap.server();
      }

      @Override
      public byte[] descriptor() {
        return new byte[0];
      }

      @Override
      public MemoryRegion memory() {
        if (memoryError != null) {
          throw memoryError;
        }
        return heap.region();
      }

      @Override
      public void close() {
        remove(this);
      }
    }

    @Override
    public String name() {
      return "pages";
    }

    @Override
    public int priority() {
      return 0;
    }

    @Override
    public String unavailability() {
      return null;
    }

    @Override
    public Fabric open(FabricContext context) {
      return this;
    }

    @Override
    public FabricCapabilities capabilities() {
      return new FabricCapabilities(
          FabricCapabilities.WriteOrder.ASCENDING, FabricCapabilities.ReadAtomicity.LINE, true, 0);
    }

    @Override
    public byte[] hint() {
      return new byte[0];
    }

    @Override
    public Doorbell openDoorbell() {
      return new Sleeping();
    }

    @Override
    public QueuePair connect(Doorbell doorbell, byte[] descriptor, byte[] token, long timeoutNs) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void close() {}
  }

  /** Sleeps until it is woken: nobody rings. */
  private static final class Sleeping implements Doorbell {
    private final HeapDoorbell state = new HeapDoorbell();
    private boolean woken;

    @Override
    public synchronized int await(long timeoutNs) throws IOException {
      try {
        while (!woken) {
          wait();
        }
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
      woken = false;
      return state.poll();
    }

    @Override
    public int poll() {
      return state.poll();
    }

    @Override
    public synchronized void wakeup() {
      woken = true;
      notifyAll();
    }

    @Override
    public void close() {
      state.close();
    }
  }
}
