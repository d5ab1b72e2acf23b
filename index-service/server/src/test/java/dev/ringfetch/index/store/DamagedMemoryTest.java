package dev.ringfetch.index.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.MappedRegion;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.index.layout.Found;
import dev.ringfetch.index.layout.GroupDescriptor;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.layout.SizeClasses;
import dev.ringfetch.index.partition.Handover;
import dev.ringfetch.index.partition.ImmediateLog;
import dev.ringfetch.index.partition.Partition;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.partition.WriteKind;
import dev.ringfetch.index.v1.Entry;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.io.TempDir;

/**
 * A process of the same user changes index memory, or takes it away, beside the owners: each answer
 * is right, or says that the index is damaged. {@code -Dringfetch.seed=SEED} draws other damage.
 */
@Timeout(value = 120, threadMode = ThreadMode.SEPARATE_THREAD)
class DamagedMemoryTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 26);
  private static final int SEGMENT_LENGTH = 64 << 10;
  private static final int SEGMENTS = 64;
  private static final int KEYS = 200;
  private static final int WORLDS = 60;
  private static final int STEPS = 600;

  private final Random random = new Random(SEED);
  private final List<MemoryRegion> regions = new ArrayList<>();
  private final List<FileChannel> files = new ArrayList<>();
  private final List<Throwable> errors = new ArrayList<>();
  private StoreMemory memory;
  private int faults; // of the thread, not thrown yet

  @TempDir Path directory;

  @BeforeEach
  void open() {
    System.out.println("ringfetch.seed=" + SEED);
    open(DirectRegion::new);
  }

  private void open(StoreMemory.SegmentSource source) {
    regions.clear();
    errors.clear();
    memory =
        Memories.serving(
            Memories.context(SEGMENT_LENGTH, (long) SEGMENTS * SEGMENT_LENGTH)
                .segmentSource(Memories.noting(regions, source)));
  }

  /** An index with its writer and what it must have. */
  private final class Written {
    final HashIndex index = new HashIndex(memory, 1);
    final Partition partition =
        new Partition(index.partition(0), new ImmediateLog(0), 8, errors::add, Handover.never());
    final Map<ByteString, Entry> expected = new HashMap<>();
    boolean damaged;

    /** Writes or reads a key by the owner; checks the answer. */
    void act(ByteString key) {
      final Entry before = expected.get(key);
      final long version = before == null ? 0 : before.getVersion();
      final Write write = new Write(answered -> {});
      final ByteString value = Memories.bytes(random, random.nextInt(30));
      switch (random.nextInt(4)) {
        case 0 -> write.read(key);
        case 1 -> write.put(key, value);
        case 2 -> write.delete(key);
        default -> write.compareAndSet(key, random.nextBoolean() ? version : 1, value);
      }
      assertEquals(0, partition.submit(write));
      if (write.outcome() == Write.DAMAGED) {
        assertTrue(index.isRefused());
        damaged = true;
        return;
      }
      assertFalse(damaged, "answered after damage");
      assertEquals(Write.DONE, write.outcome());
      final boolean found = before != null;
      switch (write.kind()) {
        case READ -> assertEquals(before, write.entry());
        case PUT -> assertEquals(!found, write.created());
        case DELETE -> assertEquals(found, write.existed());
        case COMPARE_AND_SET -> {
          assertEquals(write.expectedVersion() == version, write.applied());
          if (!write.applied()) {
            assertEquals(before, write.entry());
          }
        }
        case INCREMENT, TRANSACTION, TOUCH, TICK, RANGE_BEGIN, RANGE_DELETE, RANGE_END ->
            throw new AssertionError(write.kind());
      }
      if (write.kind() == WriteKind.DELETE) {
        expected.remove(key);
      } else if (write.version() != 0) {
        expected.put(
            key,
            Entry.newBuilder()
                .setKey(key)
                .setValue(write.value())
                .setVersion(write.version())
                .build());
      }
    }

    /** What the server's reader finds is right, or it leaves the answer to the owner. */
    void read(ByteString key, Found found) {
      if (index.newReader().get(key, found) == ReadResult.FOUND) {
        final Entry entry = expected.get(key);
        assertTrue(
            entry != null
                && entry.getVersion() == found.version()
                && Objects.equals(entry.getValue(), found.value()));
      }
    }
  }

  private static ByteString key(int number) {
    return ByteString.copyFromUtf8("key " + number);
  }

  private void scribble() {
    final MemoryRegion region = regions.get(random.nextInt(regions.size()));
    final int at = random.nextInt(SEGMENT_LENGTH) & ~7;
    final long word = region.getLong(at);
    region.putLong(
        at,
        switch (random.nextInt(5)) {
          case 0 -> 0;
          case 1 -> random.nextLong();
          case 2 -> region.getLong(random.nextInt(SEGMENT_LENGTH) & ~7);
          case 3 -> ((long) random.nextInt(SEGMENTS * SEGMENT_LENGTH)) & ~7;
          default -> word ^ (1L << random.nextInt(64));
        });
  }

  @Test
  void answersAreRightOrSayThatTheIndexIsDamaged() {
    int damaged = 0;
    int done = 0;
    final Found found = new Found();
    for (int w = 0; w < WORLDS; w++) {
      open(DirectRegion::new);
      Written written = new Written();
      for (int i = 0; i < KEYS; i++) {
        written.act(key(random.nextInt(KEYS)));
      }
      for (int i = 0; i < STEPS && !written.damaged; i++) {
        for (int s = random.nextInt(4); s > 0; s--) {
          scribble();
        }
        written.act(key(random.nextInt(KEYS)));
        done++;
      }
      damaged += written.damaged ? 1 : 0;
      if (written.damaged) {
        final int reported = errors.size();
        for (int i = 0; i < 20; i++) {
          written.act(key(i));
          assertEquals(ReadResult.CLOSED, written.index.newReader().get(key(i), found));
        }
        assertEquals(reported, errors.size(), "reported once");
        written.index.drop();
        written = new Written(); // in memory that the other one gave back
        for (int i = 0; i < KEYS; i++) {
          written.act(key(i));
          written.read(key(i), found);
        }
        assertFalse(written.damaged);
      }
    }
    System.out.println("damaged=" + damaged + " of " + WORLDS + ", answers=" + done);
    assertTrue(damaged > WORLDS / 10, "damaged=" + damaged);
    assertTrue(done > WORLDS, "done=" + done);
  }

  /** A chain that leads to itself, in front of an owner that looks for a key at its end. */
  @Test
  void chainsWithoutEndAreFoundOut() {
    final Written written = new Written();
    final Written other = new Written();
    final long seed = written.index.location().seed();
    final PartitionStore store = written.index.partition(0);
    for (int i = 0; i < 80; i++) {
      assertEquals(0, store.reserve(16, 0));
      store.put(CollidingKeys.key(i, seed), ByteString.EMPTY, i + 1);
    }
    // Spills are zeroed, so the oldest one's link is 0: a spill that a link leads to points at
    // itself.
    int loops = 0;
    for (MemoryRegion region : List.copyOf(regions)) {
      for (int i = 1024; i < SEGMENT_LENGTH; i += 8) {
        final long word = region.getLong(i);
        if (word < 1024 || word >= (long) regions.size() * SEGMENT_LENGTH) {
          continue;
        }
        final int segment = (int) (word / SEGMENT_LENGTH);
        final int offset = (int) (word % SEGMENT_LENGTH);
        if (offset > 0
            && (offset & 7) == 0
            && offset <= SEGMENT_LENGTH - GroupDescriptor.SPILL_LENGTH
            && isSlot(regions.get(segment).getLong(offset + 8))) {
          regions.get(segment).putLong(offset, word);
          loops++;
        }
      }
    }
    assertTrue(loops > 0);
    final Found found = new Found();
    final ReadResult result = written.index.newReader().get(CollidingKeys.key(1000, seed), found);
    assertTrue(result == ReadResult.LIMIT || result == ReadResult.UNDECIDED, "result=" + result);
    for (int i = 0; i < KEYS; i++) { // of other fingerprints, too
      assertNotEquals(ReadResult.FOUND, written.index.newReader().get(key(i), found));
    }
    written.act(CollidingKeys.key(1000, seed));
    assertTrue(written.damaged);
    other.act(key(1));
    other.act(key(1));
    assertFalse(other.damaged, "another index of the same memory");
  }

  private static boolean isSlot(long word) {
    return GroupDescriptor.sizeClass(word) == SizeClasses.of(12 + 16)
        && GroupDescriptor.address(word) < (long) SEGMENTS * SEGMENT_LENGTH;
  }

  private MemoryRegion map(int length) throws IOException {
    final FileChannel file =
        FileChannel.open(
            directory.resolve("segment" + files.size()),
            StandardOpenOption.CREATE_NEW,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE);
    files.add(file);
    file.truncate(0);
    return new MappedRegion(file.map(MapMode.READ_WRITE, 0, length));
  }

  /** Files of segments that are truncated: indexes in them end, others and new ones do not. */
  @Test
  void truncatedSegmentsEndTheirIndexes() throws IOException {
    open(this::map);
    final Written second = new Written();
    second.act(key(1));
    while (memory.segments() < 2) { // what follows is not in its segment
      new HashIndex(memory, 1);
    }
    final Written first = new Written();
    int keys = 0;
    while (memory.segments() < 4) {
      first.act(key(keys++));
    }
    files.get(2).truncate(0);
    for (int i = 0; i < keys && !first.damaged; i++) {
      first.act(key(i));
    }
    assertTrue(first.damaged);
    for (int i = 0; i < KEYS; i++) {
      second.act(key(i));
    }
    assertFalse(second.damaged, "its memory is in other segments");
    first.partition.close(first.index::drop);
    final Written third = new Written();
    fill(third);
    assertFalse(third.damaged, "in segments that are there");
    for (FileChannel file : files) {
      file.truncate(0);
    }
    third.act(key(1));
    second.act(key(1));
    assertTrue(second.damaged && third.damaged);
    closeFiles();
  }

  /** Memory that can be gone: loads return zeros, and {@link #verify} of any of it throws later. */
  private final class LateRegion extends DirectRegion {
    private boolean isGone;

    LateRegion(int length) {
      super(length);
    }

    @Override
    public long getLong(int index) {
      faults += isGone ? 1 : 0;
      return isGone ? 0 : super.getLong(index);
    }

    @Override
    public void verify() {
      if (faults > 0) {
        faults--;
        throw new InternalError("a fault occurred in a recent unsafe memory access operation");
      }
    }
  }

  /** The bytes of a page that is gone are found to be wrong before the JVM reports the page. */
  @Test
  void faultIsOfTheIndexWhoseDamageWasNoticedBeforeIt() {
    open(LateRegion::new);
    final Written second = new Written();
    second.act(key(1));
    while (memory.segments() < 2) {
      new HashIndex(memory, 1);
    }
    final Written first = new Written();
    int keys = 0;
    while (memory.segments() < 4) {
      first.act(key(keys++));
    }
    ((LateRegion) regions.get(2)).isGone = true;
    for (int i = 0; i < keys && !first.damaged; i++) {
      first.act(key(i));
    }
    assertTrue(first.damaged);
    final Throwable damage = errors.get(0);
    assertTrue(damage instanceof InternalError, () -> damage.toString());
    assertTrue(damage.getSuppressed()[0] instanceof StoreDamagedException, () -> damage.toString());
    for (int i = 0; i < KEYS; i++) {
      second.act(key(i));
    }
    assertFalse(second.damaged, "its memory is in other segments");
  }

  /** An index is not created in memory that was taken away, but in other memory after that. */
  @Test
  void indexIsNotCreatedInTruncatedSegments() throws IOException {
    open(this::map);
    files.get(0).truncate(0);
    assertThrows(StoreDamagedException.class, () -> new HashIndex(memory, 1));
    final Written written = new Written();
    fill(written);
    assertFalse(written.damaged);
    closeFiles();
  }

  private void closeFiles() throws IOException {
    for (FileChannel file : files) {
      file.close();
    }
  }

  private void fill(Written written) {
    for (int i = 0; i < 5 * KEYS; i++) {
      written.act(key(i));
    }
  }
}
