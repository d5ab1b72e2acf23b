package dev.ringfetch.ring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RingFetcherTest {
  private static final int SLOT = FrameDescriptor.SLOT_LENGTH;
  private static final int RING = ArenaDescriptor.REQUEST_RING_OFFSET;
  private static final int LINE = ArenaDescriptor.SERVER_CONTROL_OFFSET;
  private static final int SLOTS = 256;
  private static final int MAX_FRAME = 8 * 1024 + 10; // not whole slots
  private static final long EPOCH = 0x1234_5678_9ABC_DEF0L;
  private static final long START = -SLOTS; // overflows after a lap
  private static final int LIMIT = SLOTS;

  /** A read that was posted. */
  private record Read(
      int remoteOffset, MemoryRegion local, int localOffset, int length, int first, long id) {}

  private final DirectRegion theirs = new DirectRegion(RING + SLOTS * SLOT);
  private final DirectRegion mine = new DirectRegion(RING + SLOTS * SLOT);
  private final QueuePair writing = mock(QueuePair.class);
  private final QueuePair reading = mock(QueuePair.class);
  private final RemoteMemory remote = new RemoteMemory(0, theirs.length(), 0);
  private final Deque<Read> posted = new ArrayDeque<>();
  private final Deque<Integer> refusals = new ArrayDeque<>(); // of the next posts, or POSTED
  private final Deque<Runnable> completions = new ArrayDeque<>();
  private final List<Integer> lengths = new ArrayList<>();
  private CompletionQueue.Handler handler;
  private int scratchLength;
  private ControlFlyweight told;
  private ControlFlyweight theirLine;
  private RingWriter writer;
  private RingPoller poller;
  private RingFetcher fetcher;

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
  private void execute() {
    while (!posted.isEmpty()) {
      Read read = posted.remove();
      byte[] bytes = new byte[read.length];
      theirs.getBytes(read.remoteOffset, bytes, 0, read.length);
      read.local.putBytes(read.localOffset, bytes, 0, read.length);
      complete(read, QueuePair.SUCCESS);
    }
  }

  private void complete(Read read, int status) {
    if (read.id != QueuePair.UNSIGNALED) {
      completions.add(() -> handler.onCompletion(read.id, status, read.length));
    }
  }

  private void assertPosted(int offset, int length) {
    assertEquals(QueuePair.POSTED, fetcher.post(false));
    assertTrue(fetcher.isPending());
    assertEquals(1, posted.size());
    assertEquals(offset, posted.peek().remoteOffset);
    assertEquals(length, posted.peek().length);
    assertEquals(0, posted.peek().first, "word 0 of the head comes first");
  }

  /** Posts, has the window come, and returns how long it was. */
  private int fetch() {
    assertEquals(QueuePair.POSTED, fetcher.post(false));
    int length = posted.peekLast().length;
    execute();
    assertTrue(fetcher.poll());
    assertFalse(fetcher.isPending());
    return length;
  }

  private boolean keep(
      int streamId, int flags, int code, int ack, MemoryRegion memory, int offset, int length) {
    byte[] payload = new byte[length];
    memory.getBytes(offset, payload, 0, length);
    for (byte b : payload) {
      assertEquals((byte) streamId, b);
    }
    return lengths.add(length);
  }

  private int take() {
    return fetcher.take(this::keep, LIMIT);
  }

  /** Writes a frame of this many slots; it is told that all before it was consumed. */
  private void write(int slots) {
    told.consumed(poller.position());
    int length = FrameDescriptor.maxPayload(slots);
    byte[] payload = new byte[length];
    Arrays.fill(payload, (byte) slots);
    assertEquals(RingWriter.WRITTEN, writer.write(slots, 0, 0, 0, payload, 0, length));
  }

  private void word0(int length) {
    int tag = FrameDescriptor.tag(EPOCH, poller.position());
    int index = (int) (poller.position() & (SLOTS - 1));
    theirs.putLong(RING + index * SLOT, FrameDescriptor.word0(tag, length));
  }

  /** Has the head stand at this slot of the ring, by frames of one slot that were placed. */
  private void advance(int slots) {
    for (int i = 0; i < slots; i++) {
      write(1);
      place();
      assertEquals(1, poller.poll(this::keep, 1));
    }
    lengths.clear();
  }

  /** What is written is also placed in the reader's memory. */
  private void place() {
    byte[] bytes = new byte[SLOTS * SLOT];
    theirs.getBytes(RING, bytes, 0, bytes.length);
    mine.putBytes(RING, bytes, 0, bytes.length);
  }

  @Test
  void windowBeginsAtTheHead() {
    assertPosted(RING, 256);
    assertFalse(fetcher.poll(), "nothing has come");
    assertTrue(fetcher.isPending());
    execute();
    assertTrue(fetcher.poll());
    assertFalse(fetcher.poll(), "it has come before");
    advance(3);
    assertPosted(RING + 3 * SLOT, 256);
  }

  @Test
  void missIsAMiss() {
    assertEquals(256, fetch());
    assertFalse(fetcher.hasFrame());
    assertEquals(0, take());
    assertFalse(fetcher.hasLine());
    assertEquals(START, poller.position());
  }

  @Test
  void nothingBeforeTheFirstPost() {
    assertFalse(fetcher.isPending());
    assertFalse(fetcher.hasFrame());
    assertFalse(fetcher.hasLine());
    assertFalse(fetcher.poll());
    assertEquals(0, take());
    assertEquals(256, fetch());
  }

  @Test
  void manyFramesInAWindow() {
    write(1);
    write(2);
    write(1);
    write(1);
    fetch();
    assertTrue(fetcher.hasFrame());
    assertEquals(3, take());
    assertEquals(List.of(32, 96, 32), lengths);
    assertFalse(fetcher.hasFrame());
    assertEquals(0, take());
    assertPosted(RING + 4 * SLOT, 512);
  }

  @Test
  void nothingIsTakenWhileAReadIsUnderWay() {
    write(1);
    write(1);
    fetch();
    assertEquals(1, fetcher.take(this::keep, 1));
    assertEquals(QueuePair.POSTED, fetcher.post(false));
    assertFalse(fetcher.hasFrame());
    assertEquals(0, take());
    assertThrows(IllegalStateException.class, () -> fetcher.post(false));
    assertEquals(1, posted.size());
    execute();
    assertFalse(fetcher.hasFrame(), "it may have come in part");
    assertEquals(0, take());
    assertTrue(fetcher.poll());
    assertEquals(1, take());
  }

  @Test
  void framesBeyondTheLimitStay() {
    for (int i = 0; i < 4; i++) {
      write(1);
    }
    fetch();
    assertEquals(1, fetcher.take(this::keep, 1));
    assertTrue(fetcher.hasFrame());
    assertEquals(0, fetcher.take(this::keep, 0));
    assertEquals(2, fetcher.take(this::keep, 2));
    assertEquals(1, take());
    assertEquals(4, lengths.size());
  }

  @Test
  void frameThatTheWindowCutsIsTheFirstOfTheNext() {
    write(3);
    write(10);
    assertEquals(256, fetch());
    assertEquals(1, take());
    assertTrue(fetcher.hasFrame());
    assertEquals(0, take());
    assertEquals(640, fetch());
    assertEquals(1, take());
    assertEquals(List.of(160, 608), lengths);
  }

  @Test
  void windowIsAsLongAsTheFrameAtTheHead() {
    write(128);
    assertEquals(256, fetch());
    assertEquals(0, take());
    assertTrue(fetcher.hasFrame());
    assertEquals(128 * SLOT, fetch());
    assertEquals(1, take());
    assertEquals(List.of(FrameDescriptor.maxPayload(128)), lengths);
    assertFalse(fetcher.hasFrame(), "the scratch ends here");
  }

  /** It is neither a miss nor a window that was too short. */
  @Test
  void tornFrameLeavesTheWindowAsItIs() {
    for (int expected : new int[] {256, 512}) {
      write(expected / SLOT);
      int last = RING + (int) (poller.position() & (SLOTS - 1)) * SLOT + expected - 2 * Long.BYTES;
      theirs.putLong(last, ~theirs.getLong(last));
      assertEquals(expected, fetch());
      assertEquals(0, take());
      theirs.putLong(last, ~theirs.getLong(last));
      assertEquals(expected, fetch());
      assertEquals(1, take());
    }
    assertEquals(1024, fetch());
  }

  @Test
  void tornFrameIsNoMiss() {
    write(4);
    fetch();
    assertEquals(1, take());
    write(1);
    int crc = RING + 4 * SLOT + FrameDescriptor.CRC32C_OFFSET;
    theirs.putInt(crc, ~theirs.getInt(crc));
    assertEquals(512, fetch());
    assertEquals(0, take());
    assertEquals(512, fetch());
  }

  /** What the length says stays known while the rest of the frame is on its way. */
  @Test
  void tornFrameIsFetchedAgainAsLongAsItIs() {
    write(100);
    int last = RING + 99 * SLOT;
    theirs.putLong(last, ~theirs.getLong(last));
    fetch();
    assertEquals(0, take());
    assertEquals(100 * SLOT, fetch());
    assertTrue(fetcher.hasFrame());
    assertEquals(0, take());
    assertEquals(1, poller.torn());
    theirs.putLong(last, ~theirs.getLong(last));
    assertEquals(100 * SLOT, fetch());
    assertEquals(1, take());
  }

  @Test
  void windowGrowsWhileItComesBackFull() {
    List<Integer> windows = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      while (writer.position() - poller.position() < 64) {
        write(1);
      }
      windows.add(fetch());
      take();
    }
    assertEquals(List.of(256, 512, 1024, 2048, 4096, 4096), windows);
    while (poller.position() != writer.position()) {
      fetch();
      take();
    }
    for (int miss = 0; miss <= RingFetcher.MAX_MISSES; miss++) {
      assertTrue(fetch() > 256);
      assertEquals(0, take());
    }
    assertEquals(256, fetch());
  }

  @Test
  void windowIsAsLongAsWhatTheLastHasBrought() {
    List<Integer> windows = new ArrayList<>();
    for (int slots : new int[] {17, 17, 17, 16, 9, 8, 8, 1, 1}) {
      write(slots);
      do {
        windows.add(fetch());
      } while (take() == 0);
    }
    assertEquals(
        List.of(256, 17 * SLOT, 1024, 2048, 2048, 2048, 1024, 1024, 512, 1024, 256), windows);
  }

  /** Which may be many: those who wait must not read much. */
  @ParameterizedTest
  @ValueSource(ints = {0, RingFetcher.MAX_MISSES})
  void answersOfOneLengthAreOneReadEachBesidesMisses(int misses) {
    for (int i = 0; i < 8; i++) {
      for (int miss = 0; miss < misses; miss++) {
        fetch();
        assertEquals(0, take());
        assertFalse(fetcher.hasFrame());
      }
      write(20);
      fetch();
      if (i > 1) {
        assertEquals(1, take(), "read in one");
      } else {
        while (take() == 0) {
          fetch();
        }
      }
    }
  }

  @Test
  void windowEndsWithTheRing() {
    advance(SLOTS - 3);
    write(1);
    write(2);
    write(1);
    assertPosted(RING + (SLOTS - 3) * SLOT, 3 * SLOT);
    execute();
    assertTrue(fetcher.poll());
    assertEquals(2, take());
    assertFalse(fetcher.hasFrame());
    assertEquals(QueuePair.POSTED, fetcher.post(false));
    assertEquals(RING, posted.peek().remoteOffset);
    execute();
    assertTrue(fetcher.poll());
    assertEquals(1, take());
    assertEquals(List.of(32, 96, 32), lengths);
  }

  @Test
  void paddingAtTheEndOfTheRingIsTaken() {
    advance(SLOTS - 10);
    write(12); // behind padding of 10
    assertEquals(256, fetch());
    assertEquals(0, take());
    assertEquals(10 * SLOT, fetch());
    assertEquals(1, take());
    assertEquals(List.of(), lengths);
    fetch();
    assertEquals(1, take());
    assertEquals(List.of(FrameDescriptor.maxPayload(12)), lengths);
  }

  @ParameterizedTest
  @ValueSource(
      ints = {-1, -64, Integer.MIN_VALUE, Integer.MAX_VALUE, SLOTS * SLOT - 31, SLOTS * SLOT})
  void hostileLengthIsAViolation(int length) {
    word0(length);
    fetch();
    assertTrue(fetcher.hasFrame());
    assertEquals(RingPoller.PROTOCOL_VIOLATION, take());
  }

  @Test
  void frameBeyondTheEndOfTheRingIsAViolation() {
    advance(SLOTS - 2);
    word0(FrameDescriptor.maxPayload(2) + 1);
    fetch();
    assertEquals(RingPoller.PROTOCOL_VIOLATION, take());
  }

  /** The scratch holds the longest frame that was agreed on: a longer one is never asked for. */
  @Test
  void frameLongerThanAgreedIsAViolation() {
    int longest = MAX_FRAME / SLOT;
    assertEquals(ControlDescriptor.CONTROL_LENGTH + longest * SLOT, scratchLength);
    word0(FrameDescriptor.maxPayload(longest));
    fetch();
    assertEquals(0, take());
    assertEquals(longest * SLOT, fetch());
    word0(FrameDescriptor.maxPayload(longest) + 1);
    fetch();
    assertEquals(RingPoller.PROTOCOL_VIOLATION, take());
  }

  @Test
  void scratchIsNoLongerThanTheRing() throws IOException {
    new RingFetcher(reading, poller, RING, 2 * SLOT, LINE, MAX_FRAME);
    assertEquals(ControlDescriptor.CONTROL_LENGTH + 2 * SLOT, scratchLength);
    new RingFetcher(reading, poller, RING, 1 << 20, LINE, SLOT);
    assertEquals(ControlDescriptor.CONTROL_LENGTH + RingFetcher.MAX_WINDOW, scratchLength);
  }

  @ParameterizedTest
  @ValueSource(ints = {QueuePair.SEND_QUEUE_FULL, QueuePair.CLOSED})
  void whatASendQueueRefusesIsNotUnderWay(int refused) {
    write(1);
    write(1);
    fetch();
    assertEquals(1, fetcher.take(this::keep, 1));
    refusals.add(refused);
    assertEquals(refused, fetcher.post(false));
    assertFalse(fetcher.isPending());
    assertFalse(fetcher.poll());
    assertEquals(1, take(), "what was fetched before is still there");
    refusals.addAll(List.of(refused));
    assertEquals(refused, fetcher.post(true));
    refusals.addAll(List.of(QueuePair.POSTED, refused));
    assertEquals(refused, fetcher.post(true));
    assertFalse(fetcher.isPending());
    execute(); // of the line alone
    assertFalse(fetcher.poll());
    assertFalse(fetcher.hasLine());
    write(1);
    fetch();
    assertEquals(1, take());
  }

  @Test
  void readThatWasFlushedBringsNothing() {
    write(1);
    fetcher.post(true);
    for (Read read : posted) {
      complete(read, QueuePair.FLUSHED);
    }
    assertFalse(fetcher.poll());
    assertFalse(fetcher.isPending());
    assertFalse(fetcher.hasFrame());
    assertFalse(fetcher.hasLine());
    assertEquals(0, take());
  }

  @Test
  void lineComesWithTheWindow() {
    theirLine.consumed(77);
    theirLine.sleeping(true);
    write(1);
    assertEquals(QueuePair.POSTED, fetcher.post(true));
    assertEquals(2, posted.size());
    Read line = posted.peekFirst();
    assertEquals(LINE, line.remoteOffset);
    assertEquals(ControlDescriptor.CONTROL_LENGTH, line.length);
    assertEquals(QueuePair.UNSIGNALED, line.id, "one completion a post");
    assertFalse(fetcher.hasLine());
    execute();
    assertTrue(fetcher.poll());
    assertTrue(fetcher.hasLine());
    assertEquals(77, fetcher.lineConsumed());
    assertTrue(fetcher.lineSleeping());
    assertFalse(fetcher.lineBlocked());
    assertEquals(1, take());

    theirLine.sleeping(false);
    theirLine.blocked(true);
    fetcher.post(true);
    execute();
    fetcher.poll();
    assertFalse(fetcher.lineSleeping());
    assertTrue(fetcher.lineBlocked());

    fetch();
    assertFalse(fetcher.hasLine());
  }

  /** Frames may be placed as well as fetched: each is taken once, wherever it is met first. */
  @Test
  void framesThatWereTakenElsewhereMeanwhileAreSkipped() {
    write(1);
    write(1);
    write(2);
    fetcher.post(false);
    execute();
    place();
    assertEquals(2, poller.poll(this::keep, 2));
    assertTrue(fetcher.poll());
    assertTrue(fetcher.hasFrame());
    assertEquals(1, take());
    assertEquals(List.of(32, 32, 96), lengths);

    write(3);
    fetcher.post(false);
    execute();
    place();
    assertEquals(1, poller.poll(this::keep, LIMIT));
    assertTrue(fetcher.poll());
    assertFalse(fetcher.hasFrame());
    assertEquals(0, take());
    advance(200);
    assertFalse(fetcher.hasFrame());
    assertEquals(0, take());
  }

  @Test
  void completionsOfOthersAreNotTheWindows() {
    write(1);
    fetcher.post(false);
    completions.add(() -> handler.onCompletion(99, QueuePair.SUCCESS, 8));
    assertFalse(fetcher.poll());
    assertTrue(fetcher.isPending());
    execute();
    assertTrue(fetcher.poll());
    assertEquals(1, take());
  }
}
