package dev.ringfetch.index.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.service.IndexMemoryContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands for data directories that no server uses. */
final class DataDirectoryTest {
  @TempDir Path parent;
  private String data;

  private static Outcome run(String... args) {
    return new Invocation("localhost:1").run(args);
  }

  private TestServer serve() throws IOException {
    return TestServer.start(
        parent, new IndexMemoryContext().budget(TestServer.MEMORY).dataDirectory(Path.of(data)));
  }

  @BeforeEach
  void entries() throws IOException {
    data = parent.resolve("data").toString();
    try (TestServer server = serve()) {
      server.run("create", "books", "--durability=disk").done();
      for (final String key : "c a b d".split(" ", -1)) {
        server.run("put", key, "of " + key, "--index=books").done();
      }
      server.run("delete", "d", "--index=books").done();
    }
  }

  private void damage() throws IOException {
    damage("journal-0000000001", 512); // the checksum of the first batch
  }

  private void damage(String name, int offset) throws IOException {
    final Path file = parent.resolve("data").resolve(name);
    final byte[] bytes = Files.readAllBytes(file);
    bytes[offset] ^= 1;
    Files.write(file, bytes);
  }

  @Test
  void aSoundDirectoryIsVerified() {
    final String out = run("verify", data).done();
    assertTrue(out.contains("ended in order"), out);
    assertTrue(out.contains("books  ordered  disk              3"), out);
    assertTrue(out.endsWith("sound\n"), out);
    final String json = run("verify", data, "--json").done();
    assertTrue(json.contains("\"faults\":0"), json);
    assertTrue(
        json.contains(
            "{\"index\":\"books\",\"kind\":\"ordered\",\"durability\":\"disk\",\"entries\":3}"),
        json);
  }

  @Test
  void aDamagedDirectoryIsSalvaged() throws IOException {
    damage();
    run("verify", data).fails(ExitCode.FAILED, "journal-0000000001 offset=512");
    run("dump", data, "--index=books").fails(ExitCode.FAILED, "offset=512");
    final String salvaged = parent.resolve("salvaged").toString();
    final Outcome report = run("salvage", data, salvaged);
    assertEquals(ExitCode.FAILED, report.code(), report::toString);
    for (final String part :
        new String[] {
          "/journal-0000000001 offset=512 length=48, shorter than a record\n",
          "wrote entries=3 ",
          "entries are missing, or may be\n"
        }) {
      assertTrue(report.out().contains(part), report::toString);
    }
    run("dump", salvaged, "--index=books")
        .prints("key,value,base64,deadline", "a,of a,,", "b,of b,,", "c,of c,,");
    run("salvage", data, salvaged).fails(ExitCode.FAILED, "not empty");
  }

  /** No server starts on it. */
  @Test
  void aDamagedFileOfTheCoordinatorIsNotSound() throws IOException {
    damage("coordinator", 100);
    run("verify", data).fails(ExitCode.FAILED, "damaged: crc32c=", "/coordinator");
  }

  /** A batch of more than 17 KiB was swallowed once, and nothing said so. */
  @Test
  void batchesAndLongValuesAreSalvaged() throws IOException {
    final StringBuilder rows = new StringBuilder("key,value\n");
    for (int i = 0; i < 3000; i++) {
      rows.append(String.format("user/%06d,name %d %s%n", i, i, "x".repeat(40)));
    }
    try (TestServer server = serve()) {
      server.run("create", "users", "--durability=disk").done();
      server.pipe(rows.toString(), "load", "--index=users", "-").done();
      server.run("put", "long", "v".repeat(16_928), "--index=books").done();
    }
    final String users = run("dump", data, "--index=users").done();
    assertEquals(3001, users.lines().count());
    final String books = run("dump", data, "--index=books").done();
    final String salvaged = parent.resolve("salvaged").toString();
    final String report = run("salvage", data, salvaged).done();
    assertTrue(report.contains("wrote entries=3004 "), report);
    assertTrue(report.endsWith("nothing is missing\n"), report);
    assertEquals(users, run("dump", salvaged, "--index=users").done());
    assertEquals(books, run("dump", salvaged, "--index=books").done());
    // No start is possible, so all files are searched.
    Files.delete(parent.resolve("data").resolve("checkpoint"));
    final String searched = parent.resolve("searched").toString();
    final Outcome search = run("salvage", data, searched, "--json");
    assertEquals(ExitCode.FAILED, search.code(), search::toString);
    assertTrue(search.out().contains("checkpoint"), search::toString);
    assertTrue(search.out().endsWith("{\"complete\":false}\n"), search::toString);
    assertEquals(users, run("dump", searched, "--index=users").done());
    assertEquals(books, run("dump", searched, "--index=books").done());
  }

  @Test
  void aDirectoryIsDumped() {
    run("dump", data, "--index=books")
        .prints("key,value,base64,deadline", "a,of a,,", "b,of b,,", "c,of c,,");
    final Path file = parent.resolve("books.csv");
    run("dump", data, file.toString(), "--index=books")
        .prints("wrote 3 entries of 'books' to " + file);
    run("dump", data).fails(ExitCode.NOT_FOUND, "no durable index 'default'");
    run("dump", data, "--prefix=a").fails(ExitCode.MISUSE, "as a whole");
    run("dump", parent.toString(), file.toString()).fails(ExitCode.MISUSE, "not a data directory");
  }

  @Test
  void aDumpOfADirectoryHasTheTimeThatIsLeft() throws IOException {
    try (TestServer server = serve()) {
      server.run("put", "timed", "v", "--index=books", "--ttl=1d").done();
    }
    final String dump = run("dump", data, "--index=books").done();
    try (TestServer server = serve()) {
      server.pipe(dump, "load", "--index=loaded", "-").done();
      final String loaded = server.run("scan", "--index=loaded", "--json").done();
      assertEquals(4, loaded.lines().count(), loaded);
      assertEquals(1, loaded.lines().filter(line -> line.contains("\"deadline\"")).count(), loaded);
    }
  }

  @Test
  void aBackupIsServed() throws IOException {
    final String copy = parent.resolve("copy").toString();
    try (TestServer server = serve()) {
      server.run("put", "e", "of e", "--index=books").done();
      final String before = server.run("stat", "--once").done();
      assertTrue(before.contains("snapshot: none; "), before);
      final String out = server.run("backup", copy).done();
      final String after = server.run("stat", "--once").done();
      assertTrue(after.contains("journal: ") && after.contains("snapshot: 1, "), after);
      assertTrue(server.run("stat", "--once", "--json").done().contains("\"snapshot\":1"));
      assertTrue(out.startsWith("copied "), out);
      server.run("put", "f", "is not in it", "--index=books").done();
      server.run("backup", copy).fails(ExitCode.FAILED, "not empty");
      server.run("backup", "--server=a,b", copy).fails(ExitCode.MISUSE, "names more: a:50051,b");
    }
    final String verified = run("verify", copy).done();
    assertTrue(verified.contains("from snapshot 1"), verified);
    data = copy;
    try (TestServer restored = serve()) {
      assertEquals("4\n", restored.run("count", "--index=books").done());
      restored.run("put", "g", "of g", "--index=books").done();
    }
    assertEquals("sound", run("verify", copy).done().lines().reduce((a, b) -> b).orElse(""));
  }

  @Test
  void aSeriesKeepsTheNewestBackups() throws IOException {
    final Path series = parent.resolve("backups");
    final FileTime longAgo = FileTime.from(Instant.parse("2020-01-01T00:00:00Z"));
    final Path failed = Files.createDirectories(series.resolve("2020-01-01T000000Z"));
    Files.setLastModifiedTime(Files.createFile(failed.resolve("checkpoint")), longAgo);
    Files.setLastModifiedTime(failed, longAgo);
    final Path foreign = Files.createDirectories(series.resolve("kept"));
    final Path unfinished = Files.createDirectories(series.resolve("2020-01-02T000000Z"));
    final Path served = series.resolve("2020-01-03T000000Z");
    try (TestServer server = serve()) {
      for (int year = 2020; year < 2024; year++) {
        final String day = year == 2020 ? "-01-03" : "-01-01";
        server.run("backup", series.resolve(year + day + "T000000Z").toString()).done();
      }
      final String original = data;
      data = served.toString();
      try (TestServer restored = serve()) {
        assertEquals("3\n", restored.run("count", "--index=books").done());
        final String out = server.run("backup", "--keep=2", series.toString()).done();
        assertTrue(out.endsWith("; deleted 2 older copies\n"), out);
        restored.run("put", "g", "of g", "--index=books").done();
      }
      data = original;
    }
    final List<Path> left;
    try (Stream<Path> found = Files.list(series)) {
      left = found.sorted().toList();
    }
    assertEquals(5, left.size(), left::toString);
    assertEquals(
        List.of(unfinished, served, series.resolve("2023-01-01T000000Z")), left.subList(0, 3));
    assertEquals(foreign, left.get(4));
    data = served.toString(); // also while no server runs on it, it is no backup
    try (TestServer restored = serve()) {
      assertEquals("4\n", restored.run("count", "--index=books").done());
    }
  }

  @Test
  void aServerWithoutADirectoryHasNoBackup() throws IOException {
    try (TestServer server = TestServer.start(parent, TestServer.MEMORY)) {
      server
          .run("backup", parent.resolve("copy").toString())
          .fails(ExitCode.FAILED, "no index is kept on disk");
    }
  }

  /** The snapshot that it takes has all that stands before. */
  @Test
  void aBackupNeedsNothingOfTheJournalBeforeItsSnapshot() throws IOException {
    final String copy = parent.resolve("copy").toString();
    try (TestServer server = serve()) {
      damage();
      server.run("backup", copy).done();
    }
    final Outcome verified = run("verify", copy);
    assertEquals(ExitCode.FAILED, verified.code(), verified::toString);
    for (final String part :
        new String[] {
          "from snapshot 1",
          "FAULT: damaged before the snapshot that a start takes: ",
          "a server starts on it all the same\n"
        }) {
      assertTrue(verified.out().contains(part), verified::toString);
    }
    data = copy;
    try (TestServer restored = serve()) {
      assertEquals("3\n", restored.run("count", "--index=books").done());
    }
  }

  @Test
  void aServersDirectoryIsLeftAlone() throws IOException {
    try (TestServer server = serve()) {
      assertEquals("3\n", server.run("count", "--index=books").done());
      run("verify", data).fails(ExitCode.FAILED, "another server owns the directory");
      run("salvage", data, parent.resolve("new").toString())
          .fails(ExitCode.FAILED, "another server owns the directory");
    }
    run("verify", parent.toString()).fails(ExitCode.FAILED, "not a data directory");
    run("verify").fails(ExitCode.MISUSE, "DIR");
  }
}
