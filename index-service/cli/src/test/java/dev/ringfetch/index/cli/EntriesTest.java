package dev.ringfetch.index.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands about single entries, ranges and indexes. Each test has indexes of its own. */
final class EntriesTest {
  @TempDir static Path directory;
  private static TestServer server;

  @BeforeAll
  static void start() throws IOException {
    server = TestServer.start(directory, TestServer.MEMORY);
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static Outcome run(String... args) {
    return server.run(args);
  }

  private static void fill(String index, String... keys) {
    for (final String key : keys) {
      run("put", "-i", index, key, "value of " + key).done();
    }
  }

  @Test
  void entriesAreFoundByTheirBoxes() {
    run("create", "map", "--kind", "spatial").prints("created index 'map', spatial");
    run("put", "-i", "map", "Bern", "be", "--box=7.45,46.95").done();
    run("put", "-i", "map", "lake", "g", "--box=6.9,46.5,6.1,46.2").done();
    run("search", "-i", "map", "--box=7,46,8,47").prints("Bern  7.45,46.95  be");
    run("search", "-i", "map", "--at=6.5,46.3").prints("lake  6.1,46.2,6.9,46.5  g");
    final String within = run("search", "-i", "map", "--within=6,46,8,46.6", "--json").done();
    assertTrue(
        within.matches( // version 2 where both are in one partition
            "\\{\"key\":\"lake\",\"box\":\"6.1,46.2,6.9,46.5\",\"value\":\"g\",\"version\":[12]}\n"),
        within);
    run("nearest", "-i", "map", "--at=7.45,47.95")
        .prints("Bern  7.45,46.95         1.000  be", "lake  6.1,46.2,6.9,46.5  1.551  g");
    run("nearest", "-i", "map", "--at=7.45,47.95", "--earth", "-n", "1", "--json")
        .prints(
            "{\"key\":\"Bern\",\"box\":\"7.45,46.95\",\"value\":\"be\",\"version\":1,"
                + "\"distance\":111195.08}");
    run("get", "-i", "map", "Bern").prints("Bern  7.45,46.95  be");
    run("count", "-i", "map", "--box=7,46,8,47").prints("1");
    run("count", "-i", "map").prints("2");
    run("count", "-i", "map", "--from=a").fails(1, "no order");
    run("search", "-i", "map", "--box=7,46,8,47", "--direct").prints("Bern  7.45,46.95  be");
    assertEquals("", run("nearest", "-i", "map", "--at=7,47", "--direct").err()); // it was direct
    run("nearest", "-i", "map", "--at=7,48", "--distance=0.1").prints();
    run("watch", "map", "--from=garbage").fails(1, "'garbage' is no token");
    run("nearest", "-i", "map", "--at=7.45,47.95", "--where", "located = 'g'")
        .prints("lake  6.1,46.2,6.9,46.5  1.551  g");
    run("get", "-i", "map", "--kernel", "echo", "x").prints("x");
    run("get", "-i", "map", "--kernel", "echo", "x", "y", "--json")
        .prints("{\"answer\":\"x\"}", "{\"answer\":\"y\"}");
    run("get", "-i", "map", "--kernel", "none", "x").fails(1, "no such kernel", "echo");
    run("get", "-i", "map", "--kernel", "echo", "x", "--direct").fails(2, "without --direct");
    run("search", "-i", "map").fails(2, "--within");
    run("search", "-i", "map", "--box=7,46,8").fails(2, "X1,Y1,X2,Y2");
    fill("boxless", "a");
    run("search", "-i", "boxless", "--at=1,1").fails(1, "kind ordered", "spatial");
    run("nearest", "-i", "boxless", "--at=1,1").fails(1, "kind ordered", "spatial");
    run("count", "-i", "boxless", "--box=1,1").fails(1, "kind ordered", "--box needs");
    run("scan", "-i", "map").fails(1, "search lists");
    run("dump", "-i", "map", "--prefix=B").fails(1, "no order", "a range");
    run("create", "hashed", "--kind", "hash").done();
    run("scan", "-i", "hashed", "--reverse").fails(1, "no order", "--reverse");
    run("scan", "-i", "hashed", "--snapshot").fails(1, "no order", "--snapshot");
  }

  @Test
  void anEntryWithABoxIsPutAndRead() {
    run("put", "-i", "put-map", "Bern", "be", "--box=7.45,46.95")
        .says("created index 'put-map', spatial: there was none of this name");
    run("get", "-i", "put-map", "Bern", "--raw").prints("be");
    run("put", "-i", "put-map", "Bern", "BE", "--box=7.5,46.9", "--previous").prints("be");
    run("put", "-i", "put-map", "Bern", "x", "--box=7,46", "--if-absent").fails(1, "there already");
    run("put", "-i", "put-map", "Thun", "be", "--box=7.6,46.7", "--if-absent").done();
    run("get", "-i", "put-map", "Bern", "Thun").prints("Bern  7.5,46.9  BE", "Thun  7.6,46.7  be");
    run("put", "-i", "put-map", "plain", "x").fails(1, "put-map", "spatial", "--box");
    run("increment", "-i", "put-map", "counter").fails(1, "box");
    fill("put-plain", "a");
    run("put", "-i", "put-plain", "b", "x", "--box=1,1").fails(1, "kind ordered", "spatial");
    run("touch", "-i", "put-map", "Bern", "--ttl=1h").done();
    run("delete", "-i", "put-map", "Bern").prints("deleted 1 entry");
  }

  @Test
  void filtersLimitWhatIsListedAndCounted() {
    run("put", "-i", "filtered", "a", "1").done();
    run("put", "-i", "filtered", "b", "12").done();
    run("put", "-i", "filtered", "bb", "123").done();
    run("put", "-i", "filtered", "c", "'").done();
    where("key(0,1) = 'b'").prints("b   12", "bb  123");
    where("key(0,1) = 'b' and not value(1,2) != 0x32").prints("b  12");
    where("(key < 'b' or key >= 'c') and version > 0").prints("a  1", "c  '");
    where("value = ''''").prints("c  '");
    where("value.unsigned(0,2) <= 0x3231 and value.int32be(0) > 1").prints();
    where("value.unsigned(1,1) = 0x32 or value.float64(0) > -1.5e3").prints("b   12", "bb  123");
    run("scan", "-i", "filtered", "--where=version >= 1", "--keys-only", "-n1").prints("a");
    run("scan", "-i", "filtered", "--where=key(0,1)='b'", "--direct").prints("b   12", "bb  123");
    run("count", "-i", "filtered", "--where=key(0,1) = 'b'").prints("2");
    run("count", "-i", "filtered", "--where=key > 'b'", "--to=c").prints("1");
    run("put", "-i", "filtered-map", "x", "12", "--box=1,1").done();
    run("put", "-i", "filtered-map", "y", "13", "--box=1,1").done();
    run("search", "-i", "filtered-map", "--at=1,1", "--where=located = '13'")
        .prints("y  1.0,1.0  13");
    run("count", "-i", "filtered-map", "--box=1,1", "--where=located = '13'").prints("1");
  }

  private Outcome where(String filter) {
    return run("scan", "-i", "filtered", "--where", filter);
  }

  @Test
  void aValueIsWrittenReadAndRemoved() {
    run("put", "greeting", "hello, world").prints("written, version 1");
    run("get", "greeting").prints("hello, world");
    run("get", "greeting", "--direct").prints("hello, world");
    assertEquals("", run("get", "greeting", "--direct").err()); // it was direct
    run("get", "greeting", "--json")
        .prints("{\"key\":\"greeting\",\"value\":\"hello, world\",\"version\":1}");
    run("put", "greeting", "again", "--if-absent").fails(1, "greeting", "there already");
    run("delete", "greeting").prints("deleted 1 entry");
    run("get", "greeting").fails(ExitCode.NOT_FOUND, "no such key", "greeting");
    run("delete", "greeting", "--json").fails(ExitCode.NOT_FOUND, "greeting");
    assertTrue(run("put", "greeting", "", "--if-absent").done().contains("version"));
    run("get", "greeting").prints("");
  }

  @Test
  void aCounterIsAValueOfTypeLong() {
    run("increment", "-i", "counts", "a").prints("1");
    run("increment", "-i", "counts", "a", "--by=-5").prints("-4");
    run("increment", "-i", "counts", "a", "--by", "10", "--json")
        .prints("{\"index\":\"counts\",\"key\":\"a\",\"value\":6}");
    run("get", "-i", "counts", "a", "--value-type", "long").prints("6");
    run("put", "-i", "counts", "b", "41", "--value-type", "long").done();
    run("increment", "-i", "counts", "b").prints("42");
    run("put", "-i", "counts", "text", "41").done();
    run("increment", "-i", "counts", "text").fails(1, "no counter", "length=2");
    run("increment", "-i", "counts", "timed", "--ttl", "1h").prints("1");
    assertTrue(run("get", "-i", "counts", "timed", "--json").done().contains("deadline"));
  }

  @Test
  void anEntryIsReplacedTouchedAndRemovedInOneStep() {
    run("put", "-i", "steps", "z", "0").done();
    run("put", "-i", "steps", "a", "1", "--previous").fails(ExitCode.NOT_FOUND, "no such key");
    run("put", "-i", "steps", "a", "2", "--previous").prints("1");
    run("put", "-i", "steps", "a", "3", "--previous", "--ttl", "1h", "--json")
        .prints("{\"key\":\"a\",\"previous\":\"2\"}");
    assertTrue(run("get", "-i", "steps", "a", "--json").done().contains("deadline"));
    run("touch", "-i", "steps", "a", "--persist").prints("touched 1 entry");
    assertFalse(run("get", "-i", "steps", "a", "--json").done().contains("deadline"));
    run("touch", "-i", "steps", "a", "b", "--at", "2030-01-02T03:04:05Z")
        .fails(ExitCode.NOT_FOUND, "no such key", "b");
    final String found = run("get", "-i", "steps", "a", "--json").done();
    assertTrue(found.contains("\"deadline\":\"2030-01-02T03:04:05Z\""), found);
    final String version = found.replaceFirst(".*\"version\":(\\d+).*", "$1").strip();
    run("touch", "-i", "steps", "a", "--ttl", "1h").prints("touched 1 entry");
    run("delete", "-i", "steps", "a", "--if-version", version).fails(1, "not deleted", version);
    final String touched = run("get", "-i", "steps", "a", "--json").done();
    final String newer = touched.replaceFirst(".*\"version\":(\\d+).*", "$1").strip();
    run("delete", "-i", "steps", "a", "--if-version", newer).prints("deleted 1 entry");
    run("touch", "-i", "steps", "a", "--ttl", "1s").fails(ExitCode.NOT_FOUND, "no such key");
  }

  @Test
  void anEntryIsThereForATime() throws InterruptedException {
    run("put", "-i", "ttl", "long", "value", "--ttl", "1d").done();
    final String found = run("get", "-i", "ttl", "long", "--json").done();
    final Instant deadline =
        Instant.parse(found.replaceFirst(".*\"deadline\":\"([^\"]+)\".*", "$1").strip());
    final Duration left = Duration.between(Instant.now(), deadline);
    assertTrue(left.toMinutes() > 23 * 60 && left.toHours() <= 24, "left=" + left);
    assertEquals(found, run("scan", "-i", "ttl", "--json").done());
    assertEquals(found, run("scan", "-i", "ttl", "--json", "--direct").done());
    assertEquals(found, run("get", "-i", "ttl", "long", "--json", "--direct").done());
    run("put", "-i", "ttl", "short", "value", "--ttl", "1ms").done();
    Thread.sleep(50);
    run("get", "-i", "ttl", "short").fails(ExitCode.NOT_FOUND, "no such key");
    run("scan", "-i", "ttl", "--keys-only").prints("long");
    run("put", "-i", "ttl", "short", "value", "--ttl", "2h", "--if-absent").done();
    run("put", "-i", "ttl", "long", "value").done();
    assertFalse(run("get", "-i", "ttl", "long", "--json").done().contains("deadline"));
    run("put", "-i", "ttl", "long", "value", "--ttl", "3651d")
        .fails(1, "ttl is too long", "3650 days");
    run("put", "-i", "ttl", "long", "value", "--ttl", "soon").fails(2, "not a time");
  }

  @Test
  void entriesOfAFileAreThereForATime() throws IOException {
    final Path file = directory.resolve("timed.csv");
    Files.writeString(file, "key,value\na,1\nb,2\n");
    run("load", "-i", "timed", file.toString(), "--ttl", "1h").done();
    final String found = run("scan", "-i", "timed", "--json").done();
    assertEquals(2, found.lines().filter(line -> line.contains("\"deadline\":\"")).count(), found);
    run("load", "-i", "timed", file.toString()).done();
    assertFalse(run("scan", "-i", "timed", "--json").done().contains("deadline"));
  }

  @Test
  void severalKeysAreReadInLines() {
    fill("several", "a", "longer");
    final Outcome some = run("get", "-i", "several", "a", "none", "longer");
    assertEquals("a       value of a\nlonger  value of longer\n", some.out());
    some.fails(ExitCode.NOT_FOUND, "none");
    run("delete", "-i", "several", "a", "longer", "none").fails(ExitCode.NOT_FOUND, "none");
    run("count", "-i", "several").prints("0");
  }

  @Test
  void aRangeIsScannedCountedAndRemoved() {
    fill("range", "a", "ab", "ac", "b", "c");
    run("scan", "-i", "range", "--prefix=a", "--keys-only").prints("a", "ab", "ac");
    run("scan", "-i", "range", "--from=ab", "--to=c", "--keys-only").prints("ab", "ac", "b");
    run("scan", "-i", "range", "--from=b").prints("b  value of b", "c  value of c");
    run("scan", "-i", "range", "--to=b", "--reverse", "--limit=2", "--keys-only")
        .prints("ac", "ab");
    run("scan", "-i", "range", "--snapshot", "--keys-only", "-n1", "--json")
        .prints("{\"key\":\"a\"}");
    final Outcome nothing = run("scan", "-i", "range", "--prefix=z");
    nothing.prints();
    nothing.says("no entry: keys that begin with 'z'");
    run("count", "-i", "range").prints("5");
    run("count", "-i", "range", "--from=ab").prints("4");
    run("count", "-i", "range", "--json").prints("{\"index\":\"range\",\"entries\":5}");
    run("delete", "-i", "range", "--prefix=a").prints("deleted 3 entries");
    run("delete", "-i", "range", "--all", "--json").prints("{\"index\":\"range\",\"deleted\":2}");
  }

  @Test
  void directReadsAnswerTheSame() {
    fill("direct", "a", "ab", "ac", "b");
    for (final String[] args :
        new String[][] {
          {"get", "-i", "direct", "ab"},
          {"get", "-i", "direct", "a", "b", "--json"},
          {"scan", "-i", "direct"},
          {"scan", "-i", "direct", "--prefix=a", "--reverse", "--json"},
          {"scan", "-i", "direct", "--from=ab", "--to=b", "--keys-only"},
          {"scan", "-i", "direct", "--limit=2"}
        }) {
      final String[] direct = Arrays.copyOf(args, args.length + 1);
      direct[args.length] = "--direct";
      final Outcome outcome = run(direct);
      assertEquals(run(args).done(), outcome.done());
      assertEquals("", outcome.err()); // no note that calls have answered
    }
    final Outcome elsewhere = // no memory of the server is there
        new Invocation(server.target())
            .shm(directory.resolve(".."))
            .run("scan", "-i", "direct", "--direct", "--keys-only");
    elsewhere.prints("a", "ab", "ac", "b");
    elsewhere.says("note: read by calls");
    run("get", "-i", "direct", "zz", "--direct").fails(ExitCode.NOT_FOUND, "zz");
  }

  @Test
  void aPersonIsAskedBeforeARangeGoes() {
    fill("asked", "a", "b");
    final Invocation no = new Invocation(server.target()).shm(directory).person().input("n\n");
    no.run("delete", "-i", "asked", "--all")
        .says("Delete 2 entries of index 'asked': all keys? [y/N]", "nothing was changed");
    assertEquals(
        ExitCode.FAILED,
        new Invocation(server.target()).shm(directory).person().run("drop", "asked").code());
    run("count", "-i", "asked").prints("2");
    final Invocation yes = new Invocation(server.target()).shm(directory).person().input("y\n");
    assertEquals("deleted 2 entries\n", yes.run("delete", "-i", "asked", "--all").done());
    final Invocation silent = new Invocation(server.target()).shm(directory).person();
    assertEquals("", silent.run("delete", "-i", "asked", "--all", "--yes").err());
  }

  @Test
  void typesKeepTheOrderOfKeys() {
    final String[] longs = {"-i", "longs", "--key-type=long", "--value-type=instant"};
    for (final String key : new String[] {"-5", "10", "9"}) {
      run("put", longs[0], longs[1], longs[2], longs[3], "--", key, "2026-01-01T00:00:00Z").done();
    }
    run("scan", longs[0], longs[1], longs[2], longs[3], "--json", "-n2")
        .prints(
            "{\"key\":-5,\"value\":\"2026-01-01T00:00:00Z\",\"version\":1}",
            "{\"key\":9,\"value\":\"2026-01-01T00:00:00Z\",\"version\":"
                + run("get", "-i", "longs", "--key-type=long", "--json", "9")
                    .out()
                    .replaceAll(".*:(\\d+)}\\s*", "$1")
                + "}");
    run("scan", "-i", "longs", "--key-type=long", "--from=0", "--keys-only").prints("9", "10");
    run("scan", "-i", "longs", "--key-type=hex", "--keys-only", "-n1").prints("7ffffffffffffffb");
    // Not of the type: shown in hex, and as base64 in JSON.
    run("scan", "-i", "longs", "--keys-only", "-n1").prints("0x7ffffffffffffffb");
    assertTrue(
        run("get", "-i", "longs", "--key-type=long", "9", "--json").out().contains("value_base64"));
    run("put", "-i", "ids", "--key-type=uuid", "123e4567-e89b-12d3-a456-426614174000", "x").done();
    run("scan", "-i", "ids", "--key-type=uuid").prints("123e4567-e89b-12d3-a456-426614174000  x");
  }

  @Test
  void bytesGoInAndOutAsTheyAre() throws IOException {
    final byte[] bytes = new byte[256];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) i;
    }
    final Path file = Files.write(directory.resolve("bytes"), bytes);
    run("put", "bytes", "--file=" + file).done();
    final ByteArrayOutputStream out = new ByteArrayOutputStream();
    new Invocation(server.target()).shm(directory).output(out).run("get", "bytes", "--raw").done();
    assertArrayEquals(bytes, out.toByteArray());
    new Invocation(server.target())
        .shm(directory)
        .input(new ByteArrayInputStream(bytes))
        .run("put", "piped", "--file=-")
        .done();
    assertEquals(
        run("get", "bytes", "--value-type=hex").out(), run("get", "piped").out().substring(2));
    run("put", "bytes", "--file=" + directory.resolve("none")).fails(1, "none: no such file");
    run("put", "bytes", "--file=" + directory).fails(1, "is a directory");
  }

  @Test
  void textsForPeopleHaveNoControlCharacters() {
    run("put", "-i", "escaped", "a\nb", "tab\there\u001b[31m").done();
    run("scan", "-i", "escaped").prints("a\\nb  tab\\there\\x1b[31m");
    run("get", "-i", "escaped", "a\nb").prints("tab\there\u001b[31m");
    run("put", "-i", "cut", "k", "x".repeat(200)).done();
    final ByteArrayOutputStream screen = new ByteArrayOutputStream();
    final Invocation person =
        new Invocation(server.target()).shm(directory).person().output(screen);
    person.environment("COLUMNS", "60").run("scan", "-i", "cut").done();
    assertEquals(60 + 1 + 2, screen.size()); // the last of 60 characters has three bytes
  }

  @Test
  void rowsAreAlignedUpToABoundOfBytes() {
    final TextTable table = new TextTable("ll");
    for (int i = 0; i < 99; i++) {
      table.row("key", "value");
      assertFalse(table.isFull());
    }
    assertTrue(table.row("key", "value").isFull());
    assertTrue(new TextTable("ll").row("key", "x".repeat(1 << 20)).isFull());
    final String large = "x".repeat(40_000);
    for (final String key : new String[] {"a", "bb", "ccc"}) {
      run("put", "-i", "large", key, large).done();
    }
    run("scan", "-i", "large").prints("a   " + large, "bb  " + large, "ccc  " + large);
    run("get", "-i", "large", "a", "bb", "ccc")
        .prints("a   " + large, "bb  " + large, "ccc  " + large);
  }

  @Test
  void limitsAreNamed() {
    run("put", "k".repeat(1025), "v").fails(ExitCode.MISUSE, "1,025 bytes", "1,024");
    run("put", "", "v").fails(ExitCode.MISUSE, "empty");
    run("put", "k".repeat(1024), "v").done();
    run("get", "k".repeat(1024)).prints("v");
    run("create", "i".repeat(256)).fails(1, "255");
  }

  @Test
  void indexesAreCreatedDescribedAndDropped() {
    run("create", "plain", "--kind", "hash").prints("created index 'plain', hash");
    run("create", "plain", "--kind=HASH").prints("there already: index 'plain', hash");
    run("create", "plain").fails(1, "'plain' is there as hash, not as ordered");
    run("create", "-i", "tree").prints("created index 'tree', ordered");
    assertTrue(run("list").done().contains("plain    "));
    assertTrue(run("list", "--json").done().contains("{\"index\":\"plain\",\"kind\":\"hash\","));
    assertTrue(run("describe", "tree").done().contains("kind         ordered"));
    assertTrue(run("describe").done().startsWith("index        default\n"));
    assertTrue(run("stat", "--once").done().contains("memory: "));
    assertTrue(run("stat", "--once", "tree", "--json").done().contains("growth_per_second"));
    run("snapshot").fails(1, "there is no journal"); // a server without a data directory
    run("drop", "plain").prints("dropped index 'plain', about 0 entries");
    run("drop", "plain").fails(ExitCode.NOT_FOUND, "no index is called 'plain'", "index list");
    for (final String command : new String[] {"scan", "count", "dump"}) {
      run(command, "-i", "gone").fails(ExitCode.NOT_FOUND, "no index is called 'gone'");
    }
    run("get", "-i", "gone", "a").fails(ExitCode.NOT_FOUND, "no index is called 'gone'");
    run("delete", "-i", "gone", "a").fails(ExitCode.NOT_FOUND, "no index is called 'gone'");
    run("describe", "gone").fails(ExitCode.NOT_FOUND, "no index is called 'gone'");
    assertTrue(run("put", "-i", "gone", "a", "b").err().startsWith("created index 'gone'"));
  }

  @Test
  void aHashIndexHasNoRanges() {
    run("put", "hashed", "1").done();
    for (final String[] args :
        new String[][] {
          {"scan", "--from=a"},
          {"scan", "--reverse"},
          {"scan", "--snapshot"},
          {"dump", "--prefix=a"},
          {"dump", "--snapshot"},
          {"count", "--prefix=a"},
          {"delete", "--all"}
        }) {
      run(args).fails(1, "'default' is a hash index and has no order", "index create NAME");
    }
  }

  @Test
  void aHashIndexIsScannedAndDumpedAsAWhole() {
    run("create", "whole", "--kind=hash").done();
    run("put", "-i", "whole", "a", "1").done();
    run("put", "-i", "whole", "b", "2").done();
    final List<String> lines = run("scan", "-i", "whole").done().lines().sorted().toList();
    assertEquals(List.of("a  1", "b  2"), lines);
    assertEquals(
        List.of("a", "b"),
        run("scan", "-i", "whole", "--keys-only").done().lines().sorted().toList());
    run("scan", "-i", "whole", "--direct", "--limit=1").done();
    final List<String> dump = run("dump", "-i", "whole").done().lines().toList();
    assertEquals("key,value,base64,deadline", dump.get(0));
    assertEquals(
        List.of("a,1,,", "b,2,,"), dump.stream().skip(1).map(String::strip).sorted().toList());
  }

  @Test
  void statRefreshesUntilTheSignal() throws Exception {
    final StopSignal stop = new StopSignal();
    final ByteArrayOutputStream out = new ByteArrayOutputStream();
    final Thread signal =
        new Thread(
            () -> {
              while (out.toString(StandardCharsets.UTF_8).split("memory:", -1).length < 3) {
                Thread.onSpinWait();
              }
              stop.request();
            });
    signal.setDaemon(true);
    signal.start();
    final Outcome stat =
        new Invocation(server.target())
            .shm(directory)
            .output(out)
            .stop(stop)
            .run("stat", "--interval=10ms");
    assertEquals(ExitCode.INTERRUPTED, stat.code());
    assertTrue(out.toString(StandardCharsets.UTF_8).contains("+0"));
  }

  @Test
  void aShellHasOneConnectionAndRemembersTheIndex() {
    final String script =
        """
        # a comment, and an empty line

        create people
        use people
        put ada "Ada Lovelace"
        put bob 'it is "Bob" \\n'
        scan
        nonsense
        put open "quote
        count
        """;
    final Outcome shell = server.pipe(script, "shell");
    assertEquals(
        """
        created index 'people', ordered
        written, version 1
        written, version 2
        ada  Ada Lovelace
        bob  it is "Bob" \\n
        2
        """,
        shell.out());
    assertEquals(ExitCode.OK, shell.code());
    shell.says("there is no command 'nonsense'", "a quote is not closed");
    assertEquals(
        ExitCode.NOT_FOUND, server.pipe("get nothing", "shell").code()); // that of the last command
  }
}
