package dev.ringfetch.session.handshake;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.ring.ControlDescriptor;
import dev.ringfetch.session.ManualFabric;
import dev.ringfetch.v1.Answer;
import dev.ringfetch.v1.Geometry;
import dev.ringfetch.v1.Hello;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
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

  private Geometry granted(Geometry.Builder wish) {
    context.requestRingLength(OWN_REQUEST_RING).responseRingLength(OWN_RESPONSE_RING);
    context.maxFrameLength(OWN_FRAME);
    return begin(step(hello().setGeometry(wish))).answer.getGeometry();
  }

  private void serveBoth() {
    served = List.of(polled, open(other));
  }

  private Peer helloOf(String... fabrics) {
    return helloOf(new Peer(), fabrics);
  }

  private Peer helloOf(Peer peer, String... fabrics) {
    final Hello.Builder hello = hello().clearFabrics();
    for (final String name : fabrics) {
      hello.addFabrics(fabric(name));
    }
    return begin(peer, step(hello));
  }

  /** The server's version is 1, and versions have no sign. */
  @ParameterizedTest
  @CsvSource({"1, 1", "0, 1", "1, 2", "0, 2", "1, -1"})
  void versionThatIsServed(int min, int max) {
    final Peer peer = begin(step(hello().setMinVersion(min).setMaxVersion(max)));
    assertNotNull(peer.answer, () -> peer.refusal);
    assertEquals(Wire.VERSION, peer.answer.getVersion());
  }

  @ParameterizedTest
  @CsvSource({"0, 0, 0 to 0", "2, 2, 2 to 2", "2, 3, 2 to 3", "-1, -1, 4294967295 to 4294967295"})
  void versionThatIsNotServed(int min, int max, String said) {
    final Peer peer = begin(step(hello().setMinVersion(min).setMaxVersion(max)));
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
    assertEquals("other", helloOf("other", "pages").answer.getFabric());
    assertEquals(0, fabric.offered());
    assertEquals("to other", new String(other.first().peerHint, UTF_8));
    assertEquals("pages", helloOf("pages", "other").answer.getFabric());
    assertEquals(1, other.offered());
    assertEquals("to pages", new String(fabric.first().peerHint, UTF_8));
  }

  @Test
  void unknownFabricIsPassedOver() {
    serveBoth();
    assertEquals("other", helloOf("unheard of", "other").answer.getFabric());
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
    assertEquals("other", peer.answer.getFabric());
    assertEquals(1, peer.steps);
    assertEquals(1, peer.opening);
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
    assertEquals("other", helloOf(peer, "pages", "other").answer.getFabric());
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
        rings(wished, 1024).setMaxFrameBytes(OWN_FRAME).build(), granted(rings(wished, 1024)));
    assertEquals(
        rings(1024, wished).setMaxFrameBytes(OWN_FRAME).build(), granted(rings(1024, wished)));
  }

  @ParameterizedTest
  @ValueSource(
      ints = {0, 1, 64, 127, 129, 192, LARGEST_RING - 128, 2 * LARGEST_RING, 1 << 30, 1 << 31, -1})
  void ringThatIsTheServersOwn(int wished) {
    final Geometry granted = granted(rings(wished, wished));
    assertEquals(OWN_REQUEST_RING, granted.getRequestRingBytes());
    assertEquals(OWN_RESPONSE_RING, granted.getResponseRingBytes());
  }

  @ParameterizedTest
  @CsvSource({"0, 100", "63, 100", "64, 64", "65, 65", "99, 99", "100, 100", "101, 100", "-1, 100"})
  void frameLength(int wished, int granted) {
    assertEquals(granted, granted(rings(0, 0).setMaxFrameBytes(wished)).getMaxFrameBytes());
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
    assertEquals(Wire.TOKEN_LENGTH, answer.getToken().size());
    assertArrayEquals(fabric.first().token, answer.getToken().toByteArray());
    assertArrayEquals(fabric.first().descriptor(), answer.getFabricDescriptor().toByteArray());
    assertEquals(List.of("pages.Service/First", "pages.Service/Second"), answer.getMethodsList());
    assertEquals(7, answer.getMaxStreams());
    assertEquals(1000, answer.getMaxRequestBytes());
    assertEquals(100, answer.getMaxMetadataBytes());
  }

  /** Positions count up from anywhere, and are not to run over. */
  @Test
  void positionsStartBelowAQuarter() {
    random = () -> -1;
    final Answer answer = hello(4096).answer;
    assertEquals(-1, answer.getEpoch());
    assertEquals(Long.MAX_VALUE / 2, answer.getRequestPosition());
    assertEquals(Long.MAX_VALUE / 2, answer.getResponsePosition());
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
        List.of(peer.answer.getRequestPosition(), peer.answer.getResponsePosition()), found);
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
      final Peer peer = begin(step(hello().setGeometry(rings(request, response))));
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
}
