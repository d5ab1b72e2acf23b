package dev.ringfetch.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.hunt.Rounds;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Writers and readers of values and broadcasts, access by access in an order that a seed draws,
 * with late and reordered stores, and writers that stop or die in the middle.
 */
@Timeout(300)
class InterleavingTest {
  private static final int WORDS = 24;
  private static final int LONG_WORDS = 300; // a reader over a card reads one slot
  private static final int READERS = 2;
  private static final int WRITES = 40;
  private static final int READS = 30;
  private static final int MESSAGES = 120;
  private static final int RING = BroadcastDescriptor.MIN_RING_LENGTH;

  private final long firstSeed = Long.getLong("ringfetch.seed", 1);

  /** A run of one seed. */
  @FunctionalInterface
  private interface Run {
    void accept(Turns turns) throws Exception;
  }

  private void seeds(int all, int few, Run run) throws Exception {
    for (long seed = firstSeed; seed < firstSeed + Rounds.of(all, few); seed++) {
      try {
        run.accept(new Turns(seed));
      } catch (AssertionError e) {
        throw new AssertionError("seed=" + seed + ": " + e.getMessage(), e);
      }
    }
  }

  private static RegionReads reads(Turns turns, DirectRegion memory, boolean mapped) {
    return mapped ? new MappedReads(turns.view(memory), () -> true) : turns.card(memory);
  }

  /** What has happened to a value. One writer: these bounds are all that linearizability asks. */
  private static final class History {
    long before; // the largest version of which a write or a read has ended
    long begun; // the largest version of which the write has begun
    boolean isClosed; // perhaps not seen yet
    int whole;
  }

  @Test
  void mappedValuesAreAtomicRegisters() throws Exception {
    seeds(300, 60, turns -> values(turns, true, WORDS));
  }

  @Test
  void postedValuesAreAtomicRegisters() throws Exception {
    seeds(100, 20, turns -> values(turns, false, WORDS));
    seeds(20, 4, turns -> values(turns, false, LONG_WORDS));
  }

  private static void values(Turns turns, boolean mapped, int maxWords) throws Exception {
    final int capacity = maxWords * Long.BYTES;
    final DirectRegion memory = new DirectRegion(ValueDescriptor.memoryLength(capacity));
    final History history = new History();
    final MemoryRegion own = turns.view(memory);
    final int dyingWrite = 1 + turns.random().nextInt(2 * WRITES); // half of the writers live
    final int closingWrite = WRITES / 2 + turns.random().nextInt(WRITES);
    turns.add("writer", () -> set(turns, own, capacity, dyingWrite, closingWrite, history));
    for (int i = 0; i < READERS; i++) {
      final RegionReads reads = reads(turns, memory, mapped);
      turns.add("reader " + i, () -> get(reads, capacity, history));
    }
    turns.run();
    assertTrue(history.whole > 0 || history.isClosed, "no read was whole");
  }

  private static void set(
      Turns turns,
      MemoryRegion memory,
      int capacity,
      int dyingWrite,
      int closingWrite,
      History history) {
    final ValueWriter writer = new ValueWriter(memory, capacity, 0);
    for (int version = 1; version <= WRITES; version++) {
      if (version == dyingWrite) {
        turns.dieAfter(turns.random().nextInt(WORDS));
      }
      if (version == closingWrite) {
        history.isClosed = true;
        writer.close();
        return;
      }
      history.begun = version;
      Words.CODEC.encode(Words.of(version, capacity / Long.BYTES), writer.buffer());
      writer.write();
      if (turns.random().nextBoolean()) { // OwnedValue always does; the layout does not need it
        memory.fullFence();
        history.before = Math.max(history.before, version);
      }
    }
  }

  private static void get(RegionReads reads, int capacity, History history) {
    final ValueImage image = new ValueImage(capacity);
    for (int i = 0; i < READS; i++) {
      final long before = history.before;
      try {
        if (!image.read(reads)) {
          continue;
        }
      } catch (LostMemoryException e) {
        assertTrue(history.isClosed, "lost before it was closed");
        return;
      }
      final long version = image.version();
      assertTrue(version >= before, version + " after " + before);
      assertTrue(version <= history.begun, version + " before it was set");
      history.before = Math.max(history.before, version);
      history.whole++;
      if (version > 0) {
        assertEquals(Words.of(version, capacity / Long.BYTES), Words.CODEC.decode(image.value()));
      }
    }
  }

  @Test
  void mappedMessagesComeInOrderOrAreCounted() throws Exception {
    seeds(200, 40, turns -> messages(turns, true));
  }

  @Test
  void postedMessagesComeInOrderOrAreCounted() throws Exception {
    seeds(100, 20, turns -> messages(turns, false));
  }

  private static void messages(Turns turns, boolean mapped) throws Exception {
    final DirectRegion memory = new DirectRegion(BroadcastDescriptor.memoryLength(RING));
    final MemoryRegion own = turns.view(memory);
    final int dyingWrite = turns.random().nextInt(2 * MESSAGES);
    final long[] published = new long[1];
    final boolean[] isOver = new boolean[1];
    turns.add(
        "writer",
        () -> {
          try {
            publish(turns, own, dyingWrite, number -> published[0] = number);
          } finally {
            isOver[0] = true;
          }
        });
    for (int i = 0; i < READERS; i++) {
      final RegionReads reads = reads(turns, memory, mapped);
      turns.add("reader " + i, () -> poll(turns, reads, published, isOver));
    }
    turns.run();
  }

  /** Messages of up to 60 words: laps after some twenty. */
  private static Words message(long number) {
    return Words.of(number, number % 10 == 0 ? 60 : 12);
  }

  private static void publish(
      Turns turns, MemoryRegion memory, int dyingWrite, LongConsumer published) {
    final BroadcastWriter writer = new BroadcastWriter(memory, RING);
    for (int number = 0; number < MESSAGES; number++) {
      if (number == dyingWrite) {
        turns.dieAfter(turns.random().nextInt(12));
      }
      Words.CODEC.encode(message(number), writer.buffer());
      writer.write();
      memory.fullFence();
      published.accept(number + 1);
    }
  }

  private static void poll(Turns turns, RegionReads reads, long[] published, boolean[] isOver) {
    final BroadcastCursor cursor = new BroadcastCursor(RING);
    long next = 0; // number of the next message, had none been lost
    int idle = 0;
    try {
      while (idle < 3) {
        final long before = published[0];
        final boolean wasOver = isOver[0];
        final long lost = cursor.fill(reads);
        assertTrue(lost >= 0, "lost=" + lost);
        next += lost;
        boolean any = lost > 0;
        while (cursor.next()) {
          assertEquals(message(next), Words.CODEC.decode(cursor.message()));
          next++;
          any = true;
        }
        assertTrue(any || next >= before, next + " of " + before);
        idle = any || !wasOver ? 0 : idle + 1;
        turns.turn();
      }
    } catch (LostMemoryException | MalformedMemoryException e) {
      throw new AssertionError(e);
    }
    assertTrue(next >= published[0] && next <= MESSAGES, next + " of " + published[0]);
  }

  @Test
  void readersBeginBehindTheLatestMessage() throws Exception {
    seeds(
        100,
        20,
        turns -> {
          final DirectRegion memory = new DirectRegion(BroadcastDescriptor.memoryLength(RING));
          final MemoryRegion own = turns.view(memory);
          final long[] published = new long[1];
          turns.add(
              "writer",
              () -> publish(turns, own, Integer.MAX_VALUE, number -> published[0] = number));
          for (int i = 0; i < READERS; i++) {
            final RegionReads reads = reads(turns, memory, i == 0);
            turns.add("reader " + i, () -> begin(turns, reads, published));
          }
          turns.run();
        });
  }

  private static void begin(Turns turns, RegionReads reads, long[] published) {
    try {
      for (int i = 0; i < READS; i++) {
        final long before = published[0];
        final BroadcastCursor cursor = new BroadcastCursor(RING);
        cursor.moveToEnd(reads);
        assertTrue(cursor.sequence() >= before, cursor.sequence() + " after " + before);
        assertTrue(cursor.sequence() <= published[0] + 1, "ahead: " + cursor.sequence());
        long next = cursor.sequence() + cursor.fill(reads);
        while (cursor.next()) {
          assertEquals(message(next++), Words.CODEC.decode(cursor.message()));
        }
        for (int j = 0; j < 20; j++) {
          turns.turn();
        }
      }
    } catch (LostMemoryException | MalformedMemoryException e) {
      throw new AssertionError(e);
    }
  }
}
