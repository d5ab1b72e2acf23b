package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.coordinator.Adoption;
import dev.ringfetch.index.coordinator.LocalCoordinator;
import dev.ringfetch.index.data.OfflineDirectory;
import dev.ringfetch.index.disk.HostDisk;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.journal.SnapshotCycle;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.IndexKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Data directories that no server uses: verified, dumped, salvaged. */
@Timeout(120)
class OfflineIndexesTest {
  private static final long BUDGET = 64L << 20;
  private static final int KEYS = 200;

  private final long seed = Long.getLong("ringfetch.seed", 20261127);
  private final Random random = new Random(seed);

  @TempDir Path parent;
  private Path data;

  /** What each index has, by its name. */
  private final Map<String, Map<ByteString, ByteString>> model = new TreeMap<>();

  private Indexes open(Path directory) throws IOException {
    return new Indexes(
        IndexMemory.ofProcess(new IndexMemoryContext().budget(BUDGET).dataDirectory(directory)));
  }

  @BeforeEach
  void writes() throws Exception {
    data = parent.resolve("data");
    try (Indexes indexes = open(data)) {
      for (final IndexKind kind : new IndexKind[] {IndexKind.HASH, IndexKind.ORDERED}) {
        final ServedIndex index =
            IndexRequests.create(indexes, "of " + kind, kind, Durability.DISK);
        final Map<ByteString, ByteString> content =
            new TreeMap<>(ByteString.unsignedLexicographicalComparator());
        model.put(index.name(), content);
        for (int i = 0; i < 2 * KEYS; i++) {
          final ByteString key = ByteString.copyFromUtf8("key" + random.nextInt(KEYS));
          final byte[] value = new byte[random.nextInt(100)];
          random.nextBytes(value);
          final CountDownLatch answered = new CountDownLatch(1);
          final Write write = new Write(done -> answered.countDown());
          if (random.nextInt(4) == 0) {
            write.delete(key);
            content.remove(key);
          } else {
            write.put(key, ByteString.copyFrom(value));
            content.put(key, write.value());
          }
          assertEquals(0, index.partition(key).submit(write));
          if (i % 20 == 0) {
            answered.await();
          }
        }
      }
    }
  }

  private static Map<ByteString, ByteString> content(OfflineIndexes indexes, String name)
      throws IOException {
    final Map<ByteString, ByteString> found =
        new TreeMap<>(ByteString.unsignedLexicographicalComparator());
    assertTrue(
        indexes.walk(
            name,
            entry -> {
              found.put(entry.getKey(), entry.getValue());
              return true;
            }));
    return found;
  }

  private Path file(String prefix) throws IOException {
    try (var files = Files.list(data)) {
      return files
          .filter(file -> file.getFileName().toString().startsWith(prefix))
          .findFirst()
          .get();
    }
  }

  private void flip(Path file, long bit) throws IOException {
    final byte[] bytes = Files.readAllBytes(file);
    bytes[(int) (bit / 8)] ^= (byte) (1 << bit % 8);
    Files.write(file, bytes);
  }

  /** What a verification says of the directory: empty if it is sound. */
  private List<String> findings() throws IOException {
    try (OfflineIndexes indexes = OfflineIndexes.open(data, BUDGET)) {
      final List<String> findings = new ArrayList<>(indexes.faults());
      if (indexes.unfinishedBytes() > 0) {
        findings.add("unfinished");
      }
      return findings;
    } catch (IOException e) {
      return List.of(e.getMessage());
    }
  }

  @Test
  void whatIsThereIsFoundAndNothingChanges() throws Exception {
    final Map<String, byte[]> before = files();
    try (OfflineIndexes indexes = OfflineIndexes.open(data, BUDGET)) {
      assertEquals(List.of(), indexes.faults());
      assertTrue(indexes.isClean());
      assertEquals(0, indexes.unfinishedBytes());
      assertEquals(1, indexes.incarnation());
      assertEquals(
          List.of(
              new OfflineIndexes.Found(
                  "of HASH", IndexKind.HASH, Durability.DISK, model.get("of HASH").size()),
              new OfflineIndexes.Found(
                  "of ORDERED",
                  IndexKind.ORDERED,
                  Durability.DISK,
                  model.get("of ORDERED").size())),
          indexes.found());
      for (final String name : model.keySet()) {
        assertEquals(model.get(name), content(indexes, name), name);
      }
      assertFalse(indexes.walk("none", entry -> true));
      assertThrows(IOException.class, () -> open(data).close());
    }
    assertEquals(before.keySet(), files().keySet());
    for (final Map.Entry<String, byte[]> file : files().entrySet()) {
      assertTrue(Arrays.equals(before.get(file.getKey()), file.getValue()), file.getKey());
    }
  }

  private Map<String, byte[]> files() throws IOException {
    final Map<String, byte[]> contents = new TreeMap<>();
    try (var files = Files.list(data)) {
      for (final Path file : files.toList()) {
        contents.put(file.getFileName().toString(), Files.readAllBytes(file));
      }
    }
    return contents;
  }

  @Test
  void aServersDirectoryIsRefused() throws Exception {
    try (Indexes indexes = open(data)) {
      final IOException refused =
          assertThrows(IOException.class, () -> OfflineIndexes.open(data, BUDGET));
      assertTrue(refused.getMessage().contains("another server"), refused.getMessage());
      assertEquals(model.get("of HASH").size(), indexes.find("of HASH").count());
    }
    assertThrows(IOException.class, () -> OfflineIndexes.open(parent, BUDGET));
  }

  @Test
  void aReadOnlyDirectoryIsRead() throws Exception {
    Files.setPosixFilePermissions(data, PosixFilePermissions.fromString("r-x------"));
    try {
      assertEquals(List.of(), findings());
    } finally {
      Files.setPosixFilePermissions(data, PosixFilePermissions.fromString("rwx------"));
    }
  }

  @Test
  void flippedBitsOfIdentityAndGateAreFound() throws Exception {
    for (final String name : List.of("identity", "gate")) {
      final Path file = data.resolve(name);
      final byte[] whole = Files.readAllBytes(file);
      final int most = Boolean.getBoolean("ringfetch.all") ? 1 : 150; // flips between two tested
      for (int bit = random.nextInt(most);
          bit < whole.length * 8;
          bit += 1 + random.nextInt(most)) {
        final byte[] bytes = whole.clone();
        bytes[bit / 8] ^= (byte) (1 << bit % 8);
        Files.write(file, bytes);
        try (OfflineDirectory directory = OfflineDirectory.open(data)) {
          final boolean isSign = name.equals("gate") && bytes[64 + 7] < 0 != whole[64 + 7] < 0;
          assertTrue(isSign || !directory.faults().isEmpty(), name + " bit=" + bit);
        }
      }
      Files.write(file, whole);
    }
    assertEquals(List.of(), findings());
  }

  /** A start takes the newer snapshot, and reads nothing of what the older one needs. */
  @Test
  void flippedBitsBeforeASnapshotAreFound() throws Exception {
    try (Indexes indexes = open(data)) {
      for (int i = 0; i < 2; i++) {
        final CompletableFuture<Long> taken = new CompletableFuture<>();
        snapshot(indexes, taken);
        taken.get();
        put(indexes, ByteString.copyFromUtf8("behind" + i));
      }
    }
    flippedBitsOfTheJournalAreFound();
  }

  @Test
  void flippedBitsOfTheJournalAreFound() throws Exception {
    final Path segment = file("journal-");
    final byte[] whole = Files.readAllBytes(segment);
    int used = whole.length;
    while (whole[used - 1] == 0) {
      used--;
    }
    for (int i = 0; i < 12; i++) {
      final boolean behind = i % 4 == 0;
      final long byteAt =
          behind ? random.nextInt(whole.length - used) + used : random.nextInt(used);
      final long bit = byteAt * 8 + random.nextInt(8);
      flip(segment, bit);
      assertFalse(findings().isEmpty(), "seed=" + seed + " bit=" + bit);
      flip(segment, bit);
    }
    assertEquals(List.of(), findings());
  }

  @Test
  void aBackupBesideWritersHasAllThatWasAnswered() throws Exception {
    final AtomicInteger answered = new AtomicInteger();
    final AtomicBoolean ending = new AtomicBoolean();
    try (Indexes indexes = open(data)) {
      final ServedIndex index = indexes.find("of HASH");
      final Thread writer =
          new Thread(
              () -> {
                for (int i = 0; !ending.get(); i++) {
                  final ByteString key = ByteString.copyFromUtf8("new" + i);
                  final CountDownLatch done = new CountDownLatch(1);
                  index.partition(key).submit(new Write(write -> done.countDown()).put(key, key));
                  try {
                    done.await();
                  } catch (InterruptedException e) {
                    return;
                  }
                  answered.incrementAndGet();
                }
              });
      writer.start();
      for (int i = 0; i < 3; i++) {
        final CompletableFuture<Long> taken = new CompletableFuture<>();
        final int before = answered.get();
        snapshot(indexes, taken);
        final long number = taken.get();
        final Path copy = parent.resolve("copy" + i);
        assertTrue(Backup.of(HostDisk.readOnly(data), copy).snapshot() >= number);
        try (OfflineIndexes backup = OfflineIndexes.open(copy, BUDGET)) {
          assertEquals(List.of(), backup.faults());
          assertTrue(backup.isClean());
          final Map<ByteString, ByteString> found = content(backup, "of HASH");
          for (int k = 0; k < before; k++) {
            assertTrue(found.containsKey(ByteString.copyFromUtf8("new" + k)), "k=" + k);
          }
          assertTrue(found.entrySet().containsAll(model.get("of HASH").entrySet()));
        }
      }
      ending.set(true);
      writer.join();
    }
    assertTrue(answered.get() > 0);
  }

  /** The server has what its files had, and goes on: the backup says what is damaged, and where. */
  @Test
  void aBackupOfADamagedJournalNamesThePlace() throws Exception {
    try (Indexes indexes = open(data)) {
      for (int i = 0; i < 50; i++) {
        put(indexes, ByteString.copyFromUtf8("new" + i));
      }
      final CompletableFuture<Long> taken = new CompletableFuture<>();
      snapshot(indexes, taken);
      taken.get();
      final Path segment = file("journal-");
      final int used = used(segment);
      final Path copy = parent.resolve("copy");
      for (int i = 0; i < 50; i++) {
        put(indexes, ByteString.copyFromUtf8("later" + i));
      }
      final long late = (used + random.nextInt(used(segment) - used)) * 8L + random.nextInt(8);
      flip(segment, late);
      assertNamesThePlace(segment, late / 8, copy);
      flip(segment, late);
      final var unused = Backup.of(HostDisk.readOnly(data), copy);
      assertTrue(Files.exists(copy.resolve("identity")));
    }
  }

  private void assertNamesThePlace(Path segment, long damaged, Path copy) throws IOException {
    final IOException refused =
        assertThrows(
            IOException.class, () -> Backup.of(HostDisk.readOnly(data), copy), "seed=" + seed);
    final Matcher place =
        Pattern.compile("file=(\\S+) offset=(\\d+)").matcher(refused.getMessage());
    assertTrue(place.find(), refused.getMessage());
    assertEquals(segment.toString(), place.group(1));
    final long offset = Long.parseLong(place.group(2));
    assertTrue(offset <= damaged && damaged - offset < 8192, refused + " seed=" + seed);
    assertTrue(Files.notExists(copy), "it leaves nothing behind");
  }

  /** Where the zeros begin that fill a segment. */
  private static int used(Path segment) throws IOException {
    final byte[] bytes = Files.readAllBytes(segment);
    int used = bytes.length;
    while (bytes[used - 1] == 0) {
      used--;
    }
    return used;
  }

  /** The original may have given out the versions that the copy would go on with. */
  @Test
  void indexesOfACopyHaveOtherIncarnationsAndLaterVersions() throws Exception {
    final long before;
    final long version;
    final ByteString key = ByteString.copyFromUtf8("new");
    try (Indexes indexes = open(data)) {
      before = indexes.find("of HASH").incarnation();
      version = put(indexes, key);
      final CompletableFuture<Long> taken = new CompletableFuture<>();
      snapshot(indexes, taken);
      taken.get();
      Backup.of(HostDisk.readOnly(data), parent.resolve("copy"));
    }
    final long after;
    try (Indexes copy = open(parent.resolve("copy"))) {
      after = copy.find("of HASH").incarnation();
      assertNotEquals(before, after);
      assertTrue(put(copy, key) > version + 1000);
    }
    try (Indexes copy = open(parent.resolve("copy"))) {
      assertEquals(after, copy.find("of HASH").incarnation(), "it is no copy any more");
    }
    try (Indexes indexes = open(data)) {
      assertEquals(before, indexes.find("of HASH").incarnation());
    }
  }

  /** Else the next start would go on with versions that the original gives, too. */
  @Test
  void aCopyStaysOneUntilAServerHasStartedOnIt() throws Exception {
    final Path copy = parent.resolve("copy");
    final long before;
    try (Indexes indexes = open(data)) {
      before = indexes.find("of HASH").incarnation();
      for (int i = 0; i < 24; i++) {
        submit(
            indexes, ByteString.copyFromUtf8("large" + i), ByteString.copyFrom(new byte[1 << 20]));
      }
      final CompletableFuture<Long> taken = new CompletableFuture<>();
      snapshot(indexes, taken);
      taken.get();
      Backup.of(HostDisk.readOnly(data), copy);
    }
    for (int i = 0; i < 2; i++) {
      final IOException refused =
          assertThrows(
              IOException.class,
              () ->
                  new Indexes(
                      IndexMemory.ofProcess(
                          new IndexMemoryContext()
                              .budget(IndexMemoryContext.BUDGET_MIN)
                              .dataDirectory(copy))));
      assertTrue(refused.getMessage().contains("--memory"), refused::getMessage);
    }
    try (Indexes indexes = open(copy)) {
      assertNotEquals(before, indexes.find("of HASH").incarnation());
    }
  }

  /** The coordinator's file was copied before. */
  @Test
  void indexesThatCameAndWentDuringABackupAreAsInTheJournal() throws Exception {
    final Path early = parent.resolve("early");
    final Path late = parent.resolve("late");
    final long later;
    try (Indexes indexes = open(data)) {
      backup(indexes, early);
      IndexRequests.drop(indexes, "of ORDERED");
      IndexRequests.create(indexes, "of ORDERED", IndexKind.HASH, Durability.DISK);
      later =
          IndexRequests.create(indexes, "later", IndexKind.ORDERED, Durability.DISK).incarnation();
      backup(indexes, late);
    }
    Files.copy(
        early.resolve("coordinator"),
        late.resolve("coordinator"),
        StandardCopyOption.REPLACE_EXISTING);
    for (int i = 0; i < 2; i++) {
      try (Indexes indexes = open(late)) {
        assertEquals(IndexKind.HASH, indexes.find("of ORDERED").kind());
        assertEquals(0, indexes.find("of ORDERED").count());
        assertNotEquals(later, indexes.find("later").incarnation());
        assertEquals(model.get("of HASH").size(), indexes.find("of HASH").count());
      }
    }
  }

  /** A start with the file would serve without an index, and one that made it anew without any. */
  @Test
  void aCoordinatorsFileThatIsOlderOrMissingIsRefusedAsByAStart() throws Exception {
    final Path file = data.resolve("coordinator");
    final byte[] old = Files.readAllBytes(file);
    try (Indexes indexes = open(data)) {
      IndexRequests.create(indexes, "later", IndexKind.HASH, Durability.DISK);
    }
    Files.write(file, old);
    refused("is older than the journal", "index=later group=");
    Files.delete(file);
    refused("the coordinator's file is missing");
    assertFalse(Files.exists(file));
    try (Indexes indexes =
        new Indexes(
            IndexMemory.ofProcess(
                new IndexMemoryContext().budget(BUDGET).dataDirectory(data).adoptCopy(true)))) {
      assertEquals(0, indexes.find("later").count());
      assertEquals(model.get("of HASH").size(), indexes.find("of HASH").count());
    }
    assertEquals(List.of(), findings());
  }

  private void refused(String... reasons) {
    final IOException refusal = assertThrows(IOException.class, () -> open(data).close());
    for (final String reason : reasons) {
      assertTrue(refusal.getMessage().contains(reason), refusal::getMessage);
    }
    assertTrue(refusal.getMessage().contains("--adopt-copy"), refusal::getMessage);
    final IOException found =
        assertThrows(IOException.class, () -> OfflineIndexes.open(data, BUDGET));
    assertEquals(refusal.getMessage(), found.getMessage());
  }

  @Test
  void aDirectoryThatMovesSaysWhere() throws Exception {
    final long node;
    try (OfflineIndexes indexes = OfflineIndexes.open(data, BUDGET)) {
      node = Long.parseUnsignedLong(indexes.id(), 0, 16, 16) & Long.MAX_VALUE;
      assertFalse(indexes.notes().toString().contains("cluster"), indexes.notes()::toString);
    }
    final LocalCoordinator cluster = new LocalCoordinator.Truth().connect();
    final Adoption adoption =
        new Adoption(
            data,
            node,
            Map.of(),
            Map.of(),
            3,
            id -> {
              throw new IOException("the process ends");
            });
    assertThrows(IOException.class, () -> adoption.run(cluster, Long.MAX_VALUE, () -> {}));
    try (OfflineIndexes indexes = OfflineIndexes.open(data, BUDGET)) {
      final String note =
          String.format("moves to cluster=%016x: start it with the --cluster", cluster.cluster());
      assertTrue(indexes.notes().get(0).startsWith(note), indexes.notes()::toString);
      assertEquals(model.get("of HASH").size(), content(indexes, "of HASH").size());
    }
    cluster.close();
    final IOException refusal = assertThrows(IOException.class, () -> open(data).close());
    assertTrue(refusal.getMessage().contains("moves to cluster="), refusal::getMessage);
  }

  @Test
  void aServerAloneHasNoClusterThatCouldHaveGoneOn() throws Exception {
    try (Indexes indexes = open(data)) {
      IndexRequests.create(indexes, "memory", IndexKind.HASH, Durability.MEMORY);
      indexes.node().stop(reason -> {});
    }
    try (OfflineIndexes indexes = OfflineIndexes.open(data, BUDGET)) {
      final String notes = indexes.notes().toString();
      assertTrue(notes.contains("record of an orderly end: index=memory file=stop-"), notes);
      assertFalse(notes.contains("cluster"), notes);
    }
  }

  private void backup(Indexes indexes, Path to) throws Exception {
    final CompletableFuture<Long> taken = new CompletableFuture<>();
    snapshot(indexes, taken);
    taken.get();
    final var unused = Backup.of(HostDisk.readOnly(data), to);
  }

  private static void submit(Indexes indexes, ByteString key, ByteString value)
      throws InterruptedException {
    final CountDownLatch done = new CountDownLatch(1);
    final Write write = new Write(answered -> done.countDown()).put(key, value);
    assertEquals(0, indexes.find("of HASH").partition(key).submit(write));
    done.await();
  }

  private static long put(Indexes indexes, ByteString key) throws InterruptedException {
    final CountDownLatch done = new CountDownLatch(1);
    final Write write = new Write(answered -> done.countDown()).put(key, key);
    assertEquals(0, indexes.find("of HASH").partition(key).submit(write));
    done.await();
    return write.version();
  }

  private static void snapshot(Indexes indexes, CompletableFuture<Long> taken) {
    indexes
        .memory()
        .journal()
        .snapshot(
            new SnapshotCycle.Listener() {
              @Override
              public void onSnapshot(SnapshotCycle.Taken snapshot) {
                taken.complete(snapshot.number());
              }

              @Override
              public void onFailure(IOException failure) {
                taken.completeExceptionally(failure);
              }
            });
  }

  /** Also what a dump and a salvage show of it. */
  @Test
  void entriesThatHaveEndedAreAbsent() throws Exception {
    final ByteString ending = ByteString.copyFromUtf8("ending");
    final ByteString staying = ByteString.copyFromUtf8("staying");
    try (Indexes indexes = open(data)) {
      final ServedIndex index = indexes.find("of ORDERED");
      for (final ByteString key : List.of(ending, staying)) {
        final CountDownLatch done = new CountDownLatch(1);
        final long ttlMs = key.equals(ending) ? 1 : 3_600_000;
        index
            .partition(key)
            .submit(new Write(answered -> done.countDown()).put(key, key).ttl(ttlMs));
        done.await();
      }
    }
    final Path salvaged = parent.resolve("salvaged");
    final List<String> report = Salvage.run(data, salvaged, BUDGET).lines();
    try (OfflineIndexes indexes = OfflineIndexes.open(salvaged, BUDGET)) {
      final Map<ByteString, ByteString> found = content(indexes, "of ORDERED");
      assertFalse(found.containsKey(ending), report.toString());
      assertTrue(found.containsKey(staying));
      indexes.walk(
          "of ORDERED",
          entry -> {
            assertEquals(entry.getKey().equals(staying), entry.getDeadlineMs() != 0);
            return true;
          });
    }
  }

  @Test
  void salvageFindsAllButWhatIsDamaged() throws Exception {
    final Path segment = file("journal-");
    final byte[] bytes = Files.readAllBytes(segment);
    // The header of a batch in the middle, and with it no record.
    int at = bytes.length;
    int batches = 0;
    for (int i = 512; i < 60_000; i += 8) {
      if (bytes[i + 8] == 'R'
          && bytes[i + 9] == 'F'
          && bytes[i + 10] == 'J'
          && bytes[i + 11] == 'B') {
        batches++;
        at = batches == 3 ? i : at;
      }
    }
    assertTrue(batches > 5, "batches=" + batches);
    bytes[at] ^= 1;
    Files.write(segment, bytes);
    assertThrows(IOException.class, () -> open(data).close());
    final Path salvaged = parent.resolve("salvaged");
    final List<String> report = Salvage.run(data, salvaged, BUDGET).lines();
    try (OfflineIndexes indexes = OfflineIndexes.open(salvaged, BUDGET)) {
      for (final String name : model.keySet()) {
        assertEquals(model.get(name), content(indexes, name), report.toString());
      }
    }
    assertThrows(IOException.class, () -> Salvage.run(data, salvaged, BUDGET), "not empty");
  }

  @Test
  void salvageGoesOnBehindWhatIsGone() throws Exception {
    final Path segment = file("journal-");
    final byte[] bytes = Files.readAllBytes(segment);
    for (int i = 0; i < 6_000; i++) { // the header, the creation of the first index, and writes
      bytes[i] = (byte) random.nextInt();
    }
    Files.write(segment, bytes);
    Files.delete(data.resolve("identity"));
    Files.delete(data.resolve("checkpoint"));
    final Path salvaged = parent.resolve("salvaged");
    final List<String> report = Salvage.run(data, salvaged, BUDGET).lines();
    assertTrue(report.toString().contains("creation of an index is lost"), report.toString());
    assertTrue(report.toString().contains("missing: file="), report.toString());
    assertTrue(report.toString().contains("no record: file="), report.toString());
    try (OfflineIndexes indexes = OfflineIndexes.open(salvaged, BUDGET)) {
      assertEquals(model.get("of ORDERED"), content(indexes, "of ORDERED"));
      final Map<ByteString, ByteString> found = content(indexes, salvagedName(indexes));
      // Each has a value that was written: the last one, if that record is left.
      assertTrue(found.size() > KEYS / 4, "found=" + found.size());
      int same = 0;
      for (final Map.Entry<ByteString, ByteString> entry : found.entrySet()) {
        same += entry.getValue().equals(model.get("of HASH").get(entry.getKey())) ? 1 : 0;
      }
      assertEquals(found.size(), same, "what was removed or replaced was so behind the damage");
    }
  }

  private static String salvagedName(OfflineIndexes indexes) {
    return indexes.found().stream()
        .map(OfflineIndexes.Found::name)
        .filter(name -> name.startsWith("salvaged-"))
        .findFirst()
        .orElseThrow();
  }

  /** The record that removed the first one is damaged. */
  @Test
  void salvageTellsIndexesOfOneNameApart() throws Exception {
    final int begin = used(Files.readAllBytes(file("journal-")));
    try (Indexes indexes = open(data)) {
      IndexRequests.drop(indexes, "of ORDERED");
    }
    final int end = used(Files.readAllBytes(file("journal-")));
    try (Indexes indexes = open(data)) {
      IndexRequests.create(indexes, "of ORDERED", IndexKind.HASH, Durability.DISK);
    }
    final Path segment = file("journal-");
    final byte[] bytes = Files.readAllBytes(segment);
    Arrays.fill(bytes, begin + 8, end, (byte) 0);
    Files.write(segment, bytes);
    final Path salvaged = parent.resolve("salvaged");
    final List<String> report = Salvage.run(data, salvaged, BUDGET).lines();
    assertTrue(report.toString().contains("of two indexes"), report.toString());
    try (OfflineIndexes indexes = OfflineIndexes.open(salvaged, BUDGET)) {
      assertEquals(List.of(), indexes.faults());
      assertEquals(model.get("of ORDERED"), content(indexes, "of ORDERED"), report.toString());
      assertEquals(4, indexes.found().size(), indexes.found().toString()); // and the default one
    }
  }

  private static int used(byte[] bytes) {
    int used = bytes.length;
    while (bytes[used - 1] == 0) {
      used--;
    }
    return used;
  }
}
