package dev.ringfetch.session.handshake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.HeapQueuePair;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.protocol.Answer;
import dev.ringfetch.protocol.Decline;
import dev.ringfetch.protocol.Hello;
import dev.ringfetch.protocol.OpenRequest;
import dev.ringfetch.session.ManualFabric;
import dev.ringfetch.session.poller.Poller;
import dev.ringfetch.session.poller.PollerSteps;
import java.lang.reflect.Field;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What is offered and not taken is given back, and counted once. */
class ServerHandshakeTest extends OfferingServer {
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
    assertEquals(1, peer.abandoned);
  }

  @Test
  void silentStreamIsEnded() {
    final Peer peer = silent();
    assertEquals(TimeUnit.SECONDS.toNanos(10), peer.delayNs);
    peer.timeout.run();
    assertEquals("no hello of the client in time: timeoutNs=10000000000", peer.expired);
    assertEquals(1, peer.abandoned);
    handshakes.get(0).onRequest(helloOf(4096));
    assertEquals(0, peer.steps, "it comes too late");
    assertEquals(0, fabric.offered());
  }

  @Test
  void silenceEndsWithAHello() {
    final Peer peer = silent();
    final Runnable timeout = peer.timeout; // runs already when it is cancelled
    handshakes.get(0).onRequest(helloOf(4096));
    timeout.run();
    assertNull(peer.expired);
    assertEquals(1, fabric.offered());
    assertEquals(0, peer.abandoned);
  }

  @Test
  void silenceEndsWithTheStream() {
    final Peer peer = silent();
    handshakes.get(0).onClosed();
    assertNull(peer.timeout, "the timer still holds it");
    assertEquals(0, peer.abandoned);
  }

  @Test
  void silenceBehindADeclineIsEnded() {
    final Peer peer = hello(4096);
    handshakes.get(0).onRequest(decline());
    assertFalse(peer.closed);
    peer.timeout.run();
    assertEquals("no hello of the client in time: timeoutNs=10000000000", peer.expired);
    assertEquals(1, peer.abandoned);
  }

  @Test
  void offerIsWithdrawnWithItsStream() {
    final Peer peer = hello(4096);
    handshakes.get(0).onClosed();
    assertEquals(0, fabric.offered());
    assertEquals(0, peer.abandoned);
    assertNull(peer.timeout, "the timer still holds it");
  }

  @Test
  void secondHelloEndsIt() {
    final Peer peer = hello(4096);
    handshakes.get(0).onRequest(helloOf(4096));
    assertTrue(peer.closed);
    assertEquals(1, peer.steps);
    assertEquals(0, fabric.offered());
  }

  private static OpenRequest decline() {
    return new OpenRequest().set(OpenRequest.DECLINE, new Decline());
  }

  @Test
  void whoeverDeclinesMayAskForOtherFabrics() {
    final ManualFabric other = new ManualFabric("other");
    served = List.of(open(other), polled);
    final Peer peer =
        begin(step(hello().set(Hello.FABRICS, List.of(fabric("pages"), fabric("other")))));
    assertEquals("pages", peer.answer.get(Answer.FABRIC));
    handshakes.get(0).onRequest(decline());
    assertEquals(0, fabric.offered());
    assertEquals(0, peer.opening);
    assertFalse(peer.closed);
    handshakes.get(0).onRequest(step(hello().set(Hello.FABRICS, List.of(fabric("other")))));
    assertEquals("other", peer.answer.get(Answer.FABRIC));
    assertEquals(1, other.offered());
    assertEquals(1, peer.opening);
    handshakes.get(0).onClosed();
    assertEquals(0, other.offered());
  }

  @Test
  void whoeverDeclinesNothingIsOut() {
    final Peer peer = hello(4096);
    handshakes.get(0).onRequest(decline());
    handshakes.get(0).onRequest(decline());
    assertTrue(peer.closed);
    assertEquals(1, peer.steps);
  }

  @Test
  void timeoutOfWhatWasDeclinedLeavesTheNextOffer() throws InterruptedException {
    final Peer peer = hello(4096);
    final Runnable timeout = peer.timeout; // runs already when it is cancelled
    handshakes.get(0).onRequest(decline());
    handshakes.get(0).onRequest(helloOf(4096));
    timeout.run();
    awaitPoller();
    assertEquals(1, fabric.offered());
    assertFalse(peer.closed);
  }

  @Test
  void connectionToWhatWasDeclinedIsNotTheNextOffers() throws InterruptedException {
    final Peer peer = hello(4096);
    final ManualFabric.Offered declined = fabric.take();
    handshakes.get(0).onRequest(decline());
    handshakes.get(0).onRequest(helloOf(4096));
    final QueuePair late = declined.connect();
    assertTrue(((HeapQueuePair) late).isClosed());
    assertNull(peer.session);
    assertEquals(1, fabric.offered());
    fabric.connect(poller());
    awaitPoller();
    assertFalse(peer.session.hasEnded());
    peer.session.end("test");
    assertTrue(peer.ended.await(30, TimeUnit.SECONDS));
  }

  @Test
  void firstStepMustBeAHello() {
    final Peer peer = begin(new OpenRequest());
    assertTrue(peer.closed);
    assertEquals(0, peer.steps);
  }

  @Test
  void endOfTheStreamDrainsTheSession() throws InterruptedException {
    final Peer peer = hello(4096);
    fabric.connect(poller());
    awaitPoller();
    final long before = peer.session.writePosition();
    handshakes.get(0).onClosed();
    final long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (peer.session.writePosition() == before && System.nanoTime() < deadlineNs) {
      awaitPoller(); // which may have owned the session, and comes to the notice a round later
    }
    assertEquals(before + 1, peer.session.writePosition(), "the notice");
    peer.session.end("test");
    assertTrue(peer.ended.await(30, TimeUnit.SECONDS));
  }

  @Test
  void offersAreBounded() {
    final long fitting = OfferedMemory.MAX_LENGTH / (2L * LARGEST_RING) - 1;
    for (int i = 0; i < fitting; i++) {
      assertNotNull(hello(LARGEST_RING).answer);
    }
    final Peer peer = hello(LARGEST_RING);
    assertEquals("the server has too much memory on offer", peer.exhausted);
    assertEquals(0, peer.steps);
    assertEquals(0, peer.opening);
    handshakes.get(0).onClosed();
    assertNotNull(hello(LARGEST_RING).answer);
  }

  @Test
  void errorInAnOfferIsCountedOut() {
    fabric.error = new OutOfMemoryError("test");
    assertThrows(OutOfMemoryError.class, () -> hello(4096));
    fabric.error = null;
    peers.get(0).closed = true; // by the caller
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
      assertNull(peer.exhausted);
      fabric.connect(poller());
      awaitPoller();
      assertNull(peer.timeout);
      peer.session.end("test");
      assertTrue(peer.ended.await(30, TimeUnit.SECONDS));
    }
  }

  @Test
  void connectionToAStreamThatHasJustEnded() throws InterruptedException {
    final Peer peer = hello(4096);
    final ManualFabric.Offered offer = fabric.take();
    handshakes.get(0).onClosed();
    final QueuePair queuePair = offer.connect();
    awaitPoller();
    assertNull(peer.session);
    assertTrue(((HeapQueuePair) queuePair).isClosed());
  }

  @Test
  void connectionToAnOfferThatHasJustTimedOut() throws InterruptedException {
    final Peer peer = hello(4096);
    final ManualFabric.Offered offer = fabric.take();
    peer.timeout.run();
    awaitPoller();
    final QueuePair queuePair = offer.connect();
    assertNull(peer.session);
    assertTrue(((HeapQueuePair) queuePair).isClosed());
    assertEquals(0, peer.opening);
  }

  @Test
  void timeoutThatComesAfterTheConnection() throws InterruptedException {
    final Peer peer = hello(4096);
    final Runnable timeout = peer.timeout; // runs already when it is cancelled
    fabric.connect(poller());
    awaitPoller();
    timeout.run();
    awaitPoller();
    assertFalse(peer.closed);
    assertFalse(peer.session.hasEnded());
    peer.session.end("test");
    assertTrue(peer.ended.await(30, TimeUnit.SECONDS));
  }

  @Test
  void timeoutThatComesAfterTheEnd() throws InterruptedException {
    final Peer peer = hello(4096);
    final Runnable timeout = peer.timeout;
    handshakes.get(0).onClosed();
    timeout.run();
    awaitPoller();
    assertEquals(0, peer.opening, "counted out twice");
  }

  @Test
  void streamThatEndsWhileMemoryIsFound() {
    fabric.inOffer = () -> handshakes.get(0).onClosed();
    final Peer peer = hello(4096);
    assertEquals(0, peer.steps);
    assertNull(peer.timeout);
    assertEquals(0, fabric.offered());
    assertEquals(0, peer.opening);
  }

  @Test
  void streamThatEndsWhileTheSessionOpens() throws InterruptedException {
    final Peer peer = hello(4096);
    peer.inSession = handshakes.get(0)::onClosed;
    fabric.connect(poller());
    awaitPoller();
    assertEquals(
        peer.answer.get(Answer.RESPONSE_POSITION) + 1, peer.session.writePosition(), "the notice");
    peer.session.end("test");
    assertTrue(peer.ended.await(30, TimeUnit.SECONDS));
  }

  @Test
  void sessionIsNotDrainedOfItself() throws InterruptedException {
    final Peer peer = hello(4096);
    fabric.connect(poller());
    awaitPoller();
    awaitPoller();
    assertEquals(peer.answer.get(Answer.RESPONSE_POSITION), peer.session.writePosition());
    peer.session.end("test");
    assertTrue(peer.ended.await(30, TimeUnit.SECONDS));
  }

  /** It comes out of the poller after it was put in: else the poller would keep it for ever. */
  @Test
  void sessionThatIsEndedAsSoonAsItIsKnown() throws Exception {
    final Peer peer = hello(4096);
    peer.inSession = () -> peer.session.abort("test");
    fabric.connect(poller());
    assertTrue(peer.ended.await(30, TimeUnit.SECONDS));
    awaitPoller();
    awaitPoller(); // the first may have been asked for in the same round
    final CompletableFuture<Integer> kept = new CompletableFuture<>();
    poller().execute(() -> kept.complete(sessions()));
    assertEquals(0, kept.get(30, TimeUnit.SECONDS));
  }

  private int sessions() {
    try {
      final Field sessions = Poller.class.getDeclaredField("sessions");
      sessions.setAccessible(true);
      return PollerSteps.sessions(sessions.get(poller()));
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(e.toString(), e);
    }
  }
}
