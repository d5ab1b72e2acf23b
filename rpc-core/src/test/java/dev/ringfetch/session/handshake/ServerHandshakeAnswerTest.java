package dev.ringfetch.session.handshake;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.ringfetch.protocol.Answer;
import dev.ringfetch.protocol.FabricOffer;
import dev.ringfetch.protocol.Hello;
import dev.ringfetch.protocol.RingSizes;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.ring.ControlDescriptor;
import dev.ringfetch.session.ManualFabric;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a server grants of a client's wishes, and what it refuses with which words. */
class ServerHandshakeAnswerTest extends OfferingServer {
  private static final int OWN_REQUEST_RING = 512;
  private static final int OWN_RESPONSE_RING = 2048;
  private static final int OWN_FRAME = 100;

  private final ManualFabric other = new ManualFabric("other");

  private RingSizes granted(RingSizes wish) {
    context.requestRingLength(OWN_REQUEST_RING).responseRingLength(OWN_RESPONSE_RING);
    context.maxFrameLength(OWN_FRAME);
    return begin(step(hello().set(Hello.GEOMETRY, wish))).answer.get(Answer.GEOMETRY);
  }

  private void serveBoth() {
    served = List.of(polled, open(other));
  }

  private Peer helloOf(String... fabrics) {
    return helloOf(new Peer(), fabrics);
  }

  private Peer helloOf(Peer peer, String... fabrics) {
    final List<FabricOffer> offers = Stream.of(fabrics).map(OfferingServer::fabric).toList();
    return begin(peer, step(hello().set(Hello.FABRICS, offers)));
  }

  /** The server's version is 1, and versions have no sign. */
  @ParameterizedTest
  @CsvSource({"1, 1", "0, 1", "1, 2", "0, 2", "1, -1"})
  void versionThatIsServed(int min, int max) {
    final Peer peer = begin(step(hello().set(Hello.MIN_VERSION, min).set(Hello.MAX_VERSION, max)));
    assertNotNull(peer.answer, () -> peer.refusal);
    assertEquals(Wire.VERSION, peer.answer.get(Answer.VERSION));
  }

  @ParameterizedTest
  @CsvSource({"0, 0, 0 to 0", "2, 2, 2 to 2", "2, 3, 2 to 3", "-1, -1, 4294967295 to 4294967295"})
  void versionThatIsNotServed(int min, int max, String said) {
    final Peer peer = begin(step(hello().set(Hello.MIN_VERSION, min).set(Hello.MAX_VERSION, max)));
    assertEquals("wire version 1 is served, not " + said, peer.refusal);
    assertEquals(0, fabric.offered());
  }

  @Test
  void fullServer() {
    final Peer peer = new Peer();
    peer.full = true;
    begin(peer, helloOf(4096));
    assertEquals("the server takes no further session", peer.exhausted);
    assertEquals(0, peer.steps);
    assertEquals(0, fabric.offered());
  }

  @Test
  void clientsFirstFabricIsTaken() {
    serveBoth();
    assertEquals("other", helloOf("other", "pages").answer.get(Answer.FABRIC));
    assertEquals(0, fabric.offered());
    assertEquals("to other", new String(other.first().peerHint, UTF_8));
    assertEquals("pages", helloOf("pages", "other").answer.get(Answer.FABRIC));
    assertEquals(1, other.offered());
    assertEquals("to pages", new String(fabric.first().peerHint, UTF_8));
  }

  @Test
  void unknownFabricIsPassedOver() {
    serveBoth();
    assertEquals("other", helloOf("unheard of", "other").answer.get(Answer.FABRIC));
  }

  @Test
  void noFabricIsKnown() {
    serveBoth();
    final Peer peer = helloOf("unheard of", "page", "pagess", "");
    assertEquals("no fabric in common; the server has pages, other", peer.refusal);
    assertEquals(1, peer.steps);
    assertEquals(0, peer.opening);
  }

  @Test
  void noFabricIsNamed() {
    assertEquals("no fabric in common; the server has pages", helloOf().refusal);
  }

  @Test
  void fabricThatFailsIsPassedOver() {
    serveBoth();
    fabric.failure = new IOException("no room");
    final Peer peer = helloOf("pages", "other");
    assertEquals("other", peer.answer.get(Answer.FABRIC));
    assertEquals(1, peer.steps);
    assertEquals(1, peer.opening);
  }

  /** Of the fabric, or of what it needs: no failure of the call that opens sessions. */
  @Test
  void fabricWithoutItsClassesIsPassedOver() {
    serveBoth();
    fabric.error = new NoClassDefFoundError("jdk/net/Missing");
    assertEquals("other", helloOf("pages", "other").answer.get(Answer.FABRIC));
    assertEquals(
        "no fabric in common; pages: NoClassDefFoundError: jdk/net/Missing",
        helloOf("pages").refusal);
  }

  /** A client can name it as often as a message is long. */
  @Test
  void fabricIsTriedOnceHoweverOftenItIsNamed() {
    fabric.failure = new IOException("no room");
    assertEquals("no fabric in common; pages: no room", helloOf("pages", "pages", "pages").refusal);
  }

  @Test
  void fabricThatTheClientMayNotUseIsPassedOver() {
    serveBoth();
    final Peer peer = new Peer();
    peer.withheld = "pages";
    assertEquals("other", helloOf(peer, "pages", "other").answer.get(Answer.FABRIC));
    final Peer alone = new Peer();
    alone.withheld = "pages";
    assertEquals("no fabric in common; pages: not for you", helloOf(alone, "pages").refusal);
    assertEquals(0, alone.opening);
  }

  @Test
  void failureWithoutAMessageIsNamed() {
    fabric.failure = new IOException();
    assertEquals("no fabric in common; pages: java.io.IOException", helloOf("pages").refusal);
  }

  @Test
  void everyFabricFails() {
    serveBoth();
    fabric.failure = new IOException("no room");
    other.failure = new IOException("another host");
    final Peer peer = helloOf("other", "unheard of", "pages");
    assertEquals("no fabric in common; other: another host; pages: no room", peer.refusal);
    assertEquals(1, peer.steps);
    assertEquals(0, peer.opening);
  }

  @ParameterizedTest
  @ValueSource(ints = {128, 256, LARGEST_RING})
  void ringThatIsGranted(int wished) {
    assertEquals(
        rings(wished, 1024).set(RingSizes.MAX_FRAME_BYTES, OWN_FRAME),
        granted(rings(wished, 1024)));
    assertEquals(
        rings(1024, wished).set(RingSizes.MAX_FRAME_BYTES, OWN_FRAME),
        granted(rings(1024, wished)));
  }

  @ParameterizedTest
  @ValueSource(
      ints = {0, 1, 64, 127, 129, 192, LARGEST_RING - 128, 2 * LARGEST_RING, 1 << 30, 1 << 31, -1})
  void ringThatIsTheServersOwn(int wished) {
    final RingSizes granted = granted(rings(wished, wished));
    assertEquals(OWN_REQUEST_RING, granted.get(RingSizes.REQUEST_RING_BYTES));
    assertEquals(OWN_RESPONSE_RING, granted.get(RingSizes.RESPONSE_RING_BYTES));
  }

  @ParameterizedTest
  @CsvSource({"0, 100", "63, 100", "64, 64", "65, 65", "99, 99", "100, 100", "101, 100", "-1, 100"})
  void frameLength(int wished, int granted) {
    assertEquals(
        granted,
        granted(rings(0, 0).set(RingSizes.MAX_FRAME_BYTES, wished)).get(RingSizes.MAX_FRAME_BYTES));
  }

  @Test
  void memoryIsAsLongAsTheRingsNeed() {
    granted(rings(256, 1024));
    assertEquals(ArenaDescriptor.length(256, 1024), fabric.first().length);
  }

  @Test
  void answerNamesWhatIsServed() {
    context.maxStreams(7).maxInboundLength(1000).maxMetadataLength(100);
    final Answer answer = begin(step(hello())).answer;
    assertEquals(Wire.TOKEN_LENGTH, answer.get(Answer.TOKEN).length);
    assertArrayEquals(fabric.first().token, answer.get(Answer.TOKEN));
    assertArrayEquals(fabric.first().descriptor(), answer.get(Answer.FABRIC_DESCRIPTOR));
    assertEquals(
        List.of("pages.Service/First", "pages.Service/Second"), answer.get(Answer.METHODS));
    assertEquals(7, answer.get(Answer.MAX_STREAMS));
    assertEquals(1000, answer.get(Answer.MAX_REQUEST_BYTES));
    assertEquals(100, answer.get(Answer.MAX_METADATA_BYTES));
  }

  /** Positions count up from anywhere, and are not to run over. */
  @Test
  void positionsStartBelowAQuarter() {
    random = () -> -1;
    final Answer answer = hello(4096).answer;
    assertEquals(-1L, answer.get(Answer.EPOCH));
    assertEquals(Long.MAX_VALUE / 2, answer.get(Answer.REQUEST_POSITION));
    assertEquals(Long.MAX_VALUE / 2, answer.get(Answer.RESPONSE_POSITION));
  }

  @Test
  void clientFindsThePositionsInTheMemory() {
    final Peer peer = new Peer();
    final List<Long> found = new ArrayList<>();
    peer.inAnswer =
        () -> {
          found.add(consumed(ArenaDescriptor.SERVER_CONTROL_OFFSET));
          found.add(consumed(ArenaDescriptor.CLIENT_CONTROL_OFFSET));
        };
    begin(peer, helloOf(4096));
    assertEquals(
        List.of(
            peer.answer.get(Answer.REQUEST_POSITION), peer.answer.get(Answer.RESPONSE_POSITION)),
        found);
  }

  private long consumed(int control) {
    return fabric.first().peerMemory().getLong(control + ControlDescriptor.CONSUMED_OFFSET);
  }

  /** Lengths that add up to the limit exactly; fewer offers cannot, of rings that are granted. */
  @Test
  void memoryUpToTheLimitIsOffered() {
    final int offers = 14;
    long rest = OfferedMemory.MAX_LENGTH - offers * (long) ArenaDescriptor.length(0, 0);
    for (int i = 0; i < offers; i++) {
      final int request = (int) Math.min(LARGEST_RING, Long.highestOneBit(rest));
      rest -= request;
      final int response = (int) Math.min(LARGEST_RING, Long.highestOneBit(rest));
      rest -= response;
      final Peer peer = begin(step(hello().set(Hello.GEOMETRY, rings(request, response))));
      assertNotNull(peer.answer, () -> "refused: rings=" + request + " and " + response);
    }
    assertEquals(0, rest);
    assertNull(hello(128).answer, "nothing is left");
    handshakes.get(0).onClosed();
    assertNotNull(hello(128).answer);
  }

  @Test
  void offerThatIsLongerThanTheLimitGoesAlone() {
    context.requestRingLength(1 << 28);
    assertNotNull(begin(step(hello())).answer);
    assertEquals("the server has too much memory on offer", hello(128).exhausted);
    handshakes.get(0).onClosed();
    assertNotNull(hello(128).answer);
    assertEquals("the server has too much memory on offer", begin(step(hello())).exhausted);
  }

  @Test
  void longMessagesAreReadIfTheClientReadsThemToo() {
    assertFalse(begin(step(hello())).answer.has(Answer.LONG_READS), "an older client");
    assertEquals(1, begin(step(hello().set(Hello.LONG_READS, 1))).answer.get(Answer.LONG_READS));
  }
}
