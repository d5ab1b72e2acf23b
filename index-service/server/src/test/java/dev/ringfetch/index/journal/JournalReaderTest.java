package dev.ringfetch.index.journal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.disk.SimulatedDisk;
import dev.ringfetch.index.partition.CommitLog;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.v1.Durability;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The reader of a journal that goes on being written. */
@Timeout(60)
class JournalReaderTest {
  private static final ByteString KEY = ByteString.copyFromUtf8("key");

  private final SimulatedDisk disk = new SimulatedDisk();
  private JournalLife life;
  private CommitLog log;
  private JournalReader reader;

  private void open() throws IOException {
    life = new JournalLife(disk, 1);
    log = new PartitionLog(life.journal, 1, 0, Durability.DISK, 0);
    log.onCommit(() -> {});
    reader = life.journal.reader(disk);
  }

  private void append(int count, int bytes) {
    final ByteString value = ByteString.copyFrom(new byte[bytes]);
    for (int i = 0; i < count; i++) {
      assertTrue(log.append(new Write(w -> {}).put(KEY, value)) > 0);
      if (i % 5 == 4) { // several records are a batch
        life.work();
      }
    }
    life.work();
  }

  /** LSNs of the records from a place to the end. */
  private List<Long> read(JournalReader.Place place) throws IOException {
    final List<Long> lsns = new ArrayList<>();
    JournalReader.Progress progress = JournalReader.Progress.MORE;
    while (progress == JournalReader.Progress.MORE) {
      progress =
          reader.read(
              place,
              record -> {
                if (record.index() == 1) {
                  lsns.add(record.lsn());
                }
                return lsns.size() % 3 != 0; // often in the midst of a batch
              });
    }
    assertEquals(JournalReader.Progress.END, progress);
    return lsns;
  }

  private static List<Long> numbers(long from, long to) {
    final List<Long> numbers = new ArrayList<>();
    for (long i = from; i <= to; i++) {
      numbers.add(i);
    }
    return numbers;
  }

  @Test
  void allThatIsDurableComesInOrderAndLaterTheRest() throws IOException {
    open();
    final JournalReader.Place place = reader.begin(1, new long[] {0});
    assertEquals(List.of(), read(place));
    append(122, 100_000);
    assertEquals(numbers(1, 122), read(place));
    log.append(new Write(w -> {}).put(KEY, KEY));
    assertEquals(List.of(), read(place)); // not durable yet
    life.work();
    assertEquals(List.of(123L), read(place));
    assertTrue(place.isComplete());
  }

  @Test
  void aLaterReadingBeginsBehindSegmentsWithNothingNew() throws IOException {
    open();
    append(120, 100_000);
    assertEquals(numbers(1, 120), read(reader.begin(1, new long[] {0})));
    final List<Long> rest = read(reader.begin(1, new long[] {115}));
    assertEquals(120, rest.get(rest.size() - 1));
    assertTrue(rest.size() < 50 && rest.get(0) <= 116, rest::toString);
    final List<Long> other = read(reader.begin(1, new long[] {Long.MAX_VALUE}));
    assertTrue(other.size() < 50, other::toString);
    append(60, 100_000);
    assertEquals(numbers(1, 180), read(reader.begin(1, new long[] {0})));
  }

  @Test
  void aPlaceInARemovedSegmentIsLost() throws IOException {
    open();
    final JournalReader.Place place = reader.begin(1, new long[] {0});
    append(120, 100_000);
    disk.delete(SegmentDescriptor.name(1));
    assertEquals(JournalReader.Progress.LOST, reader.read(place, record -> true));
    final JournalReader.Place next = reader.begin(1, new long[] {0});
    final List<Long> rest = read(next);
    assertFalse(next.isComplete());
    assertEquals(numbers(rest.get(0), 120), rest);
  }

  @Test
  void damageIsNotPassedOver() throws IOException {
    open();
    append(120, 100_000);
    final byte[] first = disk.content(SegmentDescriptor.name(1));
    for (final int offset : new int[] {512, 512 + 8, 512 + 100, 700_000, 1_500_008}) {
      first[offset] ^= 1;
      assertThrows(
          IOException.class, () -> read(reader.begin(1, new long[] {0})), "offset=" + offset);
      first[offset] ^= 1;
      reader = life.journal.reader(disk); // one remembers what it has read
    }
    assertEquals(numbers(1, 120), read(reader.begin(1, new long[] {0})));
    reader = life.journal.reader(disk);
    final byte[] second = disk.content(SegmentDescriptor.name(2)).clone();
    disk.delete(SegmentDescriptor.name(2));
    final IOException missing =
        assertThrows(IOException.class, () -> read(reader.begin(1, new long[] {0})));
    assertTrue(missing.getMessage().contains("missing"), missing.getMessage());
    disk.content(SegmentDescriptor.name(2), second);
    assertEquals(numbers(1, 120), read(reader.begin(1, new long[] {0})));
  }
}
