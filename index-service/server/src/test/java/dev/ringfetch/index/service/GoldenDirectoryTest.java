package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.journal.SnapshotCycle;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.IndexKind;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Data directories that earlier versions wrote, and their content: each later version reads those
 * of its format, and refuses others. They stand in {@code src/test/resources/golden}, one archive
 * each. An entry is called after a file and its length, and lacks the zeros at the file's end.
 *
 * <p>An archive is never written again. {@code -Dringfetch.golden=FOLDER} writes those of the
 * present version there, for a format that is new.
 */
@Timeout(60)
class GoldenDirectoryTest {
  private static final int KEYS = 200;
  private static final String TAGGED = "{tag} of a key";

  @TempDir Path data;
  @TempDir Path others;

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void anEarlierFormatIsRefusedByItsNumber(int format) throws Exception {
    unpack("format-" + format + "-journal");
    refused(format, () -> open().close());
    assertFalse(Files.exists(data.resolve("coordinator")), "of a start that was refused");
    refused(format, () -> OfflineIndexes.open(data, 64L << 20).close());
  }

  private void refused(int format, Executable reading) {
    final String refusal = assertThrows(IOException.class, reading).getMessage();
    assertTrue(
        refusal.contains("another version: file=" + data.resolve("checkpoint")), () -> refusal);
    assertTrue(
        refusal.contains("format=" + format + ", this version reads format=4"), () -> refusal);
  }

  /** Its records have no checksums that this version knows. */
  @Test
  void nothingIsSalvagedFromFormat1() throws Exception {
    unpack("format-1-journal");
    final Path salvaged = others.resolve("salvaged");
    refused(1, () -> Salvage.run(data, salvaged, 64L << 20));
    assertFalse(Files.exists(salvaged));
  }

  /** Each entry goes to the partition that its key has now. */
  @ParameterizedTest
  @ValueSource(strings = {"format-2-journal", "format-3-journal", "format-3-snapshot"})
  void entriesAreSalvagedFromFormats2And3(String archive) throws Exception {
    unpack(archive);
    final Path salvaged = others.resolve("salvaged");
    Salvage.run(data, salvaged, 64L << 20);
    data = salvaged;
    final Map<String, String> expected = expected();
    if (archive.startsWith("format-2")) {
      expected.remove(TAGGED);
    }
    try (Indexes indexes = open()) {
      assertEquals(expected, content(indexes.find(IndexKind.HASH.name())));
      assertEquals(expected, content(indexes.find(IndexKind.ORDERED.name())));
      assertNull(indexes.find("dropped"));
    }
  }

  @Test
  void format4OfTheJournalAlone() throws Exception {
    unpack("format-4-journal");
    check(false);
  }

  @Test
  void format4WithASnapshot() throws Exception {
    unpack("format-4-snapshot");
    assertTrue(Files.exists(data.resolve("snapshot-0000000001")));
    check(true);
    // Without it, the journal has the same.
    Files.delete(data.resolve("snapshot-0000000001"));
    check(false);
  }

  private Indexes open() throws IOException {
    return new Indexes(
        IndexMemory.ofProcess(
            new IndexMemoryContext()
                .budget(64L << 20)
                .dataDirectory(data)
                .takeover(true)
                .adoptCopy(true)
                .durability(Durability.DISK)));
  }

  private void check(boolean hasSnapshot) throws Exception {
    for (int again = 0; again < 2; again++) {
      final Indexes indexes = open();
      for (final IndexKind kind : List.of(IndexKind.HASH, IndexKind.ORDERED)) {
        final ServedIndex index = indexes.find(kind.name());
        assertNotNull(index);
        assertEquals(kind, index.kind());
        assertEquals(Durability.DISK, index.durability());
        assertEquals(expected(), content(index));
      }
      assertEquals(Durability.INTERVAL, indexes.find("interval").durability());
      assertEquals(1, indexes.find("interval").count());
      assertNull(indexes.find("dropped"));
      assertEquals(0, indexes.find("").count());
      indexes.close();
    }
    assertEquals(hasSnapshot, Files.exists(data.resolve("snapshot-0000000001")));
  }

  /** Numbers of values, by key. */
  private static Map<String, String> expected() {
    final Map<String, String> expected = new TreeMap<>();
    for (int i = 0; i < KEYS; i++) {
      if (i % 10 != 3) {
        expected.put("key " + i, i % 4 == 0 ? "second " + i : "first " + i);
      }
    }
    expected.put("last", "third");
    expected.put(TAGGED, "fourth");
    return expected;
  }

  private static Map<String, String> content(ServedIndex index) throws Exception {
    final Map<String, String> content = new TreeMap<>();
    for (int i = 0; i < KEYS; i++) {
      note(content, index, "key " + i);
    }
    note(content, index, "last");
    note(content, index, TAGGED);
    assertEquals(content.size(), index.count());
    return content;
  }

  private static void note(Map<String, String> content, ServedIndex index, String key)
      throws Exception {
    final Entry entry = carryOut(index, key, Kind.READ, null).entry();
    if (entry != null) {
      content.put(key, entry.getValue().toStringUtf8());
    }
  }

  private enum Kind {
    READ,
    PUT,
    DELETE
  }

  private static Write carryOut(ServedIndex index, String key, Kind kind, String value)
      throws Exception {
    final CompletableFuture<Void> answered = new CompletableFuture<>();
    final Write write = new Write(answer -> answered.complete(null));
    final ByteString bytes = ByteString.copyFromUtf8(key);
    switch (kind) {
      case READ -> write.read(bytes);
      case PUT -> write.put(bytes, ByteString.copyFromUtf8(value));
      case DELETE -> write.delete(bytes);
    }
    assertEquals(0, index.partition(bytes).submit(write));
    answered.get();
    assertEquals(Write.DONE, write.outcome());
    return write;
  }

  private void unpack(String archive) throws IOException {
    try (InputStream file =
            GoldenDirectoryTest.class.getResourceAsStream("/golden/" + archive + ".zip");
        ZipInputStream zip = new ZipInputStream(file)) {
      for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
        final String[] parts = entry.getName().split("@", 2);
        final Path path = data.resolve(parts[0]);
        Files.write(path, zip.readAllBytes());
        try (RandomAccessFile whole = new RandomAccessFile(path.toFile(), "rw")) {
          whole.setLength(Long.parseLong(parts[1]));
        }
      }
    }
  }

  @Test
  @EnabledIfSystemProperty(named = "ringfetch.golden", matches = ".+")
  void write() throws Exception {
    final Path folder = Path.of(System.getProperty("ringfetch.golden"));
    for (final boolean hasSnapshot : new boolean[] {false, true}) {
      data = Files.createTempDirectory("golden");
      Files.delete(data);
      final Indexes indexes = open();
      for (final IndexKind kind : List.of(IndexKind.HASH, IndexKind.ORDERED)) {
        begin(IndexRequests.create(indexes, kind.name(), kind, Durability.DISK));
      }
      begin(IndexRequests.create(indexes, "dropped", IndexKind.HASH, Durability.DISK));
      begin(IndexRequests.create(indexes, "dropped later", IndexKind.ORDERED, Durability.DISK));
      IndexRequests.drop(indexes, "dropped");
      if (hasSnapshot) {
        snapshot(indexes);
      }
      IndexRequests.drop(indexes, "dropped later");
      for (final IndexKind kind : List.of(IndexKind.HASH, IndexKind.ORDERED)) {
        end(indexes.find(kind.name()));
      }
      carryOut(
          IndexRequests.create(indexes, "interval", IndexKind.HASH, Durability.INTERVAL),
          "a",
          Kind.PUT,
          "b");
      indexes.close();
      pack(folder.resolve(hasSnapshot ? "format-4-snapshot.zip" : "format-4-journal.zip"));
    }
  }

  private static void begin(ServedIndex index) throws Exception {
    for (int i = 0; i < KEYS; i++) {
      carryOut(index, "key " + i, Kind.PUT, "first " + i);
    }
    for (int i = 3; i < KEYS / 2; i += 10) {
      carryOut(index, "key " + i, Kind.DELETE, null);
    }
  }

  private static void end(ServedIndex index) throws Exception {
    for (int i = 3; i < KEYS; i += 10) {
      carryOut(index, "key " + i, Kind.DELETE, null);
    }
    for (int i = 0; i < KEYS; i += 4) {
      if (i % 10 != 3) {
        carryOut(index, "key " + i, Kind.PUT, "second " + i);
      }
    }
    carryOut(index, "last", Kind.PUT, "third");
    carryOut(index, TAGGED, Kind.PUT, "fourth");
  }

  private static void snapshot(Indexes indexes) throws Exception {
    final CompletableFuture<SnapshotCycle.Taken> taken = new CompletableFuture<>();
    indexes
        .memory()
        .journal()
        .snapshot(
            new SnapshotCycle.Listener() {
              @Override
              public void onSnapshot(SnapshotCycle.Taken snapshot) {
                taken.complete(snapshot);
              }

              @Override
              public void onFailure(IOException failure) {
                taken.completeExceptionally(failure);
              }
            });
    assertEquals(1, taken.get().number());
  }

  private void pack(Path archive) throws IOException {
    try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(archive));
        Stream<Path> files = Files.list(data)) {
      for (final Path file : files.sorted().toList()) {
        final byte[] content = Files.readAllBytes(file);
        int end = content.length;
        while (end > 0 && content[end - 1] == 0) {
          end--;
        }
        zip.putNextEntry(new ZipEntry(file.getFileName() + "@" + content.length));
        zip.write(content, 0, end);
        zip.closeEntry();
      }
    }
  }
}
