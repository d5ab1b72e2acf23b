package dev.ringfetch.index.service;

import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.disk.HostDisk;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.journal.SnapshotCycle;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.IndexKind;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Whole directories of single servers, sound and damaged, and what a salvage makes of them. {@link
 * DirectoryFuzz} damages them at random.
 */
@Timeout(180)
class SalvageTest {
  private static final long BUDGET = 128L << 20;
  private static final int KEYS = 3000;
  private static final String NAME = "salvaged";
  private static final String SEGMENT = "journal-0000000001";
  private static final String OLDER = "snapshot-0000000001";
  private static final String NEWEST = "snapshot-0000000002";

  @TempDir static Path folder;
  private static Path whole;

  /** Where the journal ended when the second snapshot was taken. */
  private static int snapshotBegin;

  private static int used;
  private static final Map<ByteString, Entry> model = new HashMap<>();

  @TempDir Path parent;

  /** Opens the indexes of a directory, or of a copy that takes its place. */
  private static Indexes open(Path data) throws IOException {
    return new Indexes(
        IndexMemory.ofProcess(
            new IndexMemoryContext().budget(BUDGET).dataDirectory(data).adoptCopy(true)));
  }

  /** Entries in batches, some removed before, between and after two snapshots; and deadlines. */
  @BeforeAll
  static void writes() throws Exception {
    whole = folder.resolve("whole");
    try (Indexes indexes = open(whole)) {
      final ServedIndex index =
          IndexRequests.create(indexes, NAME, IndexKind.ORDERED, Durability.DISK);
      write(index, 0, KEYS, SalvageTest::put);
      write(index, 0, KEYS / 3, Write::delete);
      snapshot(indexes);
      write(index, KEYS / 3, KEYS / 2, Write::delete);
      write(index, 0, KEYS / 6, SalvageTest::put);
      snapshotBegin = used(whole.resolve(SEGMENT));
      snapshot(indexes);
      write(index, KEYS / 6, KEYS / 4, SalvageTest::put);
      write(index, KEYS / 2, KEYS / 2 + 100, Write::delete);
    }
    used = used(whole.resolve(SEGMENT));
    model.putAll(content(whole));
    assertEquals(KEYS / 4 + KEYS / 2 - 100, model.size());
  }

  /** Prepares the write of a key. */
  private interface Preparation {
    Write prepare(Write write, ByteString key);
  }

  private static Write put(Write write, ByteString key) {
    return write.put(key, key.concat(key)).ttl(key.byteAt(key.size() - 1) == '7' ? 3_600_000 : 0);
  }

  /** Writes without waiting, so that batches are long. */
  private static void write(ServedIndex index, int from, int to, Preparation preparation) {
    final List<CompletableFuture<Integer>> answers = new ArrayList<>();
    for (int i = from; i < to; i++) {
      final ByteString key = ByteString.copyFromUtf8("key" + i);
      answers.add(submit(index, write -> preparation.prepare(write, key)));
    }
    answers.forEach(answer -> assertEquals(Write.DONE, answer.join()));
  }

  private static CompletableFuture<Integer> submit(
      ServedIndex index, UnaryOperator<Write> preparation) {
    final CompletableFuture<Integer> answer = new CompletableFuture<>();
    final Write write = preparation.apply(new Write(done -> answer.complete(done.outcome())));
    assertEquals(0, index.partition(write.key()).submit(write));
    return answer;
  }

  private static void snapshot(Indexes indexes) {
    final CompletableFuture<Void> taken = new CompletableFuture<>();
    indexes
        .memory()
        .journal()
        .snapshot(
            new SnapshotCycle.Listener() {
              @Override
              public void onSnapshot(SnapshotCycle.Taken snapshot) {
                taken.complete(null);
              }

              @Override
              public void onFailure(IOException failure) {
                taken.completeExceptionally(failure);
              }
            });
    taken.join();
  }

  private static Map<ByteString, Entry> content(Path data) throws IOException {
    final Map<ByteString, Entry> found = new HashMap<>();
    try (OfflineIndexes indexes = OfflineIndexes.open(data, BUDGET)) {
      assertEquals(List.of(), indexes.faults());
      assertTrue(indexes.walk(NAME, entry -> found.put(entry.getKey(), entry) == null));
    }
    return found;
  }

  private static int used(Path file) throws IOException {
    final byte[] bytes = Files.readAllBytes(file);
    int end = bytes.length;
    while (end > 0 && bytes[end - 1] == 0) {
      end--;
    }
    return end;
  }

  /** A copy of the whole directory, to be damaged. */
  private Path data() throws IOException {
    final Path copy = parent.resolve("data");
    Files.createDirectory(copy);
    try (Stream<Path> files = Files.list(whole)) {
      for (final Path file : files.toList()) {
        final Path to = copy.resolve(file.getFileName());
        Files.write(to, Arrays.copyOf(Files.readAllBytes(file), used(file)));
        try (RandomAccessFile filled = new RandomAccessFile(to.toFile(), "rw")) {
          filled.setLength(Files.size(file));
        }
      }
    }
    return copy;
  }

  private static void zero(Path file, long offset, int length) throws IOException {
    try (RandomAccessFile damaged = new RandomAccessFile(file.toFile(), "rw")) {
      damaged.seek(offset);
      damaged.write(new byte[length]);
    }
  }

  private static void flip(Path file, long offset) throws IOException {
    try (RandomAccessFile damaged = new RandomAccessFile(file.toFile(), "rw")) {
      damaged.seek(offset);
      final int before = damaged.read();
      damaged.seek(offset);
      damaged.write(before ^ 4);
    }
  }

  private Map<ByteString, Entry> salvage(Path data, boolean isComplete, String... parts)
      throws IOException {
    final Path target = parent.resolve("new");
    final Salvage.Report report = Salvage.run(data, target, BUDGET);
    assertEquals(isComplete, report.isComplete(), report::toString);
    for (final String part : parts) {
      assertTrue(report.lines().stream().anyMatch(line -> line.contains(part)), report::toString);
    }
    return content(target);
  }

  /** The same keys, values and deadlines: versions are new. */
  private static void assertSame(Map<ByteString, Entry> expected, Map<ByteString, Entry> found) {
    assertEquals(expected.keySet(), found.keySet());
    expected.forEach(
        (key, entry) -> {
          assertEquals(entry.getValue(), found.get(key).getValue());
          final long deadline = found.get(key).getDeadlineMs();
          assertEquals(entry.getDeadlineMs() == 0, deadline == 0, key::toStringUtf8);
          assertTrue(Math.abs(entry.getDeadlineMs() - deadline) < 60_000, key::toStringUtf8);
        });
  }

  @Test
  void aSoundDirectoryIsSalvagedAsItIs() throws IOException {
    assertSame(model, salvage(data(), true, "wrote entries=" + model.size()));
  }

  @Test
  void aBackupIsSalvagedAsItIs() throws IOException {
    final Path copy = parent.resolve("copy");
    final var unused = Backup.of(HostDisk.readOnly(data()), copy);
    assertSame(model, salvage(copy, true));
  }

  /** As a copy of a running server's files is, or what is left where the process was killed. */
  @Test
  void aDirectoryWithoutAnOrderlyEndIsSalvagedAsItIs() throws IOException {
    final Path data = data();
    final Map<ByteString, Entry> expected = new HashMap<>(model);
    final Path copy = parent.resolve("copy");
    Files.createDirectory(copy);
    try (Indexes indexes = open(data)) {
      write(indexes.find(NAME), KEYS, KEYS + 500, Write::delete); // of no entry
      write(indexes.find(NAME), KEYS - 10, KEYS, Write::delete);
      for (int i = KEYS - 10; i < KEYS; i++) {
        expected.remove(ByteString.copyFromUtf8("key" + i));
      }
      try (Stream<Path> files = Files.list(data)) {
        for (final Path file : files.toList()) {
          Files.copy(file, copy.resolve(file.getFileName()));
        }
      }
    }
    assertSame(expected, salvage(copy, true));
  }

  @Test
  void withoutIdentityItsFilesSayWhichTheyAre() throws IOException {
    final Path data = data();
    Files.delete(data.resolve("identity"));
    assertSame(model, salvage(data, false, "missing: file=" + data.resolve("identity")));
  }

  /** Most of its files say it: one is of another directory. */
  @Test
  void withoutIdentityAFileOfAnotherDirectoryIsNamed() throws Exception {
    final Path data = data();
    Files.delete(data.resolve("identity"));
    final Path other = parent.resolve("other");
    try (Indexes indexes = open(other)) {
      IndexRequests.create(indexes, NAME, IndexKind.HASH, Durability.DISK);
      snapshot(indexes);
    }
    final Path snapshot = data.resolve(NEWEST);
    Files.copy(other.resolve("snapshot-0000000001"), snapshot, REPLACE_EXISTING);
    assertSame(model, salvage(data, false, "of another directory: file=" + snapshot));
  }

  @Test
  void withoutIdentityTheCheckpointDecidesBetweenAsManyFiles() throws Exception {
    final Path data = data();
    for (final String name : List.of("identity", OLDER, "journal-0000000002")) {
      Files.delete(data.resolve(name));
    }
    final Path other = parent.resolve("other");
    try (Indexes indexes = open(other)) {
      IndexRequests.create(indexes, NAME, IndexKind.HASH, Durability.DISK);
      snapshot(indexes);
    }
    final Path snapshot = data.resolve(NEWEST);
    Files.copy(other.resolve("snapshot-0000000001"), snapshot, REPLACE_EXISTING);
    final Map<ByteString, Entry> found =
        salvage(data, false, "of another directory: file=" + snapshot);
    assertTrue(found.size() > KEYS / 2, "the journal is there: found=" + found.size());
  }

  /** No start is possible then, and all files are searched. */
  @Test
  void withoutACheckpointAllIsFound() throws IOException {
    final Path data = data();
    Files.delete(data.resolve("checkpoint"));
    assertSame(model, salvage(data, false, "the end of the journal may be missing"));
  }

  @Test
  void withHalfACheckpointTheEndIsUnknown() throws IOException {
    final Path data = data();
    flip(data.resolve("checkpoint"), 20);
    assertSame(model, salvage(data, false, "one of its two slots"));
  }

  /** As where a server ends in order while it prepares the next segment. */
  @Test
  void aSegmentThatWasBeingPreparedIsNoneThatIsMissing() throws IOException {
    final Path data = data();
    Files.write(data.resolve("journal-0000000002"), new byte[1 << 20]);
    assertSame(model, salvage(data, true, "wrote entries=" + model.size()));
  }

  /** A last batch that is damaged looks like one that was being written. */
  @Test
  void unfinishedBytesMayBeDamage() throws IOException {
    final Path data = data();
    try (RandomAccessFile segment = new RandomAccessFile(data.resolve(SEGMENT).toFile(), "rw")) {
      segment.seek(used + 4096);
      segment.write(1);
    }
    assertSame(model, salvage(data, false, "in order", SEGMENT + " offset="));
  }

  @Test
  void theOlderSnapshotHasWhatTheNewestHadInIt() throws IOException {
    final Path data = data();
    zero(data.resolve(NEWEST), Files.size(data.resolve(NEWEST)) / 2, 1000);
    assertSame(model, salvage(data, true, "damaged snapshot"));
  }

  @Test
  void theJournalBeforeASnapshotIsNotNeeded() throws IOException {
    final Path data = data();
    zero(data.resolve(SEGMENT), 512, snapshotBegin - 1024);
    Files.delete(data.resolve(OLDER));
    assertSame(model, salvage(data, true));
  }

  /** The snapshot knows that entries were removed, and the records that did it are gone. */
  @Test
  void whatASnapshotHasNotDoesNotComeBack() throws IOException {
    final Path data = data();
    zero(data.resolve(SEGMENT), 8000, snapshotBegin - 8000); // removals, too
    flip(data.resolve(SEGMENT), snapshotBegin + 2000);
    final Map<ByteString, Entry> found = salvage(data, false, SEGMENT + " offset=");
    assertTrue(model.size() - found.size() < 2, "expected=" + model.size());
    for (final ByteString key : found.keySet()) {
      if (!model.containsKey(key)) { // its removal, behind the snapshot, was hit
        final int number = Integer.parseInt(key.substring(3).toStringUtf8());
        assertTrue(number >= KEYS / 2 && number < KEYS / 2 + 100, key::toStringUtf8);
      }
    }
  }

  /** Each of them is half there, and the journal does not have all that they had. */
  @Test
  void bothSnapshotsAndTheJournalAreSearched() throws IOException {
    final Path data = data();
    flip(data.resolve(OLDER), Files.size(data.resolve(OLDER)) / 2);
    flip(data.resolve(NEWEST), Files.size(data.resolve(NEWEST)) / 2);
    zero(data.resolve(SEGMENT), 3000, 100);
    final Map<ByteString, Entry> found =
        salvage(
            data,
            false,
            "damaged snapshot: file=" + data.resolve(OLDER),
            "damaged snapshot: file=" + data.resolve(NEWEST),
            "records of the snapshot are missing: written=",
            SEGMENT + " offset=",
            "missing records=");
    assertSame(model, found); // the journal has what each of the two flipped bytes has hit
  }

  @Test
  void zerosInTheJournalAreNamed() throws IOException {
    final Path data = data();
    zero(data.resolve(SEGMENT), used - 4096, 512);
    final Map<ByteString, Entry> found =
        salvage(data, false, "durable=", SEGMENT + " offset=", "missing records=");
    for (final Map.Entry<ByteString, Entry> each : model.entrySet()) {
      assertEquals(each.getValue().getValue(), found.get(each.getKey()).getValue());
    }
    assertTrue(found.size() > model.size(), "removals were hit"); // so these are back
    assertTrue(found.size() < model.size() + 20, "found=" + found.size());
  }

  @Test
  void aCutJournalIsNamed() throws IOException {
    final Path data = data();
    try (RandomAccessFile segment = new RandomAccessFile(data.resolve(SEGMENT).toFile(), "rw")) {
      segment.setLength(used - 1000);
    }
    final Map<ByteString, Entry> found =
        salvage(
            data,
            false,
            "cut: file=" + data.resolve(SEGMENT),
            "ends at position=",
            "synced up to position=" + (used + 7) / 8 * 8);
    assertTrue(found.keySet().containsAll(model.keySet()));
  }

  @Test
  void withoutTheHeaderOfASegmentItsBatchesSayWhereItIs() throws IOException {
    final Path data = data();
    zero(data.resolve(SEGMENT), 0, 512);
    Files.delete(data.resolve("journal-0000000002"));
    Files.delete(data.resolve(NEWEST));
    Files.delete(data.resolve(OLDER));
    Files.move(data.resolve(SEGMENT), data.resolve("journal-0000000007"));
    assertSame(model, salvage(data, false, "no header"));
  }

  /** The older ones were trimmed, and the disk had no room for a next one. */
  @Test
  void theOnlySegmentIsReadBehindASnapshotWithoutItsHeader() throws IOException {
    final Path data = data();
    zero(data.resolve(SEGMENT), 0, 4096);
    Files.delete(data.resolve("journal-0000000002"));
    Files.move(data.resolve(SEGMENT), data.resolve("journal-0000000007"));
    assertSame(model, salvage(data, false, "no header"));
  }

  @Test
  void aSegmentIsNamedOfWhichNothingIsLeftBehindASnapshot() throws IOException {
    final Path data = data();
    zero(data.resolve(SEGMENT), 0, used + 4096);
    Files.delete(data.resolve("journal-0000000002"));
    Files.move(data.resolve(SEGMENT), data.resolve("journal-0000000007"));
    final Map<ByteString, Entry> found = salvage(data, false, "no header", "synced up to");
    assertTrue(found.size() > KEYS / 2, "the snapshot is there: found=" + found.size());
  }

  /** Nothing in it tells that it was long, so that it reached behind the snapshot. */
  @Test
  void aSegmentIsNamedThatIsAnotherFileNow() throws IOException {
    final Path data = data();
    Files.copy(data.resolve("identity"), data.resolve(SEGMENT), REPLACE_EXISTING);
    final Map<ByteString, Entry> found =
        salvage(data, false, "no header of a segment: file=" + data.resolve(SEGMENT));
    assertTrue(found.size() > KEYS / 2, "the snapshot is there: found=" + found.size());
  }

  /** Its length was lost with its header, and what is left of it says where it was. */
  @Test
  void aSegmentThatWasCutWithoutItsHeaderIsRead() throws IOException {
    final Path data = data();
    Files.move(data.resolve(SEGMENT), data.resolve("journal-0000000007"));
    Files.move(data.resolve("journal-0000000002"), data.resolve("journal-0000000008"));
    zero(data.resolve("journal-0000000007"), 0, 512);
    try (RandomAccessFile cut =
        new RandomAccessFile(data.resolve("journal-0000000007").toFile(), "rw")) {
      cut.setLength(used);
    }
    assertSame(model, salvage(data, false, "no header"));
  }

  @Test
  void theSegmentIsNamedThatIsMissingBehindASnapshot() throws IOException {
    final Path data = data();
    Files.delete(data.resolve(SEGMENT));
    Files.delete(data.resolve("identity")); // else the reading of a start names it
    final Map<ByteString, Entry> found =
        salvage(data, false, "missing: file=" + data.resolve(SEGMENT));
    assertTrue(found.size() > KEYS / 2, "the snapshot is there: found=" + found.size());
  }

  /** The next segment is in preparation: whether it has its header is decided by a moment. */
  @Test
  void theSegmentIsNamedThatIsMissingBeforeOneInPreparation() throws IOException {
    final Path data = data();
    zero(data.resolve("journal-0000000002"), 0, 512);
    Files.delete(data.resolve(SEGMENT));
    Files.delete(data.resolve("identity"));
    final Map<ByteString, Entry> found =
        salvage(data, false, "missing: file=" + data.resolve(SEGMENT));
    assertTrue(found.size() > KEYS / 2, "the snapshot is there: found=" + found.size());
  }

  @Test
  void whereNothingIsLeftNothingIsWritten() throws IOException {
    final Path data = data();
    for (final String name : List.of(SEGMENT, "journal-0000000002", OLDER, NEWEST)) {
      Files.delete(data.resolve(name));
    }
    final IOException refusal = assertThrows(IOException.class, () -> salvage(data, true));
    assertTrue(refusal.getMessage().contains("no record is left"), refusal::getMessage);
    assertFalse(Files.exists(parent.resolve("new")));
  }

  /** In a sound directory, in one whose journal is damaged, and where the file itself is. */
  @Test
  void indexesInMemoryAreSalvagedThatAnOrderlyEndHasLeft() throws Exception {
    final Path data = parent.resolve("memory");
    try (Indexes indexes = open(data)) {
      final ServedIndex index =
          IndexRequests.create(indexes, NAME, IndexKind.HASH, Durability.MEMORY);
      write(index, 0, 500, SalvageTest::put);
      indexes.node().stop(unsaved -> {});
    }
    final Map<ByteString, Entry> expected = content(data);
    assertEquals(500, expected.size());
    assertSame(expected, salvage(data, true, "record of an orderly end: index=" + NAME));
    clearTarget();
    Files.delete(data.resolve("checkpoint"));
    assertSame(expected, salvage(data, false, "the end of the journal may be missing"));
    clearTarget();
    final Path file;
    try (Stream<Path> files = Files.list(data)) {
      file =
          files
              .filter(each -> each.getFileName().toString().startsWith("stop-"))
              .max(Comparator.comparingLong(each -> each.toFile().length()))
              .get();
    }
    flip(file, Files.size(file) - 100);
    final Map<ByteString, Entry> rest = salvage(data, false, "a damaged snapshot: file=" + file);
    assertTrue(expected.keySet().containsAll(rest.keySet()));
    assertTrue(rest.size() > 400, "entries=" + rest.size());
  }

  private void clearTarget() throws IOException {
    try (Stream<Path> files = Files.list(parent.resolve("new"))) {
      for (final Path file : files.toList()) {
        Files.delete(file);
      }
    }
  }

  /** Each start leaves out versions that may be lost. */
  @Test
  void versionsThatAStartSkipsAreNoMissingRecords() throws Exception {
    final Path data = parent.resolve("interval");
    for (int start = 0; start < 3; start++) {
      try (Indexes indexes = open(data)) {
        final ServedIndex index =
            IndexRequests.create(indexes, NAME, IndexKind.HASH, Durability.INTERVAL);
        final ByteString key = ByteString.copyFromUtf8("key" + start);
        assertEquals(Write.DONE, submit(index, write -> write.put(key, key)).join());
      }
    }
    assertEquals(3, salvage(data, true).size());
  }

  @Test
  void severalSegmentsAreOneJournal() throws Exception {
    final Path data = parent.resolve("long");
    final Map<ByteString, Entry> expected;
    try (Indexes indexes = open(data)) {
      final ServedIndex index =
          IndexRequests.create(indexes, NAME, IndexKind.HASH, Durability.INTERVAL);
      final List<CompletableFuture<Integer>> answers = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        final ByteString key = ByteString.copyFromUtf8("key" + i);
        final ByteString value = ByteString.copyFrom(new byte[1 << 20]);
        answers.add(submit(index, write -> write.put(key, value)));
      }
      answers.forEach(answer -> assertEquals(Write.DONE, answer.join()));
    }
    expected = content(data);
    assertEquals(40, expected.size());
    zero(data.resolve("journal-0000000002"), 0, 512);
    assertSame(expected, salvage(data, false, "no header of a segment: file="));
    Files.delete(data.resolve(SEGMENT));
    clearTarget();
    final Path target = parent.resolve("new");
    final Salvage.Report report = Salvage.run(data, target, BUDGET);
    assertFalse(report.isComplete());
    assertTrue(
        report.lines().stream().anyMatch(line -> line.startsWith("the journal has no begin")),
        report::toString);
    assertTrue(report.toString().contains("creation of an index is lost"), report::toString);
  }
}
