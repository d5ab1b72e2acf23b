package dev.ringfetch.session.unit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import dev.ringfetch.counters.Kind;
import dev.ringfetch.counters.Tally;
import dev.ringfetch.fabric.CompletionQueue;
import dev.ringfetch.fabric.CompletionRouter;
import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.RemoteMemory;
import dev.ringfetch.ring.BulkDescriptor;
import dev.ringfetch.ring.ControlFlyweight;
import dev.ringfetch.session.bulk.ArrayPool;
import dev.ringfetch.session.bulk.AttachedMemory;
import dev.ringfetch.session.bulk.BulkAccess;
import dev.ringfetch.session.bulk.ReadWindow;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The pieces of reads whose memory a device reads, and what becomes of units that are dropped. */
class BulkReadsTest {
  private static final int PIECE = ReadWindow.PIECE_LENGTH;
  private static final RemoteMemory REMOTE = new RemoteMemory(0, 1 << 22, 9);

  private final QueuePair queuePair = mock(QueuePair.class);
  private final DirectRegion memory = new DirectRegion(256);
  private final ArrayDeque<Long> posted = new ArrayDeque<>(); // work request ids
  private final List<String> done = new ArrayList<>();
  private int arrivals; // that may be polled
  private ControlFlyweight control;
  private BulkReads<String> reads;

  @BeforeEach
  void create() throws IOException {
    when(queuePair.memory()).thenReturn(memory);
    when(queuePair.scratch(anyInt()))
        .thenAnswer(call -> new DirectRegion((int) call.getArgument(0)));
    when(queuePair.read(any(), anyInt(), any(), anyInt(), anyInt(), anyInt(), anyLong()))
        .thenAnswer(
            call -> {
              final int at = call.getArgument(1);
              final int length = call.getArgument(4);
              final MemoryRegion scratch = call.getArgument(2);
              final int to = call.getArgument(3);
              for (int i = 0; i < length; i += Long.BYTES) {
                scratch.putLong(to + i, at + i);
              }
              posted.add(call.getArgument(6));
              return QueuePair.POSTED;
            });
    when(queuePair.completions()).thenReturn(this::poll);
    control = new ControlFlyweight(queuePair, 0);
    final ReadWindow window = new ReadWindow(queuePair, new CompletionRouter(queuePair));
    BulkAccess.open(window);
    final Tally tally = new Tally(Kind.SESSION);
    reads = new BulkReads<>(done::add, tally, control, window, new ArrayPool(), 8 * PIECE);
  }

  private int poll(CompletionQueue.Handler handler, int limit) {
    int count = 0;
    for (; arrivals > 0 && count < limit; count++) {
      arrivals--;
      handler.onCompletion(posted.remove(), QueuePair.SUCCESS, 0);
    }
    return count;
  }

  private void add(String reader, UnitBuffer unit, int offset, int length) {
    final DirectRegion frame = new DirectRegion(64);
    frame.putInt(BulkDescriptor.REGION_OFFSET, 0);
    frame.putInt(BulkDescriptor.LENGTH_OFFSET, length);
    frame.putLong(BulkDescriptor.OFFSET_OFFSET, offset);
    assertTrue(
        reads.add(
            List.of(new AttachedMemory(null, REMOTE)), frame, 0, BulkDescriptor.DESCRIPTOR_LENGTH));
    reads.lastInto(reader, unit, unit.extend(length));
  }

  private void round(int arrived) {
    arrivals += arrived;
    reads.poll();
    reads.post();
  }

  /** The unit has what stood in the memory from an offset on. */
  private static void assertRead(UnitBuffer unit, int offset) {
    for (int i = 0; i < unit.length(); i += Long.BYTES) {
      assertEquals(offset + i, unit.getLong(i), "i=" + i);
    }
  }

  @Test
  void piecesArePostedAsThereIsRoomAndFillTheUnit() {
    final UnitBuffer unit = new UnitBuffer();
    add("a", unit, 4096, 6 * PIECE);
    round(0);
    assertEquals(4, posted.size());
    for (int i = 1; i <= 6; i++) {
      assertEquals(List.of(), done);
      assertEquals(0, control.released());
      round(1);
      assertEquals(Math.min(4, 6 - i), posted.size());
    }
    assertEquals(List.of("a"), done);
    assertEquals(1, control.released());
    assertTrue(reads.isEmpty());
    assertRead(unit, 4096);
  }

  /** One after the other, whichever is short; and their pieces are under way together. */
  @Test
  void readsAreDoneInTheirOrder() {
    final UnitBuffer one = new UnitBuffer();
    final UnitBuffer two = new UnitBuffer();
    add("one", one, 0, 2 * PIECE);
    add("two", two, 8 * PIECE, 8);
    round(0);
    assertEquals(3, posted.size());
    round(2);
    assertEquals(List.of("one"), done);
    round(1);
    assertEquals(List.of("one", "two"), done);
    assertRead(one, 0);
    assertRead(two, 8 * PIECE);
  }

  /** Posted pieces are awaited, since the device still reads; the others are not posted. */
  @Test
  void unitThatIsDroppedIsReleasedWhenTheDeviceReadsNoMore() {
    final UnitBuffer dropped = new UnitBuffer();
    final UnitBuffer next = new UnitBuffer();
    add("dropped", dropped, 0, 6 * PIECE);
    round(0);
    dropped.clear();
    add("next", next, 16 * PIECE, 2 * PIECE);
    for (int i = 0; i < 4; i++) {
      assertEquals(0, control.released(), "it is being read");
      assertFalse(reads.isEmpty());
      round(1);
    }
    assertEquals(1, control.released());
    assertEquals(2, posted.size(), "those of the next alone");
    round(2);
    assertEquals(2, control.released());
    assertEquals(List.of("next"), done);
    assertRead(next, 16 * PIECE);
  }

  @Test
  void unitThatIsDroppedBeforeAnythingIsPostedCostsNoRead() {
    final UnitBuffer dropped = new UnitBuffer();
    add("dropped", dropped, 0, PIECE);
    dropped.clear();
    round(0);
    assertEquals(0, posted.size());
    assertEquals(1, control.released());
    assertTrue(reads.isEmpty() && reads.canDrain());
  }
}
