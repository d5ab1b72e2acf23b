package dev.ringfetch.ring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import dev.ringfetch.fabric.CompletionQueue;
import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.FabricCapabilities;
import dev.ringfetch.fabric.FabricCapabilities.ReadAtomicity;
import dev.ringfetch.fabric.FabricCapabilities.WriteOrder;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.RemoteMemory;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;

/** A ring in the memory of a peer, its fetcher, and the card in between, which a test drives. */
abstract class FetchedRing {
  static final int SLOT = FrameDescriptor.SLOT_LENGTH;
  static final int RING = ArenaDescriptor.REQUEST_RING_OFFSET;
  static final int LINE = ArenaDescriptor.SERVER_CONTROL_OFFSET;
  static final int SLOTS = 256;
  static final int MAX_FRAME = 8 * 1024 + 10; // not whole slots
  static final long EPOCH = 0x1234_5678_9ABC_DEF0L;
  static final long START = -SLOTS; // overflows after a lap
  static final int LIMIT = SLOTS;

  /** A read that was posted. */
  record Read(
      int remoteOffset, MemoryRegion local, int localOffset, int length, int first, long id) {}

  final DirectRegion theirs = new DirectRegion(RING + SLOTS * SLOT);
  final DirectRegion mine = new DirectRegion(RING + SLOTS * SLOT);
  final QueuePair writing = mock(QueuePair.class);
  final QueuePair reading = mock(QueuePair.class);
  final RemoteMemory remote = new RemoteMemory(0, theirs.length(), 0);
  final Deque<Read> posted = new ArrayDeque<>();
  final Deque<Integer> refusals = new ArrayDeque<>(); // of the next posts, or POSTED
  final Deque<Runnable> completions = new ArrayDeque<>();
  final List<Integer> lengths = new ArrayList<>();
  CompletionQueue.Handler handler;
  int scratchLength;
  ControlFlyweight told;
  ControlFlyweight theirLine;
  RingWriter writer;
  RingPoller poller;
  RingFetcher fetcher;

  @BeforeEach
  void create() throws IOException {
    FabricCapabilities capabilities =
        new FabricCapabilities(WriteOrder.NONE, ReadAtomicity.NONE, false, 0);
    when(writing.memory()).thenReturn(theirs);
    when(writing.capabilities()).thenReturn(capabilities);
    when(reading.memory()).thenReturn(mine);
    when(reading.capabilities()).thenReturn(capabilities);
    when(reading.remote()).thenReturn(remote);
    when(reading.scratch(anyInt()))
        .thenAnswer(
            call -> {
              scratchLength = call.getArgument(0);
              return new DirectRegion(scratchLength);
            });
    when(reading.read(any(), anyInt(), any(), anyInt(), anyInt(), anyInt(), anyLong()))
        .thenAnswer(
            call -> {
              assertEquals(remote, call.getArgument(0));
              int refusal = refusals.isEmpty() ? QueuePair.POSTED : refusals.remove();
              if (refusal == QueuePair.POSTED) {
                posted.add(
                    new Read(
                        call.getArgument(1),
                        call.getArgument(2),
                        call.getArgument(3),
                        call.getArgument(4),
                        call.getArgument(5),
                        call.getArgument(6)));
              }
              return refusal;
            });
    when(reading.completions())
        .thenReturn(
            (told, limit) -> {
              handler = told;
              int polled = 0;
              for (; polled < limit && !completions.isEmpty(); polled++) {
                completions.remove().run();
              }
              return polled;
            });
    told = new ControlFlyweight(writing, 0);
    told.consumed(START);
    theirLine = new ControlFlyweight(writing, LINE);
    writer = new RingWriter(writing, RING, SLOTS * SLOT, EPOCH, START, told);
    poller =
        new RingPoller(reading, RING, SLOTS * SLOT, EPOCH, START, new ControlFlyweight(reading, 0));
    fetcher = new RingFetcher(reading, poller, RING, SLOTS * SLOT, LINE, MAX_FRAME);
  }

  /** The card executes what was posted. */
  void execute() {
    while (!posted.isEmpty()) {
      Read read = posted.remove();
      byte[] bytes = new byte[read.length];
      theirs.getBytes(read.remoteOffset, bytes, 0, read.length);
      read.local.putBytes(read.localOffset, bytes, 0, read.length);
      complete(read, QueuePair.SUCCESS);
    }
  }

  void complete(Read read, int status) {
    if (read.id != QueuePair.UNSIGNALED) {
      completions.add(() -> handler.onCompletion(read.id, status, read.length));
    }
  }

  void assertPosted(int offset, int length) {
    assertEquals(QueuePair.POSTED, fetcher.post(false));
    assertTrue(fetcher.isPending());
    assertEquals(1, posted.size());
    assertEquals(offset, posted.peek().remoteOffset);
    assertEquals(length, posted.peek().length);
    assertEquals(0, posted.peek().first, "word 0 of the head comes first");
  }

  /** Posts, has the window come, and returns how long it was. */
  int fetch() {
    assertEquals(QueuePair.POSTED, fetcher.post(false));
    int length = posted.peekLast().length;
    execute();
    assertTrue(fetcher.poll());
    assertFalse(fetcher.isPending());
    return length;
  }

  boolean keep(
      int streamId, int flags, int code, int ack, MemoryRegion memory, int offset, int length) {
    byte[] payload = new byte[length];
    memory.getBytes(offset, payload, 0, length);
    for (byte b : payload) {
      assertEquals((byte) streamId, b);
    }
    return lengths.add(length);
  }

  int take() {
    return fetcher.take(this::keep, LIMIT);
  }

  /** Writes a frame of this many slots; it is told that all before it was consumed. */
  void write(int slots) {
    told.consumed(poller.position());
    int length = FrameDescriptor.maxPayload(slots);
    byte[] payload = new byte[length];
    Arrays.fill(payload, (byte) slots);
    assertEquals(RingWriter.WRITTEN, writer.write(slots, 0, 0, 0, payload, 0, length));
  }

  void word0(int length) {
    int tag = FrameDescriptor.tag(EPOCH, poller.position());
    int index = (int) (poller.position() & (SLOTS - 1));
    theirs.putLong(RING + index * SLOT, FrameDescriptor.word0(tag, length));
  }

  /** Has the head stand at this slot of the ring, by frames of one slot that were placed. */
  void advance(int slots) {
    for (int i = 0; i < slots; i++) {
      write(1);
      place();
      assertEquals(1, poller.poll(this::keep, 1));
    }
    lengths.clear();
  }

  /** What is written is also placed in the reader's memory. */
  void place() {
    byte[] bytes = new byte[SLOTS * SLOT];
    theirs.getBytes(RING, bytes, 0, bytes.length);
    mine.putBytes(RING, bytes, 0, bytes.length);
  }
}
