package dev.ringfetch.index.journal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.disk.SimulatedDisk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Snapshots that were damaged, cut, exchanged or removed: passed over, or refused. */
class SnapshotDamageTest {
  private static final String OLDER = SnapshotDescriptor.name(2);
  private static final String NEWEST = SnapshotDescriptor.name(3);

  /** A disk with two snapshots, and without the first segments; and what it has. */
  private static SimulatedDisk whole;

  private static Map<String, Long> wholeWritten;

  private final Random random = new Random(Long.getLong("ringfetch.seed", 20261127));
  private Map<String, Long> written;

  private SimulatedDisk disk() {
    written = wholeWritten;
    return whole.copy();
  }

  @BeforeAll
  static void write() throws IOException {
    final SimulatedDisk disk = new SimulatedDisk();
    final SnapshotLife life = new SnapshotLife(disk, 1);
    for (int i = 0; i < 3; i++) {
      life.flood(4);
      life.put("before " + i, 100);
      life.snapshot();
      life.put("after " + i, 100);
    }
    wholeWritten = life.versions();
    disk.kill();
    assertFalse(disk.names().contains(SegmentDescriptor.name(1)));
    assertTrue(disk.names().containsAll(List.of(OLDER, NEWEST)));
    whole = disk;
  }

  private static JournalDamagedException refused(SimulatedDisk disk) {
    return assertThrows(JournalDamagedException.class, () -> new SnapshotLife(disk, 2));
  }

  private void recoveredFrom(SimulatedDisk disk, long number, String... damaged)
      throws IOException {
    final SnapshotLife life = new SnapshotLife(disk, 2);
    assertEquals(number, life.journal.recoveredSnapshot());
    assertEquals(List.of(damaged), life.journal.damagedSnapshots());
    assertEquals(written, life.versions());
  }

  @Test
  void theNewestIsTaken() throws IOException {
    recoveredFrom(disk(), 3);
  }

  @Test
  void eachFlippedBitOfTheNewestIsFoundAndTheOlderOneTaken() throws IOException {
    final SimulatedDisk disk = disk();
    final byte[] whole = disk.content(NEWEST).clone();
    for (int i = 0; i < 40; i++) {
      final int at = i % 2 == 0 ? random.nextInt(whole.length) : random.nextInt(1500);
      final int fromEnd = i % 4 == 1 ? whole.length - 1 - at % 200 : at;
      final SimulatedDisk damaged = disk.copy();
      damaged.content(NEWEST)[fromEnd] ^= (byte) (1 << random.nextInt(8));
      recoveredFrom(damaged, 2, NEWEST);
    }
  }

  @Test
  void bothDamagedAreRefusedByName() throws IOException {
    final SimulatedDisk disk = disk();
    for (final String name : List.of(OLDER, NEWEST)) {
      disk.content(name)[random.nextInt(disk.content(name).length)] ^= 8;
    }
    assertTrue(refused(disk).getMessage().contains(NEWEST));
  }

  @Test
  void aCutOneIsPassedOver() throws IOException {
    final SimulatedDisk disk = disk();
    final byte[] whole = disk.content(NEWEST);
    for (int i = 0; i < 10; i++) {
      final SimulatedDisk cut = disk.copy();
      cut.content(NEWEST, Arrays.copyOf(whole, random.nextInt(whole.length)));
      recoveredFrom(cut, 2, NEWEST);
    }
    final SimulatedDisk longer = disk.copy();
    longer.content(NEWEST, Arrays.copyOf(whole, whole.length + 1));
    recoveredFrom(longer, 2, NEWEST);
  }

  @Test
  void exchangedOnesAreRefused() throws IOException {
    final SimulatedDisk disk = disk();
    final byte[] older = disk.content(OLDER);
    disk.content(OLDER, disk.content(NEWEST));
    disk.content(NEWEST, older);
    assertTrue(refused(disk).getMessage().contains(NEWEST));
  }

  @Test
  void missingOnesWithoutTheirJournalAreRefused() throws IOException {
    final SimulatedDisk disk = disk();
    disk.delete(NEWEST);
    recoveredFrom(disk.copy(), 2);
    disk.delete(OLDER);
    assertTrue(refused(disk).getMessage().contains("missing"));
  }

  private static void header(byte[] content, int offset, long value, int length) {
    final ByteBuffer header =
        ByteBuffer.wrap(content, 0, SnapshotDescriptor.BATCH_OFFSET)
            .slice()
            .order(ByteOrder.LITTLE_ENDIAN);
    if (length == Integer.BYTES) {
      header.putInt(offset, (int) value);
    } else {
      header.putLong(offset, value);
    }
    header.putInt(SnapshotDescriptor.CRC_OFFSET, SegmentDescriptor.crc(header));
  }

  @Test
  void oneOfAnotherDirectoryIsRefused() throws IOException {
    final SimulatedDisk disk = disk();
    header(disk.content(NEWEST), SnapshotDescriptor.ORIGIN_OFFSET, 1, Long.BYTES);
    assertTrue(refused(disk).getMessage().contains("another directory"));
  }

  @Test
  void aNewerFormatIsRefused() throws IOException {
    final SimulatedDisk disk = disk();
    header(
        disk.content(NEWEST),
        SnapshotDescriptor.FORMAT_OFFSET,
        SnapshotDescriptor.FORMAT + 1,
        Integer.BYTES);
    final String message = refused(disk).getMessage();
    assertTrue(
        message.contains("format=" + (SnapshotDescriptor.FORMAT + 1)) && message.contains(NEWEST),
        message);
  }

  @Test
  void anotherBeginIsFound() throws IOException {
    final SimulatedDisk disk = disk();
    header(disk.content(NEWEST), SnapshotDescriptor.BEGIN_OFFSET, 512, Long.BYTES);
    recoveredFrom(disk, 2, NEWEST);
  }

  @Test
  void aMissingSegmentIsNamed() throws IOException {
    final SimulatedDisk disk = disk();
    final List<String> segments =
        disk.names().stream().filter(name -> SegmentDescriptor.number(name) > 0).toList();
    final SimulatedDisk within = disk.copy();
    within.delete(segments.get(1));
    assertTrue(refused(within).getMessage().contains(segments.get(1)));
    // The older snapshot needs the first one; the newest does not.
    disk.delete(segments.get(0));
    recoveredFrom(disk.copy(), 3);
    disk.content(NEWEST)[1000] ^= 1;
    assertTrue(refused(disk).getMessage().contains(NEWEST));
  }

  @Test
  void aJournalThatEndsBeforeItsSnapshotIsRefused() throws IOException {
    final SimulatedDisk disk = new SimulatedDisk();
    final SnapshotLife life = new SnapshotLife(disk, 1);
    life.put("a", 10);
    final SimulatedDisk old = disk.copy();
    life.put("b", 10);
    life.snapshot();
    life.put("c", 10);
    old.content(SnapshotDescriptor.name(1), disk.content(SnapshotDescriptor.name(1)));
    final String message = refused(old).getMessage();
    assertTrue(message.contains(SnapshotDescriptor.name(1)), message);
    assertTrue(message.contains("ends before"), message);
  }

  @Test
  void withTheWholeJournalADamagedOneIsPassedOver() throws IOException {
    final SimulatedDisk disk = new SimulatedDisk();
    final SnapshotLife life = new SnapshotLife(disk, 1);
    life.put("a", 10);
    life.snapshot();
    life.put("b", 10);
    written = life.versions();
    disk.kill();
    disk.content(SnapshotDescriptor.name(1))[700] ^= 1;
    recoveredFrom(disk, 0, SnapshotDescriptor.name(1));
  }

  @Test
  void theNumberOfADamagedOneIsNotUsedAgain() throws IOException {
    final SimulatedDisk disk = disk();
    disk.content(NEWEST)[1000] ^= 1;
    final SnapshotLife life = new SnapshotLife(disk, 2);
    life.snapshot();
    assertEquals(4, life.taken.get(0).number());
    final List<String> left =
        disk.names().stream().filter(name -> SnapshotDescriptor.number(name) > 0).toList();
    assertEquals(List.of(OLDER, SnapshotDescriptor.name(4)), left);
  }

  @Test
  void anUnfinishedOneIsNoneAndIsRemoved() throws IOException {
    final SimulatedDisk disk = disk();
    final String unfinished = SnapshotDescriptor.name(4) + SnapshotDescriptor.UNFINISHED_SUFFIX;
    final SimulatedDisk other = new SimulatedDisk();
    final SnapshotLife life = new SnapshotLife(other, 1);
    for (int i = 0; i < 4; i++) {
      life.snapshot();
    }
    disk.content(unfinished, other.content(SnapshotDescriptor.name(4))); // whole, but not renamed
    recoveredFrom(disk, 3);
    assertFalse(disk.names().contains(unfinished));
  }

  @Test
  void withoutACheckpointASnapshotIsRefused() throws IOException {
    final SimulatedDisk disk = disk();
    disk.delete(Checkpoint.NAME);
    for (final String name : disk.names()) {
      if (SegmentDescriptor.number(name) > 0) {
        disk.delete(name);
      }
    }
    assertTrue(refused(disk).getMessage().contains(Checkpoint.NAME));
  }
}
