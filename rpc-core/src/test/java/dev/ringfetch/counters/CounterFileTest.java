package dev.ringfetch.counters;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is written is read again, and what is no snapshot is refused. */
class CounterFileTest {
  private static final long PID = 4711;

  private final Counters counters = new Counters();
  private final Tally tally = new Tally(Kind.SESSION);
  private SnapshotEncoder encoder = new SnapshotEncoder(CounterFileDescriptor.MAX_RECORDS);

  @TempDir Path directory;
  private Path file;

  @BeforeEach
  void create() throws IOException {
    file = directory.resolve("counters");
    writeHeader(CounterFileDescriptor.MAGIC, CounterFileDescriptor.VERSION);
  }

  private void writeHeader(long magic, int version) throws IOException {
    final ByteBuffer header = allocate(CounterFileDescriptor.AREAS_START);
    header.putLong(CounterFileDescriptor.MAGIC_OFFSET, magic);
    header.putInt(CounterFileDescriptor.VERSION_OFFSET, version);
    header.putLong(CounterFileDescriptor.PID_OFFSET, PID);
    header.putLong(CounterFileDescriptor.STARTED_OFFSET, 12);
    write(header, 0);
  }

  private static ByteBuffer allocate(int length) {
    return ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
  }

  private void write(ByteBuffer bytes, long offset) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      assertEquals(bytes.remaining(), channel.write(bytes, offset));
    }
  }

  /** As the publisher does. */
  private void publish() throws IOException {
    final ByteBuffer snapshot = encoder.encode(counters);
    assertNotNull(snapshot, "something has changed");
    write(snapshot, CounterFileDescriptor.areaOffset(encoder.sequence()));
    writeNewest(encoder.sequence());
  }

  private void writeNewest(long sequence) throws IOException {
    write(allocate(Long.BYTES).putLong(0, sequence), CounterFileDescriptor.NEWEST_OFFSET);
  }

  private String refusal() {
    return assertThrows(IOException.class, () -> Snapshot.read(file)).getMessage();
  }

  @Test
  void everyValueIsReadWhereItBelongs() throws Exception {
    for (final Kind kind : Kind.values()) {
      counters.add(kind, () -> "a " + kind.label(), () -> detail(kind), CounterFileTest::distinct);
    }
    publish();
    final Snapshot read = Snapshot.read(file);
    assertEquals(PID, read.pid());
    assertEquals(12, read.startedMs());
    assertEquals(1, read.sequence());
    assertEquals(0, read.unlisted());
    assertEquals(2 * Kind.values().length, read.rows().size());
    int i = 0;
    for (final Kind kind : Kind.values()) {
      final Snapshot.Row total = read.rows().get(i);
      final Snapshot.Row one = read.rows().get(i + Kind.values().length);
      i++;
      assertTrue(total.isTotal() && !one.isTotal(), "totals come first");
      assertEquals(List.of(kind, kind), List.of(total.kind(), one.kind()));
      assertEquals("all " + kind.plural(), total.label());
      assertEquals("a " + kind.label(), one.label());
      assertEquals("", total.detail());
      assertEquals(detail(kind), one.detail());
      for (final Counter counter : kind.counters()) {
        assertEquals(distinct(counter), one.value(counter), counter.name());
        assertEquals(distinct(counter), total.value(counter), counter.name());
      }
    }
  }

  private static String detail(Kind kind) {
    return room(kind) == 0 ? "" : "of a " + kind.plural();
  }

  /** Bytes of a record that the counters of its kind leave. */
  private static int room(Kind kind) {
    return (RecordDescriptor.MAX_VALUES - kind.counters().size()) * Long.BYTES;
  }

  /** Longer than an int, and another one for each. */
  private static long distinct(Counter counter) {
    return (1L << 40) + counter.name().hashCode();
  }

  @Test
  void recordsHoldEveryKind() {
    for (final Kind kind : Kind.values()) {
      assertTrue(kind.counters().size() <= RecordDescriptor.MAX_VALUES, kind.label());
    }
    assertEquals(0, RecordDescriptor.VALUES_OFFSET % Long.BYTES);
    assertEquals(0, RecordDescriptor.RECORD_LENGTH % 64);
    assertEquals(0, SnapshotDescriptor.RECORDS_OFFSET % Long.BYTES);
    assertTrue(CounterFileDescriptor.UNUSED_OFFSET < CounterFileDescriptor.AREAS_START);
    assertEquals(CounterFileDescriptor.AREAS_START, CounterFileDescriptor.areaOffset(2));
    assertEquals(
        CounterFileDescriptor.AREAS_START + CounterFileDescriptor.AREA_LENGTH,
        CounterFileDescriptor.areaOffset(1));
  }

  @Test
  void nothingIsWrittenWhereNothingHasChanged() {
    counters.add(Kind.SESSION, "session", tally::get);
    assertNotNull(encoder.encode(counters));
    assertNull(encoder.encode(counters));
    tally.add(Counter.SESSION_CALLS, 1);
    assertNotNull(encoder.encode(counters));
    assertNull(encoder.encode(counters));
    assertEquals(2, encoder.sequence());
  }

  @Test
  void totalsKeepWhatHasEndedAndLevelsDoNot() throws Exception {
    final Subject subject = counters.add(Kind.SESSION, "session", tally::get);
    tally.add(Counter.SESSION_CALLS, 3);
    tally.add(Counter.SESSION_CALLS, 4);
    tally.set(Counter.SESSION_BYTES_QUEUED, 9);
    publish();
    assertEquals(9, total(Counter.SESSION_BYTES_QUEUED));
    counters.remove(subject);
    counters.remove(subject); // once is enough
    counters.add(Kind.SESSION, "another", counter -> 10);
    publish();
    assertEquals(17, total(Counter.SESSION_CALLS));
    assertEquals(10, total(Counter.SESSION_BYTES_QUEUED));
    assertEquals(17, counters.total(Counter.SESSION_CALLS));
    assertEquals(Kind.values().length + 1, Snapshot.read(file).rows().size());
  }

  private long total(Counter counter) throws IOException {
    for (final Snapshot.Row row : Snapshot.read(file).rows()) {
      if (row.isTotal() && row.kind() == counter.kind()) {
        return row.value(counter);
      }
    }
    throw new AssertionError("no total of " + counter.kind());
  }

  @Test
  void whatDoesNotFitIsCountedAndListedWhenThereIsRoom() throws Exception {
    final int room = CounterFileDescriptor.MAX_RECORDS - Kind.values().length;
    final List<Subject> subjects = new ArrayList<>();
    for (int i = 0; i < room + 5; i++) {
      subjects.add(counters.add(Kind.SESSION, "session " + i, counter -> 1));
    }
    publish();
    Snapshot read = Snapshot.read(file);
    assertEquals(5, read.unlisted());
    assertEquals(CounterFileDescriptor.MAX_RECORDS, read.rows().size());
    assertEquals(room + 5, total(Counter.SESSION_CALLS));
    final int limit = CounterFileDescriptor.areaOffset(1) + CounterFileDescriptor.AREA_LENGTH;
    assertTrue(Files.size(file) <= limit, "size=" + Files.size(file));
    subjects.subList(0, 5).forEach(counters::remove);
    publish();
    read = Snapshot.read(file);
    assertEquals(0, read.unlisted());
    assertEquals("session " + (room + 4), read.rows().get(read.rows().size() - 1).label());
    assertEquals(room + 5, total(Counter.SESSION_CALLS));
  }

  @Test
  void longLabelsAreCut() throws Exception {
    counters.add(Kind.CHANNEL, "x".repeat(1_000), counter -> 0);
    publish();
    assertEquals(
        "x".repeat(RecordDescriptor.MAX_LABEL_LENGTH),
        Snapshot.read(file).rows().get(Kind.values().length).label());
  }

  @Test
  void textsAreCutBehindAWholeCharacter() throws Exception {
    counters.add(Kind.BACKEND, () -> "x" + "é".repeat(100), () -> "€".repeat(100), counter -> 0);
    counters.add(Kind.SESSION, () -> "\ud800", () -> "no room", counter -> 7);
    counters.add(Kind.BACKEND, () -> "", () -> "before\0after", counter -> 0);
    publish();
    final List<Snapshot.Row> rows =
        Snapshot.read(file).rows().subList(Kind.values().length, Kind.values().length + 3);
    assertEquals(
        "x" + "é".repeat((RecordDescriptor.MAX_LABEL_LENGTH - 1) / 2), rows.get(0).label());
    assertEquals("€".repeat(room(Kind.BACKEND) / 3), rows.get(0).detail());
    assertEquals(List.of("?", ""), List.of(rows.get(1).label(), rows.get(1).detail()));
    assertEquals(7, rows.get(1).value(Counter.SESSION_BUDGET_WAITS), "the last one");
    assertEquals(List.of("", "before"), List.of(rows.get(2).label(), rows.get(2).detail()));
  }

  @Test
  void textsThatChangeAreWrittenAnew() throws Exception {
    final AtomicReference<String> text = new AtomicReference<>("a long one, before");
    final Subject subject = counters.add(Kind.BACKEND, text::get, text::get, counter -> 1);
    publish();
    assertNull(encoder.encode(counters));
    text.set("after");
    publish();
    final Snapshot.Row row = Snapshot.read(file).rows().get(Kind.values().length);
    assertEquals(List.of("after", "after"), List.of(row.label(), row.detail()));
    counters.remove(subject);
    publish();
    assertEquals(Kind.values().length, Snapshot.read(file).rows().size());
  }

  /** Another program of the user may write any bytes, with their checksum. */
  @Test
  void anyBytesAreRefusedOrRead() throws Exception {
    counters.add(Kind.BACKEND, () -> "backend", () -> "detail", counter -> 1);
    final long seed = Long.getLong("ringfetch.seed", 1);
    final Random random = new Random(seed);
    final ByteBuffer snapshot = encoder.encode(counters).order(ByteOrder.LITTLE_ENDIAN);
    final byte[] bytes = new byte[RecordDescriptor.RECORD_LENGTH];
    int read = 0;
    for (int i = 0; i < 300; i++) {
      random.nextBytes(bytes);
      snapshot.put(snapshot.limit() - bytes.length, bytes);
      final int record = snapshot.limit() - bytes.length;
      if (i % 3 != 0) {
        snapshot.putInt(record + RecordDescriptor.KIND_OFFSET, Kind.BACKEND.code());
      }
      if (i % 3 == 2) {
        snapshot.putInt(record + RecordDescriptor.LABEL_LENGTH_OFFSET, random.nextInt(65));
      }
      snapshot.putInt(SnapshotDescriptor.CRC32C_OFFSET, SnapshotEncoder.crc32c(snapshot));
      write(snapshot.duplicate(), CounterFileDescriptor.areaOffset(encoder.sequence()));
      writeNewest(encoder.sequence());
      if (i % 3 == 2) {
        final Snapshot.Row row = Snapshot.read(file).rows().get(Kind.values().length);
        assertTrue(row.detail().length() <= room(Kind.BACKEND), "seed=" + seed);
        read++;
      } else {
        assertEquals("damaged: no whole snapshot in it", refusal(), "seed=" + seed);
      }
    }
    assertEquals(100, read);
  }

  /** Killed while it wrote the next one: the one before is there. */
  @Test
  void aSnapshotIsWholeWhateverBecomesOfTheNext() throws Exception {
    counters.add(Kind.SESSION, "session", tally::get);
    publish();
    tally.add(Counter.SESSION_CALLS, 1);
    publish();
    tally.add(Counter.SESSION_CALLS, 1);
    final ByteBuffer next = encoder.encode(counters);
    next.limit(next.limit() / 2);
    write(next, CounterFileDescriptor.areaOffset(encoder.sequence()));
    assertEquals(2, Snapshot.read(file).sequence());
    assertEquals(1, total(Counter.SESSION_CALLS));
  }

  @Test
  void whatIsNoneIsRefused() throws Exception {
    assertEquals("nothing in it yet", refusal());
    writeHeader(CounterFileDescriptor.MAGIC, CounterFileDescriptor.VERSION + 1);
    assertTrue(refusal().startsWith("version 11, not 10"), refusal());
    writeHeader(~CounterFileDescriptor.MAGIC, CounterFileDescriptor.VERSION);
    assertEquals("not a file of counters, or not yet", refusal());
    Files.write(file, new byte[0]);
    assertEquals("not a file of counters, or not yet", refusal());
    Files.delete(file);
    assertThrows(IOException.class, () -> Snapshot.read(file));
  }

  /** Whatever length it is cut to, and whatever bit of it is turned over. */
  @Test
  void damageIsRefused() throws Exception {
    counters.add(Kind.SESSION, "session", tally::get);
    tally.add(Counter.SESSION_CALLS, 7);
    publish();
    final byte[] whole = Files.readAllBytes(file);
    final Snapshot before = Snapshot.read(file);
    final int area = CounterFileDescriptor.areaOffset(1);
    final long seed = Long.getLong("ringfetch.seed", 1);
    final Random random = new Random(seed);
    for (int i = 0; i < 200; i++) {
      final byte[] damaged = whole.clone();
      final int at = area + random.nextInt(whole.length - area);
      damaged[at] ^= (byte) (1 << random.nextInt(8));
      Files.write(file, damaged);
      assertEquals("damaged: no whole snapshot in it", refusal(), "seed=" + seed);
      Files.write(file, Arrays.copyOf(whole, random.nextInt(whole.length)));
      assertThrows(IOException.class, () -> Snapshot.read(file), "seed=" + seed);
    }
    Files.write(file, whole);
    assertEquals(before, Snapshot.read(file));
    writeNewest(2);
    assertEquals("damaged: no whole snapshot in it", refusal());
  }

  /** A small buffer is grown, and the one before it is compared all the same. */
  @Test
  void subjectsComeAndGo() throws Exception {
    encoder = new SnapshotEncoder(Kind.values().length + 2);
    final List<Subject> subjects = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      subjects.add(counters.add(Kind.POLLER, "poller " + i, counter -> 1));
      publish();
      assertEquals(Math.max(0, i - 1), Snapshot.read(file).unlisted());
    }
    for (final Subject subject : subjects) {
      counters.remove(subject);
      publish();
    }
    assertEquals(Kind.values().length, Snapshot.read(file).rows().size());
  }
}
