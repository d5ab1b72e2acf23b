package dev.ringfetch.session.handshake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyBoolean;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricCapabilities;
import dev.ringfetch.fabric.FabricCapabilities.ReadAtomicity;
import dev.ringfetch.fabric.FabricCapabilities.WriteOrder;
import dev.ringfetch.fabric.HeapDoorbell;
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
import dev.ringfetch.session.ClientSession;
import dev.ringfetch.session.SessionContext;
import dev.ringfetch.session.poller.Poller;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a client takes from a server's answer, and what it declines before it connects. */
class ClientHandshakeTest implements ControlStream<OpenRequest>, ClientHandshake.Listener {
  private static final int RING_LENGTH = 128;
  private static final int LENGTH = ArenaDescriptor.length(RING_LENGTH, 2 * RING_LENGTH);

  private final List<OpenRequest> sent = new ArrayList<>();
  private final Fabric other = mock(Fabric.class);
  private final Fabric fabric = mock(Fabric.class);
  private final QueuePair queuePair = mock(QueuePair.class);
  private final Poller poller = new Poller(new HeapDoorbell(), new SessionContext());
  private final Set<String> withheld = new HashSet<>();
  private final Set<String> doubtful = new HashSet<>();
  private final List<String> unreachable = new ArrayList<>();
  private boolean closed;
  private ClientSession session;
  private String refusal;

  @BeforeEach
  void prepare() throws IOException {
    when(other.name()).thenReturn("other");
    when(other.hint()).thenReturn(new byte[0]);
    when(fabric.name()).thenReturn("heap");
    when(fabric.hint()).thenReturn(new byte[0]);
    when(fabric.connect(any(), any(), any(), anyLong(), anyBoolean())).thenReturn(queuePair);
    when(queuePair.memory()).thenReturn(new DirectRegion(LENGTH));
    capabilities(WriteOrder.ASCENDING, true);
  }

  private void capabilities(WriteOrder order, boolean loadStore) {
    when(queuePair.capabilities())
        .thenReturn(new FabricCapabilities(order, ReadAtomicity.LINE, loadStore, 0));
  }

  private static Answer answer() {
    return new Answer()
        .set(Answer.VERSION, Wire.VERSION)
        .set(Answer.FABRIC, "heap")
        .set(Answer.TOKEN, new byte[Wire.TOKEN_LENGTH])
        .set(Answer.MAX_STREAMS, 1)
        .set(Answer.GEOMETRY, sizes());
  }

  private static RingSizes sizes() {
    return new RingSizes()
        .set(RingSizes.REQUEST_RING_BYTES, RING_LENGTH)
        .set(RingSizes.RESPONSE_RING_BYTES, 2 * RING_LENGTH)
        .set(RingSizes.MAX_FRAME_BYTES, 64);
  }

  private ClientHandshake handshake() {
    return handshake(new SessionContext(), ArenaDescriptor.MAX_RING_LENGTH);
  }

  private ClientHandshake handshake(SessionContext context, int maxRingLength) {
    return new ClientHandshake(
        List.of(PolledFabric.undriven(other, poller), PolledFabric.undriven(fabric, poller)),
        context,
        maxRingLength,
        this,
        this);
  }

  private void take(Consumer<Answer> change) {
    final Answer answer = answer();
    change.accept(answer);
    handshake().onResponse(new OpenResponse().set(OpenResponse.ANSWER, answer));
  }

  private void assertAccepted() {
    assertNotNull(session, () -> "declined: " + refusal);
    assertNull(refusal);
    assertTrue(sent.isEmpty());
  }

  /** Declined, and the other fabric asked for. */
  private void assertUnreachable(String part) {
    assertNull(session);
    assertNull(refusal);
    assertEquals(2, sent.size());
    assertTrue(
        sent.get(0).get(OpenRequest.DECLINE).get(Decline.REASON).contains(part), sent::toString);
    assertEquals(List.of("other"), offered(sent.get(1)));
    assertFalse(closed);
    assertEquals(List.of("heap"), unreachable);
  }

  private static List<String> offered(OpenRequest step) {
    return step.get(OpenRequest.HELLO).get(Hello.FABRICS).stream()
        .map(offer -> offer.get(FabricOffer.NAME))
        .toList();
  }

  private void assertDeclined(String part) {
    assertNull(session);
    assertTrue(refusal.contains(part), refusal);
    assertEquals(1, sent.size());
    assertEquals(refusal, sent.get(0).get(OpenRequest.DECLINE).get(Decline.REASON));
    assertTrue(closed);
  }

  private void assertWish(int requests, int responses, SessionContext context, int maxRingLength) {
    sent.clear();
    handshake(context, maxRingLength).start();
    final RingSizes wish = sent.get(0).get(OpenRequest.HELLO).get(Hello.GEOMETRY);
    assertEquals(requests, wish.get(RingSizes.REQUEST_RING_BYTES));
    assertEquals(responses, wish.get(RingSizes.RESPONSE_RING_BYTES));
  }

  @Test
  void neitherRingIsLongerThanBothAllow() {
    final SessionContext context =
        new SessionContext().requestRingLength(1024).responseRingLength(4096);
    assertWish(1024, 4096, context, ArenaDescriptor.MAX_RING_LENGTH);
    assertWish(1024, 2048, context, 2048);
  }

  @Test
  void smallestAnswerIsTaken() throws IOException {
    take(answer -> {});
    assertAccepted();
    verify(other, never()).connect(any(), any(), any(), anyLong(), anyBoolean());
  }

  @Test
  void mostStreamsAreTaken() {
    take(answer -> answer.set(Answer.MAX_STREAMS, SessionContext.MAX_STREAMS_LIMIT));
    assertAccepted();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, -1, SessionContext.MAX_STREAMS_LIMIT + 1, Integer.MAX_VALUE})
  void streamsThatCannotBe(int streams) throws IOException {
    take(answer -> answer.set(Answer.MAX_STREAMS, streams));
    assertDeclined("max_streams=" + streams);
    verify(fabric, never()).connect(any(), any(), any(), anyLong(), anyBoolean());
  }

  @ParameterizedTest
  @ValueSource(ints = {0, -1, 63})
  void framesThatCannotBe(int bytes) {
    take(answer -> answer.set(Answer.GEOMETRY, sizes().set(RingSizes.MAX_FRAME_BYTES, bytes)));
    assertDeclined("max_frame_bytes=" + bytes);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 64, 100, -128, 1 << 30})
  void ringsThatCannotBe(int bytes) {
    take(answer -> answer.set(Answer.GEOMETRY, sizes().set(RingSizes.REQUEST_RING_BYTES, bytes)));
    assertDeclined("request_ring_bytes=" + bytes);
    sent.clear();
    take(answer -> answer.set(Answer.GEOMETRY, sizes().set(RingSizes.RESPONSE_RING_BYTES, bytes)));
    assertDeclined("response_ring_bytes=" + bytes);
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, -20, Wire.POSITIONS_LIMIT, Long.MAX_VALUE, Long.MIN_VALUE})
  void positionsThatCannotBe(long position) throws IOException {
    take(answer -> answer.set(Answer.REQUEST_POSITION, position));
    assertDeclined("request_position=" + position);
    sent.clear();
    take(answer -> answer.set(Answer.RESPONSE_POSITION, position));
    assertDeclined("response_position=" + position);
    verify(fabric, never()).connect(any(), any(), any(), anyLong(), anyBoolean());
  }

  @Test
  void lastPositionsAreTaken() {
    final long last = Wire.POSITIONS_LIMIT - 1;
    take(answer -> answer.set(Answer.REQUEST_POSITION, last).set(Answer.RESPONSE_POSITION, last));
    assertAccepted();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 15, 17})
  void tokenOfAnotherLength(int length) {
    take(answer -> answer.set(Answer.TOKEN, new byte[length]));
    assertDeclined("token length=" + length);
  }

  @Test
  void anotherVersion() {
    take(answer -> answer.set(Answer.VERSION, Wire.VERSION + 1));
    assertDeclined("version=" + (Wire.VERSION + 1));
  }

  @Test
  void unknownFabric() {
    take(answer -> answer.set(Answer.FABRIC, "unheard of"));
    assertDeclined("fabric=unheard of");
  }

  @Test
  void memoryThatIsTooShort() {
    when(queuePair.memory()).thenReturn(new DirectRegion(LENGTH - 8));
    take(answer -> {});
    assertUnreachable("memory length=" + (LENGTH - 8) + " of " + LENGTH);
    verify(queuePair).close();
  }

  @Test
  void memoryThatCannotBeLoadedIsRead() throws IOException {
    capabilities(WriteOrder.NONE, false);
    take(answer -> {});
    assertAccepted();
    verify(queuePair).scratch(anyInt());
  }

  @Test
  void noMemoryToReadInto() throws IOException {
    capabilities(WriteOrder.NONE, false);
    when(queuePair.scratch(anyInt())).thenThrow(new IOException("no memory"));
    take(answer -> {});
    assertUnreachable("no memory");
    verify(queuePair).close();
  }

  @Test
  void anErrorLeavesNoQueuePairOpen() {
    final OutOfMemoryError thrown = new OutOfMemoryError("as the test wants");
    when(queuePair.memory()).thenThrow(thrown);
    assertSame(thrown, assertThrows(OutOfMemoryError.class, () -> take(answer -> {})));
    verify(queuePair).close();
  }

  @Test
  void memoryThatIsWrittenInAnyOrder() {
    capabilities(WriteOrder.NONE, true);
    take(answer -> {});
    assertUnreachable("capabilities");
    verify(queuePair).close();
  }

  @Test
  void reasonOfAFailureIsPassedOn() throws IOException {
    when(fabric.connect(any(), any(), eq(new byte[Wire.TOKEN_LENGTH]), anyLong(), anyBoolean()))
        .thenThrow(new IOException("no such file"));
    withheld.add("other");
    final ClientHandshake handshake = handshake();
    handshake.start();
    sent.clear();
    handshake.onResponse(new OpenResponse().set(OpenResponse.ANSWER, answer()));
    assertEquals(1, sent.size());
    assertEquals("no such file", sent.get(0).get(OpenRequest.DECLINE).get(Decline.REASON));
    assertTrue(closed);
    assertEquals("other: not for you; heap: no such file", refusal);
  }

  @Test
  void failureWithoutAMessageIsNamed() throws IOException {
    when(fabric.connect(any(), any(), any(), anyLong(), anyBoolean())).thenThrow(new IOException());
    take(answer -> {});
    assertUnreachable("java.io.IOException");
  }

  /** Of the fabric, or of what it needs: no failure of the channel's call. */
  @Test
  void missingClassIsAnObstacle() throws IOException {
    when(fabric.connect(any(), any(), any(), anyLong(), anyBoolean()))
        .thenThrow(new ExceptionInInitializerError(new IllegalStateException("no library")));
    take(answer -> {});
    assertUnreachable("ExceptionInInitializerError, caused by IllegalStateException: no library");
  }

  @Test
  void theNextFabricServesWhereOneCannotBeReached() throws IOException {
    when(other.connect(any(), any(), any(), anyLong(), anyBoolean()))
        .thenThrow(new IOException("no route"));
    final ClientHandshake handshake = handshake();
    handshake.start();
    assertEquals(List.of("other", "heap"), offered(sent.get(0)));
    handshake.onResponse(
        new OpenResponse().set(OpenResponse.ANSWER, answer().set(Answer.FABRIC, "other")));
    assertEquals("no route", sent.get(1).get(OpenRequest.DECLINE).get(Decline.REASON));
    assertEquals(List.of("heap"), offered(sent.get(2)));
    assertEquals(
        sent.get(0).get(OpenRequest.HELLO).get(Hello.GEOMETRY),
        sent.get(2).get(OpenRequest.HELLO).get(Hello.GEOMETRY));
    assertEquals(List.of("other"), unreachable);
    handshake.onResponse(new OpenResponse().set(OpenResponse.ANSWER, answer()));
    assertNotNull(session, () -> "declined: " + refusal);
    assertEquals(3, sent.size());
  }

  @Test
  void whereNoneCanBeReachedAllReasonsAreTold() throws IOException {
    when(other.connect(any(), any(), any(), anyLong(), anyBoolean()))
        .thenThrow(new IOException("no route"));
    when(fabric.connect(any(), any(), any(), anyLong(), anyBoolean()))
        .thenThrow(new IOException("no file"));
    final ClientHandshake handshake = handshake();
    handshake.start();
    handshake.onResponse(new OpenResponse().set(OpenResponse.ANSWER, answer()));
    assertNull(refusal);
    handshake.onResponse(
        new OpenResponse().set(OpenResponse.ANSWER, answer().set(Answer.FABRIC, "other")));
    assertEquals("other: no route; heap: no file", refusal);
    assertEquals(4, sent.size(), sent::toString);
    assertTrue(closed);
  }

  @Test
  void whereTheServerHasNoOtherBothReasonsAreTold() throws IOException {
    when(other.connect(any(), any(), any(), anyLong(), anyBoolean()))
        .thenThrow(new IOException("no route"));
    final ClientHandshake handshake = handshake();
    handshake.start();
    handshake.onResponse(
        new OpenResponse().set(OpenResponse.ANSWER, answer().set(Answer.FABRIC, "other")));
    handshake.onResponse(
        new OpenResponse().set(OpenResponse.REFUSAL, new Refusal().set(Refusal.REASON, "full")));
    assertEquals("other: no route; full", refusal);
  }

  @Test
  void whatCouldNotBeReachedIsNotTakenAgain() throws IOException {
    when(fabric.connect(any(), any(), any(), anyLong(), anyBoolean()))
        .thenThrow(new IOException("no file"));
    final ClientHandshake handshake = handshake();
    handshake.start();
    handshake.onResponse(new OpenResponse().set(OpenResponse.ANSWER, answer()));
    handshake.onResponse(new OpenResponse().set(OpenResponse.ANSWER, answer()));
    assertTrue(refusal.contains("answer: fabric=heap"), refusal);
    verify(fabric, times(1)).connect(any(), any(), any(), anyLong(), anyBoolean());
  }

  @Test
  void whatHasFailedOfLateComesLast() {
    doubtful.add("other");
    handshake().start();
    assertEquals(List.of("heap", "other"), offered(sent.get(0)));
    sent.clear();
    doubtful.add("heap");
    handshake().start();
    assertEquals(List.of("other", "heap"), offered(sent.get(0)));
  }

  @Test
  void whatMayNotBeUsedIsNotOffered() {
    withheld.add("other");
    final ClientHandshake handshake = handshake();
    handshake.start();
    assertEquals(1, sent.size());
    assertEquals(List.of("heap"), offered(sent.get(0)));
    handshake.onResponse(
        new OpenResponse().set(OpenResponse.REFUSAL, new Refusal().set(Refusal.REASON, "full")));
    assertEquals("other: not for you; full", refusal);
  }

  @Test
  void nothingIsAskedWhereNothingMayBeUsed() {
    withheld.addAll(List.of("other", "heap"));
    handshake().start();
    assertTrue(sent.isEmpty());
    assertTrue(closed);
    assertEquals("other: not for you; heap: not for you", refusal);
  }

  @Test
  void whatMayNotBeUsedIsNotTakenEither() throws IOException {
    withheld.add("heap");
    take(answer -> {});
    assertDeclined("fabric=heap");
    verify(fabric, never()).connect(any(), any(), any(), anyLong(), anyBoolean());
  }

  @Test
  void refusalIsPassedOn() {
    new ClientHandshake(List.of(), new SessionContext(), RING_LENGTH, this, this)
        .onResponse(
            new OpenResponse()
                .set(OpenResponse.REFUSAL, new Refusal().set(Refusal.REASON, "full")));
    assertEquals("full", refusal);
    assertTrue(closed);
    assertTrue(sent.isEmpty());
  }

  @Override
  public void send(OpenRequest step) {
    sent.add(step);
  }

  @Override
  public void close() {
    closed = true;
  }

  @Override
  public void exhausted(String reason) {
    throw new AssertionError(reason);
  }

  @Override
  public void expired(String reason) {
    throw new AssertionError(reason);
  }

  @Override
  public String obstacle(String name) {
    return withheld.contains(name) ? "not for you" : null;
  }

  @Override
  public boolean isDoubtful(String name) {
    return doubtful.contains(name);
  }

  @Override
  public void onUnreachable(String name) {
    unreachable.add(name);
  }

  @Override
  public void onSession(ClientSession opened, String name, List<String> methods) {
    session = opened;
    assertEquals("heap", name);
  }

  @Override
  public void onRefused(String reason) {
    refusal = reason;
  }

  @Override
  public void onEnded(ClientSession ended, String reason) {
    throw new AssertionError(reason);
  }

  /**
   * Behind a card memory is offered only if both sides READ; an older server says nothing of it.
   */
  @Test
  void longMessagesAreReadIfTheServerReadsThemToo() throws IOException {
    handshake().start();
    assertEquals(1, sent.remove(0).get(OpenRequest.HELLO).get(Hello.LONG_READS));
    capabilities(WriteOrder.ASCENDING, false);
    take(older -> {});
    assertAccepted();
    assertNull(session.bulk().allocate(1));
    verify(queuePair, never()).register(anyInt());
    session = null;
    take(answer -> answer.set(Answer.LONG_READS, 1));
    assertAccepted();
    when(queuePair.register(anyInt())).thenThrow(new IOException("none"));
    assertNull(session.bulk().allocate(1));
    verify(queuePair).register(anyInt());
  }
}
