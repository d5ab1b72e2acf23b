package dev.ringfetch.index.journal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.disk.SimulatedDisk;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.v1.Durability;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Files that were damaged, cut, exchanged or removed: refused, or no more than a crash's. */
class JournalDamageTest {
  private static final int RECORDS = 30;

  private final Random random = new Random(Long.getLong("ringfetch.seed", 20261127));

  private static SimulatedDisk disk(boolean clean) throws IOException {
    final SimulatedDisk disk = new SimulatedDisk();
    final JournalLife life = new JournalLife(disk, 1);
    final PartitionLog log = new PartitionLog(life.journal, 7, 0, Durability.DISK, 0);
    log.onCommit(() -> {});
    for (int i = 0; i < RECORDS; i++) {
      log.append(
          new Write(write -> {})
              .put(ByteString.copyFromUtf8("key" + i), ByteString.copyFrom(new byte[i])));
      life.work();
    }
    if (clean) {
      life.journal.close();
    }
    disk.kill();
    return disk;
  }

  private static JournalDamagedException refused(SimulatedDisk disk) {
    return assertThrows(JournalDamagedException.class, () -> new JournalLife(disk, 2));
  }

  @Test
  void eachFlippedBitIsFound() throws IOException {
    for (final boolean clean : new boolean[] {true, false}) {
      final SimulatedDisk whole = disk(clean);
      assertEquals(RECORDS, new JournalLife(whole.copy(), 2).recovered(7).size());
      final int used = (int) usedBytes(whole);
      for (int i = 0; i < 150; i++) {
        final SimulatedDisk disk = whole.copy();
        final int bit = random.nextInt(used * 8);
        disk.content(SegmentDescriptor.name(1))[bit / 8] ^= (byte) (1 << bit % 8);
        final String message = refused(disk).getMessage();
        assertTrue(message.contains("journal-0000000001"), "bit=" + bit + " " + message);
      }
    }
  }

  private static long usedBytes(SimulatedDisk disk) {
    final byte[] content = disk.copy().content(SegmentDescriptor.name(1));
    int used = content.length;
    while (content[used - 1] == 0) {
      used--;
    }
    return used;
  }

  @Test
  void behindAnOrderlyEndNothingMayStand() throws IOException {
    final SimulatedDisk disk = disk(true);
    final int used = (int) usedBytes(disk);
    disk.content(SegmentDescriptor.name(1))[used + random.nextInt(100_000) + RECORDS + 8] = 1;
    assertTrue(refused(disk).getMessage().contains("in order"));
  }

  @Test
  void oneSlotOfTheCheckpointMayBeDamagedNotBoth() throws IOException {
    final SimulatedDisk disk = disk(false);
    for (int slot = 0; slot < 2; slot++) {
      final SimulatedDisk damaged = disk.copy();
      damaged.content(Checkpoint.NAME)[slot * Checkpoint.SLOT_DISTANCE + 20] ^= 4;
      assertEquals(RECORDS, new JournalLife(damaged, 2).recovered(7).size());
    }
    final byte[] checkpoint = disk.content(Checkpoint.NAME);
    checkpoint[20] ^= 4;
    checkpoint[Checkpoint.SLOT_DISTANCE + 20] ^= 4;
    assertTrue(refused(disk).getMessage().contains(Checkpoint.NAME));
  }

  @Test
  void missingFilesAreNamed() throws IOException {
    final SimulatedDisk noCheckpoint = disk(true);
    noCheckpoint.delete(Checkpoint.NAME);
    assertTrue(refused(noCheckpoint).getMessage().contains(Checkpoint.NAME));

    final SimulatedDisk noSegment = disk(true);
    noSegment.delete(SegmentDescriptor.name(1));
    assertTrue(refused(noSegment).getMessage().contains(SegmentDescriptor.name(1)));

    final SimulatedDisk none = disk(true);
    for (final String name : none.list()) {
      if (SegmentDescriptor.number(name) > 0) {
        none.delete(name);
      }
    }
    assertTrue(refused(none).getMessage().contains(SegmentDescriptor.name(1)));
  }

  @Test
  void anOlderStateOfASegmentIsRefused() throws IOException {
    final SimulatedDisk disk = disk(false);
    final byte[] content = disk.content(SegmentDescriptor.name(1));
    Arrays.fill(content, 1024, content.length, (byte) 0);
    assertTrue(refused(disk).getMessage().contains("offset="));
  }

  @Test
  void exchangedAndCutSegmentsAreRefused() throws IOException {
    final SimulatedDisk exchanged = disk(true);
    final byte[] first = exchanged.content(SegmentDescriptor.name(1));
    exchanged.content(SegmentDescriptor.name(1), exchanged.content(SegmentDescriptor.name(2)));
    exchanged.content(SegmentDescriptor.name(2), first);
    assertTrue(refused(exchanged).getMessage().contains("renamed"));

    final SimulatedDisk cut = disk(true);
    cut.content(
        SegmentDescriptor.name(1), Arrays.copyOf(cut.content(SegmentDescriptor.name(1)), 1 << 20));
    assertTrue(refused(cut).getMessage().contains("cut"));
  }

  @Test
  void aSegmentOfAnotherDirectoryIsRefused() throws IOException {
    final SimulatedDisk disk = disk(true);
    final byte[] content = disk.content(SegmentDescriptor.name(1));
    final ByteBuffer header =
        ByteBuffer.wrap(content, 0, SegmentDescriptor.BATCH_OFFSET).order(ByteOrder.LITTLE_ENDIAN);
    header.putLong(SegmentDescriptor.ORIGIN_OFFSET, 1);
    header.putInt(SegmentDescriptor.CRC_OFFSET, SegmentDescriptor.crc(header));
    assertTrue(refused(disk).getMessage().contains("another directory"));
  }

  @Test
  void laterBatchesSayWhatWasSyncedWhereTheCheckpointIsOld() throws IOException {
    final SimulatedDisk disk = disk(false);
    final byte[] checkpoint = disk.content(Checkpoint.NAME);
    Arrays.fill(checkpoint, (byte) 0);
    final SimulatedDisk begin = new SimulatedDisk();
    new JournalLife(begin, 1).work();
    final byte[] old = begin.content(Checkpoint.NAME);
    System.arraycopy(old, 0, checkpoint, 0, old.length);
    assertEquals(RECORDS, new JournalLife(disk.copy(), 2).recovered(7).size());
    disk.content(SegmentDescriptor.name(1))[1000] ^= 1;
    assertTrue(refused(disk).getMessage().contains("durable="));
  }

  @Test
  void aNewerFormatIsRefused() throws IOException {
    final SimulatedDisk disk = disk(true);
    final byte[] content = disk.content(SegmentDescriptor.name(1));
    content[SegmentDescriptor.FORMAT_OFFSET] = SegmentDescriptor.FORMAT + 1;
    final ByteBuffer header =
        ByteBuffer.wrap(content, 0, SegmentDescriptor.BATCH_OFFSET).order(ByteOrder.LITTLE_ENDIAN);
    header.putInt(0, SegmentDescriptor.crc(header));
    assertTrue(refused(disk).getMessage().contains("format=" + (SegmentDescriptor.FORMAT + 1)));
  }

  @Test
  void randomBytesNeitherCrashNorHang() throws IOException {
    final SimulatedDisk whole = disk(false);
    final long used = usedBytes(whole);
    final List<String> names = List.of(Checkpoint.NAME, SegmentDescriptor.name(1));
    for (int i = 0; i < 100; i++) {
      final SimulatedDisk disk = whole.copy();
      final String name = names.get(random.nextInt(names.size()));
      final byte[] content = disk.content(name);
      final int at = random.nextInt(Math.min(content.length, 8192));
      final byte[] garbage = new byte[1 + random.nextInt(2000)];
      random.nextBytes(garbage);
      System.arraycopy(garbage, 0, content, at, Math.min(garbage.length, content.length - at));
      final boolean changed = !Arrays.equals(content, whole.copy().content(name));
      if (changed && !name.equals(Checkpoint.NAME) && at < used) {
        refused(disk);
        continue;
      }
      try {
        assertEquals(RECORDS, new JournalLife(disk, 2).recovered(7).size());
      } catch (JournalDamagedException e) {
        // Both slots of the checkpoint, or the zeros that the last record ends with.
        assertTrue(name.equals(Checkpoint.NAME) || at < used + RECORDS + 8, "at=" + at);
      }
    }
  }
}
