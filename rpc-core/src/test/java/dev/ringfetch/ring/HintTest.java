package dev.ringfetch.ring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.FabricCapabilities;
import dev.ringfetch.fabric.FabricCapabilities.ReadAtomicity;
import dev.ringfetch.fabric.FabricCapabilities.WriteOrder;
import dev.ringfetch.fabric.QueuePair;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What goes into a datagram, and what is believed of one. */
class HintTest {
  private static final int SLOT = FrameDescriptor.SLOT_LENGTH;
  private static final int RING = ArenaDescriptor.REQUEST_RING_OFFSET;
  private static final int SLOTS = 16;
  private static final int MAX_SLOTS = 4;
  private static final long EPOCH = 0x1234_5678_9ABC_DEF0L;
  private static final long START = -2 * SLOTS; // overflows after two laps
  private static final int LINE = 0;
  private static final int LIMIT = 16;

  private final DirectRegion theirs = new DirectRegion(RING + SLOTS * SLOT);
  private final QueuePair writing = mock(QueuePair.class);
  private final QueuePair reading = mock(QueuePair.class);
  private final List<byte[]> sent = new ArrayList<>();
  private final Deque<byte[]> arriving = new ArrayDeque<>();
  private final List<Integer> taken = new ArrayList<>(); // stream ids
  private final DirectRegion receive = new DirectRegion(MAX_SLOTS * SLOT + 64);
  private int posted = QueuePair.POSTED;
  private int refused; // stream id
  private boolean closed;
  private int written;
  private ControlFlyweight told;
  private RingWriter writer;
  private HintSender sender;
  private RingPoller poller;
  private HintReceiver receiver;

  @BeforeEach
  void create() {
    final FabricCapabilities capabilities =
        new FabricCapabilities(
            WriteOrder.NONE, ReadAtomicity.NONE, false, 0, MAX_SLOTS * SLOT + 40);
    when(writing.memory()).thenReturn(theirs);
    when(writing.capabilities()).thenReturn(capabilities);
    when(writing.sendDatagram(anyInt(), anyInt()))
        .thenAnswer(
            call -> {
              final byte[] datagram = new byte[call.<Integer>getArgument(1)];
              theirs.getBytes(call.getArgument(0), datagram, 0, datagram.length);
              sent.add(datagram);
              return posted;
            });
    when(reading.memory()).thenReturn(new DirectRegion(RING + SLOTS * SLOT));
    when(reading.capabilities()).thenReturn(capabilities);
    when(reading.pollDatagrams(any(), anyInt()))
        .thenAnswer(
            call -> {
              int polled = 0;
              for (; polled < call.<Integer>getArgument(1) && !arriving.isEmpty(); polled++) {
                final byte[] datagram = arriving.remove();
                receive.putBytes(40, datagram, 0, datagram.length);
                call.<QueuePair.DatagramHandler>getArgument(0)
                    .onDatagram(receive, 40, datagram.length);
              }
              return closed ? QueuePair.CLOSED : polled;
            });
    told = new ControlFlyweight(writing, LINE);
    told.consumed(START);
    told.fetching(true);
    sender = new HintSender(writing, RING, SLOTS * SLOT, told);
    writer = newWriter(EPOCH, START);
    writer.hints(sender);
    restart();
  }

  /** A reader that has taken nothing yet. */
  private void restart() {
    taken.clear();
    poller =
        new RingPoller(
            reading, RING, SLOTS * SLOT, EPOCH, START, new ControlFlyweight(reading, LINE));
    receiver = new HintReceiver(reading, poller);
  }

  private RingWriter newWriter(long epoch, long start) {
    return new RingWriter(writing, RING, SLOTS * SLOT, epoch, start, told);
  }

  /** Writes a frame of so many slots. */
  private void write(RingWriter to, int slots) {
    final byte[] payload = new byte[FrameDescriptor.maxPayload(slots)];
    Arrays.fill(payload, (byte) ++written);
    final int flags = FrameDescriptor.MESSAGE;
    assertEquals(RingWriter.WRITTEN, to.write(written, flags, 0, 0, payload, 0, payload.length));
  }

  private void write(int slots) {
    write(writer, slots);
  }

  private List<Integer> sentSlots() {
    return sent.stream().map(datagram -> datagram.length / SLOT).toList();
  }

  private int take(byte[] datagram) {
    arriving.add(datagram);
    return receiver.take(
        (streamId, flags, code, ack, region, offset, length) -> {
          final byte[] payload = new byte[length];
          region.getBytes(offset, payload, 0, length);
          final byte[] expected = new byte[length];
          Arrays.fill(expected, (byte) streamId);
          assertEquals(Arrays.toString(expected), Arrays.toString(payload));
          taken.add(streamId);
          return streamId != refused;
        },
        LIMIT);
  }

  private void assertDropped(byte[] datagram) {
    final long before = receiver.dropped();
    final long position = poller.position();
    assertEquals(0, take(datagram));
    assertEquals(position, poller.position());
    assertEquals(before + 1, receiver.dropped());
  }

  @Test
  void framesOfOneRoundGoInOneDatagramAsFarAsItHasRoom() {
    write(1);
    write(2);
    assertEquals(List.of(), sentSlots(), "not before the round's end");
    sender.flush();
    assertEquals(List.of(3), sentSlots());
    sender.flush();
    assertEquals(List.of(3), sentSlots(), "nothing is sent twice");
    write(3);
    write(2); // has no room beside it
    write(2);
    sender.flush();
    assertEquals(List.of(3, 3, 4), sentSlots());
    assertEquals(3, sender.sent());
    assertEquals(2, take(sent.get(0)));
    assertEquals(1, take(sent.get(1)));
    assertEquals(2, take(sent.get(2)));
    assertEquals(List.of(1, 2, 3, 4, 5), taken);
    assertEquals(0, receiver.dropped());
  }

  @Test
  void datagramEndsWithTheRing() {
    for (int lap = 0; lap < 2; lap++) {
      for (int i = 0; i < SLOTS; i++) {
        write(1);
      }
      sender.flush();
      told.consumed(writer.position());
    }
    write(3);
    sender.flush();
    assertEquals(List.of(4, 4, 4, 4, 4, 4, 4, 4, 3), sentSlots());
    sent.forEach(this::take);
    assertEquals(2 * SLOTS + 1, taken.size());
  }

  @Test
  void paddingBeforeTheRingsEndGoesAlong() {
    for (int i = 0; i < SLOTS - 1; i++) {
      write(1);
    }
    sender.flush();
    sent.forEach(this::take);
    told.consumed(poller.position());
    sent.clear();
    write(2);
    sender.flush();
    assertEquals(List.of(1, 2), sentSlots());
    sent.forEach(this::take);
    assertEquals(SLOTS, taken.size());
  }

  /** It tells that there is something to read, and how much. */
  @Test
  void longFrameIsBegun() {
    write(1);
    write(MAX_SLOTS + 1);
    write(1);
    sender.flush();
    assertEquals(List.of(1, MAX_SLOTS, 1), sentSlots());
    assertEquals(1, take(sent.get(0)));
    assertEquals(0, receiver.begun());
    assertEquals(0, take(sent.get(1)));
    assertEquals((MAX_SLOTS + 1) * SLOT, receiver.begun());
    assertDropped(sent.get(2)); // early
    assertEquals(2, receiver.taken());
    assertEquals((MAX_SLOTS + 1) * SLOT, receiver.begun());
    receiver.read();
    assertEquals(0, receiver.begun());

    assertEquals(0, take(sent.get(1)));
    final byte[] image = new byte[(MAX_SLOTS + 1) * SLOT];
    theirs.getBytes(RING + SLOT, image, 0, image.length);
    final DirectRegion fetched = new DirectRegion(image.length);
    fetched.putBytes(0, image, 0, image.length);
    poller.pollFetched(fetched, 0, image.length, (s, f, c, a, region, o, l) -> true, LIMIT);
    assertEquals(0, receiver.begun(), "taken elsewhere");
    assertEquals(1, take(sent.get(2)));
  }

  @Test
  void whoDoesNotFetchIsSentNone() {
    told.fetching(false);
    write(MAX_SLOTS);
    write(1);
    sender.flush();
    told.fetching(true);
    sender.flush();
    assertEquals(List.of(), sentSlots());
    write(1);
    sender.drop();
    sender.flush();
    assertEquals(List.of(), sentSlots());
    write(2);
    sender.flush();
    assertEquals(List.of(2), sentSlots());
  }

  @Test
  void whatFindsNoRoomIsNotTriedAgain() {
    posted = QueuePair.SEND_QUEUE_FULL;
    write(1);
    sender.flush();
    assertEquals(0, sender.sent());
    assertEquals(1, sender.unsent());
    posted = QueuePair.POSTED;
    sender.flush();
    assertEquals(1, sent.size());
    write(1);
    sender.flush();
    assertEquals(2, sent.size());
    assertEquals(1, sender.sent());
  }

  /** Late, twice, early, of a former lap and of another session. */
  @Test
  void whatIsNotNextIsDropped() {
    final byte[] other = new byte[SLOT];
    write(newWriter(EPOCH + 1, START), 1);
    theirs.getBytes(RING, other, 0, SLOT);
    for (int i = 0; i < 3 * SLOTS; i++) {
      write(1);
      sender.flush();
      told.consumed(writer.position());
    }
    assertDropped(other);
    assertDropped(sent.get(1));
    assertEquals(1, take(sent.get(0)));
    assertDropped(sent.get(0));
    for (int i = 1; i < SLOTS; i++) {
      assertEquals(1, take(sent.get(i)));
    }
    assertDropped(sent.get(0)); // that place, a lap ago
    assertDropped(sent.get(2 * SLOTS));
    assertEquals(1, take(sent.get(SLOTS)));
  }

  /** Whichever byte is another one. Not even one that no peer may write ends the session. */
  @Test
  void damageIsDropped() {
    write(1);
    write(2);
    sender.flush();
    final byte[] right = sent.get(0);
    for (int i = 0; i < right.length; i++) {
      for (int bit = 0; bit < 8; bit++) {
        restart();
        final byte[] damaged = right.clone();
        damaged[i] ^= (byte) (1 << bit);
        assertEquals(i < SLOT ? 0 : 1, take(damaged), "byte=" + i + " bit=" + bit);
      }
    }
    restart();
    assertDropped(new byte[0]);
    assertDropped(new byte[7]);
    assertDropped(new byte[MAX_SLOTS * SLOT]);
    assertEquals(2, take(right));
  }

  /** The first frame is whole, of the other there is a part. */
  @Test
  void whatIsCutOffIsBegun() {
    write(1);
    write(2);
    sender.flush();
    assertEquals(1, take(Arrays.copyOf(sent.get(0), 2 * SLOT)));
    assertEquals(2 * SLOT, receiver.begun());
    assertEquals(1, receiver.taken());
  }

  /** It is as good as lost: nothing tells that there is more of it to be read. */
  @Test
  void damageOfAWholeFrameIsNotItsBeginning() {
    write(1);
    sender.flush();
    final byte[] damaged = sent.get(0).clone();
    damaged[FrameDescriptor.PAYLOAD_OFFSET] ^= 1;
    assertDropped(damaged);
    assertEquals(0, receiver.begun());
    assertEquals(0, receiver.taken());
  }

  /** So callers that wait for datagrams learn that they do not wait for long enough. */
  @Test
  void whatComesAfterItWasFetchedIsLate() {
    write(1);
    write(1);
    sender.flush();
    final byte[] first = Arrays.copyOf(sent.get(0), SLOT);
    final long start = poller.position();
    assertEquals(1, take(first));
    assertDropped(first);
    assertEquals(0, receiver.late(), "twice, and in time");
    receiver.fetched(start);
    assertDropped(first);
    assertEquals(1, receiver.late());
    assertDropped(Arrays.copyOf(first, SLOT - 1));
    assertDropped(new byte[0]); // behind what stands there of the one before
    assertEquals(1, receiver.late(), "too short to say");
  }

  @Test
  void whoGetsNoDatagramAnyMoreKnows() {
    assertEquals(0, take(new byte[0]));
    assertFalse(receiver.isBroken());
    closed = true;
    assertEquals(0, take(new byte[0]));
    assertTrue(receiver.isBroken());
  }

  /** One datagram with both frames, or two. Nothing is believed afterwards. */
  @Test
  void provedFrameThatNoPeerMayWriteEndsTheSession() {
    write(1);
    sender.flush();
    write(1);
    sender.flush();
    write(1);
    write(1);
    sender.flush();
    refused = 2;
    arriving.addAll(sent.subList(0, 2));
    assertEquals(RingPoller.PROTOCOL_VIOLATION, take(sent.get(2)));
    assertEquals(List.of(1, 2), taken);

    restart();
    refused = 3;
    arriving.addAll(sent.subList(0, 2));
    assertEquals(RingPoller.PROTOCOL_VIOLATION, take(sent.get(2)));
    assertEquals(List.of(1, 2, 3), taken);
  }

  @Test
  void framesOfAllDatagramsCount() {
    for (int i = 0; i < 3; i++) {
      write(1);
      sender.flush();
    }
    arriving.addAll(sent.subList(0, 2));
    assertEquals(3, take(sent.get(2)));
  }
}
