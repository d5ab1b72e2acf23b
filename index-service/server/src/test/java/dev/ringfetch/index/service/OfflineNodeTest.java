package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.coordinator.LocalCoordinator;
import dev.ringfetch.index.disk.HostDisk;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.journal.SnapshotCycle;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.IndexKind;
import io.grpc.StatusException;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The data directory of a cluster's node that does not run: verified, dumped, not salvaged. */
@Timeout(120)
final class OfflineNodeTest {
  private static final long BUDGET = 64L << 20;
  private static final int KEYS = 50;

  private final long seed = Long.getLong("ringfetch.seed", 20261127);
  private final Random random = new Random(seed);
  private final LocalCoordinator.Truth truth = new LocalCoordinator.Truth();

  @TempDir Path parent;

  /** What each index has, by its name. */
  private final Map<String, Map<ByteString, ByteString>> model = new TreeMap<>();

  /** A node on the directory, which leads all of its indexes. */
  private final class Life implements AutoCloseable {
    private final Indexes indexes;
    private final ClusterNode node;

    Life(Path data) throws Exception {
      this(data, truth);
    }

    Life(Path data, LocalCoordinator.Truth truth) throws Exception {
      indexes =
          Indexes.unrecovered(
              IndexMemory.shared(
                  new IndexMemoryContext().budget(BUDGET).fallback(true).dataDirectory(data)));
      node = new ClusterNode(indexes, truth.connect(), 1, "boot", null);
      boolean recovered = false;
      try {
        indexes.recoverAndServe();
        recovered = true;
      } finally {
        if (!recovered) {
          close();
        }
      }
      final CompletableFuture<Void> reached = new CompletableFuture<>();
      node.start(
          "localhost:1",
          () -> reached.complete(null),
          reason -> reached.completeExceptionally(new IOException(reason)));
      try {
        reached.get(20, TimeUnit.SECONDS);
      } catch (ExecutionException e) {
        close();
        throw e;
      }
    }

    void create(String name, IndexKind kind) throws Exception {
      create(name, kind, Durability.DISK);
    }

    void create(String name, IndexKind kind, Durability level) throws Exception {
      final CompletableFuture<StatusException> ended = new CompletableFuture<>();
      node.catalog()
          .create(
              IndexRequests.request(name, kind, level),
              (incarnation, done, failure) -> ended.complete(failure));
      assertNull(ended.get(20, TimeUnit.SECONDS));
      model.put(name, new TreeMap<>(ByteString.unsignedLexicographicalComparator()));
    }

    void awaitLed(String name) throws InterruptedException {
      while (indexes.find(name) == null) { // the test has a time limit
        Thread.sleep(5);
      }
    }

    void drop(String name) throws Exception {
      final CompletableFuture<StatusException> ended = new CompletableFuture<>();
      node.catalog().drop(name, 0, (incarnation, done, failure) -> ended.complete(failure));
      assertNull(ended.get(20, TimeUnit.SECONDS));
      model.remove(name);
    }

    void write(String name) throws Exception {
      final ServedIndex index = indexes.find(name);
      assertNotNull(index);
      for (int i = 0; i < KEYS; i++) {
        final ByteString key = ByteString.copyFromUtf8("key" + random.nextInt(KEYS));
        final byte[] value = new byte[random.nextInt(100)];
        random.nextBytes(value);
        final CompletableFuture<Integer> answered = new CompletableFuture<>();
        final Write write = new Write(done -> answered.complete(done.outcome()));
        if (random.nextInt(4) == 0) {
          write.delete(key);
          model.get(name).remove(key);
        } else {
          write.put(key, ByteString.copyFrom(value));
          model.get(name).put(key, write.value());
        }
        assertEquals(0, index.partition(key).submit(write));
        assertEquals(Write.DONE, answered.get(20, TimeUnit.SECONDS));
      }
    }

    void snapshot() throws Exception {
      final CompletableFuture<IOException> ended = new CompletableFuture<>();
      indexes
          .memory()
          .journal()
          .snapshot(
              new SnapshotCycle.Listener() {
                @Override
                public void onSnapshot(SnapshotCycle.Taken snapshot) {
                  ended.complete(null);
                }

                @Override
                public void onFailure(IOException failure) {
                  ended.complete(failure);
                }
              });
      assertNull(ended.get(20, TimeUnit.SECONDS));
    }

    void endInOrder() {
      node.stop(unsaved -> {});
      indexes.close();
    }

    @Override
    public void close() {
      node.close();
      indexes.close();
    }
  }

  /** A directory with two indexes and one that was dropped, some of it in a snapshot. */
  private Path written(boolean snapshots) throws Exception {
    final Path data = parent.resolve("data");
    try (Life life = new Life(data)) {
      life.create("hash", IndexKind.HASH);
      life.create("ordered", IndexKind.ORDERED);
      life.create("dropped", IndexKind.ORDERED);
      life.write("hash");
      life.write("dropped");
      life.drop("dropped");
      if (snapshots) {
        life.snapshot();
        life.write("ordered");
        life.snapshot();
      }
      life.write("hash");
      life.write("ordered");
    }
    return data;
  }

  private void checkContent(Path data) throws IOException {
    try (OfflineIndexes indexes = OfflineIndexes.open(data, BUDGET)) {
      assertEquals(List.of(), indexes.faults());
      assertEquals(
          List.of("of a node of a cluster: other nodes may have newer entries"), indexes.notes());
      assertEquals(
          model.keySet(),
          new TreeSet<>(indexes.found().stream().map(OfflineIndexes.Found::name).toList()));
      checkEntries(indexes);
    }
  }

  private void checkEntries(OfflineIndexes indexes) throws IOException {
    for (final Map.Entry<String, Map<ByteString, ByteString>> each : model.entrySet()) {
      final Map<ByteString, ByteString> found =
          new TreeMap<>(ByteString.unsignedLexicographicalComparator());
      assertTrue(
          indexes.walk(
              each.getKey(),
              entry -> {
                found.put(entry.getKey(), entry.getValue());
                return true;
              }));
      assertEquals(each.getValue(), found, each.getKey());
    }
  }

  @Test
  void theRecordOfAnOrderlyStopIsReadToo() throws Exception {
    final Path data = parent.resolve("data");
    final Life life = new Life(data);
    life.create("disk", IndexKind.ORDERED);
    life.create("memory", IndexKind.HASH, Durability.MEMORY);
    life.write("disk");
    life.write("memory");
    life.endInOrder();
    try (OfflineIndexes indexes = OfflineIndexes.open(data, BUDGET)) {
      assertEquals(List.of(), indexes.faults());
      assertEquals(2, indexes.notes().size());
      assertTrue(
          indexes.notes().get(1).contains(" index=memory file=stop-"), indexes.notes()::toString);
      assertEquals(
          List.of(Durability.DISK, Durability.MEMORY),
          indexes.found().stream().map(OfflineIndexes.Found::durability).toList());
      checkEntries(indexes);
    }

    final Path file;
    try (DirectoryStream<Path> files = Files.newDirectoryStream(data, "stop-*")) {
      file = files.iterator().next();
    }
    final byte[] whole = Files.readAllBytes(file);
    Files.write(file, Arrays.copyOf(whole, whole.length - Long.BYTES));
    model.remove("memory");
    try (OfflineIndexes indexes = OfflineIndexes.open(data, BUDGET)) {
      assertEquals(1, indexes.faults().size());
      assertTrue(
          indexes.faults().get(0).contains(file.getFileName().toString()),
          indexes.faults()::toString);
      assertEquals(1, indexes.found().size());
      checkEntries(indexes);
    }
    assertEquals(whole.length - Long.BYTES, Files.size(file)); // nothing was changed
  }

  @Test
  void aJournalAloneHasAllThatWasAcknowledged() throws Exception {
    checkContent(written(false));
  }

  @Test
  void aSnapshotAndTheJournalBehindItHaveAllThatWasAcknowledged() throws Exception {
    checkContent(written(true));
  }

  @Test
  void aSnapshotOfNoGroupIsThatOfANode() throws Exception {
    final Path data = parent.resolve("data");
    try (Life life = new Life(data)) {
      life.create("dropped", IndexKind.ORDERED);
      life.write("dropped");
      life.drop("dropped");
      life.snapshot();
    }
    assertEquals(List.of(), findings(data));
    try (Life life = new Life(data)) {
      life.create("hash", IndexKind.HASH);
      life.write("hash");
    }
    checkContent(data);
  }

  @Test
  void aCoordinatorOfAnotherClusterIsRefused() throws Exception {
    final Path data = written(false);
    final ExecutionException refusal =
        assertThrows(
            ExecutionException.class, () -> new Life(data, new LocalCoordinator.Truth()).close());
    assertTrue(refusal.getMessage().contains("is a node of cluster="), refusal::getMessage);
    checkContent(data);
    try (Life life = new Life(data)) { // with its own again
      for (final String name : model.keySet()) {
        life.awaitLed(name);
        life.write(name);
      }
    }
    checkContent(data);
  }

  @Test
  void aBackupHasTheSame() throws Exception {
    final Path data = written(true);
    final Path copy = parent.resolve("copy");
    Backup.of(HostDisk.readOnly(data), copy);
    checkContent(copy);
  }

  /** Others may have gone on without it. */
  @Test
  void aNodeOfAClusterStartsOnNoCopy() throws Exception {
    final Path data = written(true);
    final Path copy = parent.resolve("copy");
    Backup.of(HostDisk.readOnly(data), copy);
    for (int i = 0; i < 2; i++) {
      final IOException refusal = assertThrows(IOException.class, () -> new Life(copy).close());
      assertTrue(
          refusal.getMessage().contains("a copy of a node's directory"), refusal::getMessage);
    }
  }

  @Test
  void aStartPassesOverADamagedSnapshotAndHasAllFromTheOneBefore() throws Exception {
    final Path data = written(true);
    final Path newest;
    try (var all = Files.list(data)) {
      newest =
          all.filter(file -> file.getFileName().toString().startsWith("snapshot-"))
              .max(Comparator.naturalOrder())
              .orElseThrow();
    }
    final byte[] bytes = Files.readAllBytes(newest);
    bytes[bytes.length / 2] ^= 1;
    Files.write(newest, bytes);
    try (OfflineIndexes indexes = OfflineIndexes.open(data, BUDGET)) {
      assertTrue(indexes.faults().toString().contains("damaged snapshot"), "" + indexes.faults());
      checkEntries(indexes);
    }
    try (Life life = new Life(data)) {
      for (final String name : model.keySet()) {
        life.awaitLed(name);
        life.write(name);
      }
    }
    try (OfflineIndexes indexes = OfflineIndexes.open(data, BUDGET)) {
      checkEntries(indexes);
    }
  }

  /** What a verification says of the directory: empty if it is sound. */
  private List<String> findings(Path data) {
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
  @Tag("slow")
  void eachFlippedBitIsFound() throws Exception {
    final Path data = written(true);
    assertEquals(List.of(), findings(data));
    final List<Path> files;
    try (var all = Files.list(data)) {
      files =
          all.filter(
                  file ->
                      file.getFileName().toString().matches("journal-0*1|snapshot-.*|checkpoint"))
              .sorted()
              .toList();
    }
    assertEquals(4, files.size(), files::toString);
    for (final Path file : files) {
      final byte[] bytes = Files.readAllBytes(file);
      int end = bytes.length;
      while (end > 0 && bytes[end - 1] == 0) {
        end--; // the rest of a segment
      }
      for (int i = 0; i < 10; i++) {
        final int at = random.nextInt(end);
        final byte before = bytes[at];
        bytes[at] ^= (byte) (1 << random.nextInt(8));
        Files.write(file, bytes);
        assertFalse(findings(data).isEmpty(), "seed=" + seed + " file=" + file + " offset=" + at);
        bytes[at] = before;
      }
      Files.write(file, bytes);
    }
    assertEquals(List.of(), findings(data));
  }

  @Test
  void aSalvageHasTheSame() throws Exception {
    final Path data = written(true);
    final Path salvaged = parent.resolve("salvaged");
    final Salvage.Report report = Salvage.run(data, salvaged, BUDGET);
    assertTrue(report.isComplete(), report.lines()::toString);
    try (OfflineIndexes indexes = OfflineIndexes.open(salvaged, BUDGET)) {
      assertEquals(List.of(), indexes.faults());
      checkEntries(indexes);
    }
  }

  @Test
  void aMemoryThatIsTooSmallIsNoDamage() throws Exception {
    final Path data = parent.resolve("data");
    try (Life life = new Life(data)) {
      life.create("a", IndexKind.ORDERED);
      final ServedIndex index = life.indexes.find("a");
      for (int i = 0; i < 24; i++) {
        final CompletableFuture<Integer> answered = new CompletableFuture<>();
        final ByteString key = ByteString.copyFromUtf8("key" + i);
        final Write write = new Write(done -> answered.complete(done.outcome()));
        assertEquals(
            0, index.partition(key).submit(write.put(key, ByteString.copyFrom(new byte[1 << 20]))));
        assertEquals(Write.DONE, answered.get(20, TimeUnit.SECONDS));
      }
    }
    final IOException refusal =
        assertThrows(
            IOException.class,
            () -> OfflineIndexes.open(data, IndexMemoryContext.BUDGET_MIN).close());
    assertTrue(refusal.getMessage().contains("memory is too small"), refusal::getMessage);
  }
}
