package dev.ringfetch.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.hunt.Rounds;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Memory whose owner writes what it should not: readers do bounded work, and say so. */
@Timeout(60)
class HostileMemoryTest {
  private static final int CAPACITY = 200;
  private static final int RING = BroadcastDescriptor.MIN_RING_LENGTH;
  private static final int LOADS = 64 * 40; // of one read, at the most

  private final long firstSeed = Long.getLong("ringfetch.seed", 1);

  /** Reads that count, in order or not. */
  private static final class Counted implements RegionReads {
    private final RegionReads reads;
    private final boolean isMapped;
    int count;

    Counted(DirectRegion memory, boolean isMapped) {
      this.reads = new MappedReads(memory, () -> true);
      this.isMapped = isMapped;
    }

    @Override
    public long load(int offset) throws LostMemoryException {
      count++;
      return reads.load(offset);
    }

    @Override
    public void copy(int offset, int length, byte[] target) throws LostMemoryException {
      count++;
      reads.copy(offset, length, target);
    }

    @Override
    public boolean isMapped() {
      return isMapped;
    }

    @Override
    public void verify() {}
  }

  /** A word that is likely to be looked at twice. */
  private static long word(SplittableRandom random) {
    return switch (random.nextInt(8)) {
      case 0 -> random.nextLong();
      case 1 -> -1 - random.nextInt(3);
      case 2 -> Long.MIN_VALUE + random.nextInt(9);
      case 3 -> Long.MAX_VALUE - random.nextInt(9);
      case 4 -> random.nextInt(2 * RING);
      case 5 -> 8L * random.nextInt(2 * RING);
      default -> random.nextInt(64);
    };
  }

  private static DirectRegion memory(int length, SplittableRandom random) {
    final DirectRegion memory = new DirectRegion(length);
    for (int i = 0; i < length; i += Long.BYTES) {
      memory.putLong(i, word(random));
    }
    return memory;
  }

  @Test
  void anyMemoryOfAValueIsReadInBounds() {
    int read = 0;
    for (long seed = firstSeed; seed < firstSeed + Rounds.of(20_000, 4_000); seed++) {
      final SplittableRandom random = new SplittableRandom(seed);
      final boolean isMapped = random.nextBoolean();
      final Counted reads =
          new Counted(memory(ValueDescriptor.memoryLength(CAPACITY), random), isMapped);
      final ValueImage image = new ValueImage(CAPACITY);
      try {
        if (image.read(reads) && image.version() != 0) {
          assertTrue(image.value().remaining() <= CAPACITY);
          assertTrue(isMapped, "a checksum fits");
          read++;
        }
      } catch (LostMemoryException e) {
        read++; // closed
      } catch (RuntimeException e) {
        throw new AssertionError("seed=" + seed, e);
      }
      assertTrue(reads.count <= LOADS, "seed=" + seed + " loads=" + reads.count);
    }
    assertTrue(read > 100, "read=" + read);
  }

  @Test
  void anyMemoryOfABroadcastIsReadInBounds() {
    int malformed = 0;
    int messages = 0;
    for (long seed = firstSeed; seed < firstSeed + Rounds.of(20_000, 4_000); seed++) {
      final SplittableRandom random = new SplittableRandom(seed);
      final DirectRegion memory = memory(BroadcastDescriptor.memoryLength(RING), random);
      final Counted reads = new Counted(memory, true);
      final BroadcastCursor cursor = new BroadcastCursor(RING);
      try {
        if (random.nextBoolean()) {
          cursor.moveToEnd(reads);
        } else {
          cursor.move(8L * random.nextInt(RING / 8 - 1), random.nextInt(64));
        }
        cursor.fill(reads);
        while (cursor.next()) {
          assertTrue(cursor.message().remaining() <= RING);
          messages++;
        }
      } catch (MalformedMemoryException e) {
        malformed++;
      } catch (LostMemoryException e) {
        messages++; // closed
      } catch (RuntimeException e) {
        throw new AssertionError("seed=" + seed, e);
      }
      assertTrue(reads.count <= LOADS, "seed=" + seed + " loads=" + reads.count);
    }
    assertTrue(malformed > 100 && messages > 10, malformed + " " + messages);
  }

  /** A record in the place of another one, of a right form. */
  @Test
  void messagesOutOfOrderAreRefused() {
    final DirectRegion memory = new DirectRegion(BroadcastDescriptor.memoryLength(RING));
    final BroadcastWriter writer = new BroadcastWriter(memory, RING);
    publish(writer, 3);
    final int third = BroadcastDescriptor.RING_OFFSET + 2 * 24;
    memory.putLong(third + BroadcastDescriptor.SEQUENCE_OFFSET, 5);
    final BroadcastCursor cursor = new BroadcastCursor(RING);
    final MalformedMemoryException thrown =
        assertThrows(
            MalformedMemoryException.class,
            () -> {
              cursor.fill(new MappedReads(memory, () -> true));
              assertTrue(cursor.next());
              assertTrue(cursor.next());
              cursor.next();
            });
    assertEquals("sequence=5 expected=2", thrown.getMessage());
  }

  /** A reader that is lapped again before it has copied the latest message. */
  @Test
  void allLapsAreCounted() throws Exception {
    final DirectRegion memory = new DirectRegion(BroadcastDescriptor.memoryLength(RING));
    final BroadcastWriter writer = new BroadcastWriter(memory, RING);
    publish(writer, 400);
    final RegionReads own = new MappedReads(memory, () -> true);
    final RegionReads lapped =
        new RegionReads() {
          private int laps;

          @Override
          public long load(int offset) throws LostMemoryException {
            return own.load(offset);
          }

          @Override
          public void copy(int offset, int length, byte[] target) throws LostMemoryException {
            own.copy(offset, length, target);
            if (laps++ < 2) {
              publish(writer, 400);
            }
          }

          @Override
          public boolean isMapped() {
            return true;
          }

          @Override
          public void verify() {}
        };
    final BroadcastCursor cursor = new BroadcastCursor(RING);
    assertEquals(3 * 400 - 1, cursor.fill(lapped));
    assertTrue(cursor.next());
    assertEquals(399, cursor.message().getLong());
    assertFalse(cursor.next());
  }

  private static void publish(BroadcastWriter writer, int count) {
    for (int i = 0; i < count; i++) {
      writer.buffer().putLong(i);
      writer.write();
    }
  }

  /** Padding in the place of all records, in a ring that grows with each look. */
  @Test
  void paddingThatNeverEndsIsRefused() {
    final RegionReads padding =
        new RegionReads() {
          private long tail;

          @Override
          public long load(int offset) {
            if (offset == BroadcastDescriptor.TAIL_OFFSET) {
              assertTrue(tail < 100 * RING, "the ring's end is looked for again and again");
              return tail += RING;
            }
            return offset == BroadcastDescriptor.INTENT_OFFSET ? tail : 0;
          }

          @Override
          public void copy(int offset, int length, byte[] target) {
            Arrays.fill(target, 0, length, (byte) BroadcastDescriptor.PADDING);
          }

          @Override
          public boolean isMapped() {
            return true;
          }

          @Override
          public void verify() {}
        };
    final BroadcastCursor cursor = new BroadcastCursor(RING);
    cursor.move(8, 0);
    assertThrows(
        MalformedMemoryException.class,
        () -> {
          cursor.fill(padding);
          cursor.next();
        });
  }

  /** What was loaded from memory that is gone means nothing. */
  @Test
  void memoryThatIsGoneIsNotMalformed() {
    final DirectRegion memory = new DirectRegion(BroadcastDescriptor.memoryLength(RING));
    publish(new BroadcastWriter(memory, RING), 400);
    memory.putLong(BroadcastDescriptor.LATEST_OFFSET, -8);
    for (final boolean isGone : new boolean[] {false, true}) {
      final RegionReads reads = new MappedReads(memory, () -> !isGone);
      final Class<? extends Exception> expected =
          isGone ? LostMemoryException.class : MalformedMemoryException.class;
      assertThrows(expected, () -> new BroadcastCursor(RING).moveToEnd(reads));
      assertThrows(expected, () -> new BroadcastCursor(RING).fill(reads));
    }
  }

  /** Loads of a page that is gone may return what says closed: the error is thrown all the same. */
  @Test
  void memoryThatIsGoneIsNotClosed() {
    final DirectRegion memory =
        new DirectRegion(BroadcastDescriptor.memoryLength(RING)) {
          @Override
          public void verify() {
            throw new InternalError("a page is gone");
          }
        };
    memory.putLong(ValueDescriptor.VERSION_OFFSET, ValueDescriptor.CLOSED);
    memory.putLong(BroadcastDescriptor.TAIL_OFFSET, BroadcastDescriptor.CLOSED);
    final RegionReads reads = new MappedReads(memory, () -> true);
    assertThrows(InternalError.class, () -> new ValueImage(CAPACITY).read(reads));
    assertThrows(InternalError.class, () -> new BroadcastCursor(RING).fill(reads));
    assertThrows(InternalError.class, () -> new BroadcastCursor(RING).moveToEnd(reads));
  }

  /** The latest message must not be older than what the reader has seen. */
  @Test
  void sequenceThatGoesBackIsRefused() {
    final DirectRegion memory = new DirectRegion(BroadcastDescriptor.memoryLength(RING));
    final BroadcastWriter writer = new BroadcastWriter(memory, RING);
    publish(writer, 400); // two laps
    final BroadcastCursor cursor = new BroadcastCursor(RING);
    cursor.move(0, 1000);
    final MalformedMemoryException thrown =
        assertThrows(
            MalformedMemoryException.class, () -> cursor.fill(new MappedReads(memory, () -> true)));
    assertEquals("sequence=399 before=1000", thrown.getMessage());
  }
}
