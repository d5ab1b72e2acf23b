package dev.ringfetch.index.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.client.Codec;
import dev.ringfetch.index.client.IndexClient;
import dev.ringfetch.index.client.IndexEntry;
import dev.ringfetch.index.client.OrderedIndex;
import java.io.ByteArrayOutputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What dump writes, load reads back; and what other files hold. */
final class LoadDumpTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 1);

  @TempDir static Path directory;
  private static TestServer server;
  private static IndexClient client;

  @BeforeAll
  static void start() throws IOException {
    server = TestServer.start(directory, TestServer.MEMORY);
    client =
        IndexClient.builder()
            .target(server.target())
            .shmDirectory(directory)
            .deadline(Duration.ofSeconds(30))
            .build();
  }

  @AfterAll
  static void stop() {
    client.close();
    server.close();
  }

  private static Outcome run(String... args) {
    return server.run(args);
  }

  private static OrderedIndex<ByteString, ByteString> index(String name) {
    return client.ordered(name, Codec.byteString(), Codec.byteString());
  }

  private static Map<ByteString, ByteString> entries(String name) {
    final Map<ByteString, ByteString> entries = new HashMap<>();
    for (final IndexEntry<ByteString, ByteString> entry : index(name).scan()) {
      entries.put(entry.key(), entry.value());
    }
    return entries;
  }

  private static Path file(String name, String text) throws IOException {
    return Files.writeString(directory.resolve(name), text);
  }

  /** Texts and bytes that are hard to write, and random ones. */
  private static Map<ByteString, ByteString> hard() {
    System.out.println("LoadDumpTest seed=" + SEED);
    final Random random = new Random(SEED);
    final Map<ByteString, ByteString> entries = new HashMap<>();
    final String[] texts = {
      "",
      " ",
      "a",
      "\"",
      "\"\"",
      "a\"b",
      ",",
      "a,b",
      "\n",
      "\r",
      "\r\n",
      "a\nb",
      "a\r\nb\n",
      "#",
      "#a",
      "\\",
      "\\n",
      "\\N",
      "'",
      "\t",
      "\0",
      "\u0085",
      "\u00a0",
      "\u2028",
      "\ufeff",
      "ä€😀",
      "key",
      "value",
      "base64",
      "null",
      "{}",
      "[",
      " a ",
      "a ",
      " \"a\" ",
      "x".repeat(1024),
      "0x00",
      "=1+1"
    };
    for (int i = 0; i < texts.length; i++) {
      for (int j = 0; j < 3; j++) {
        final ByteString key = ByteString.copyFromUtf8(texts[i]);
        final ByteString value = ByteString.copyFromUtf8(texts[random.nextInt(texts.length)]);
        if (!key.isEmpty()) {
          entries.put(key, value);
        }
        entries.put(ByteString.copyFromUtf8("k" + i + "." + j), key.concat(value));
      }
    }
    // 5 seconds and more nanoseconds than a second has: the text of the instant has other bytes.
    entries.put(
        ByteString.copyFromUtf8("late"), DataType.HEX.parse("8000000000000005" + "7fffffff"));
    for (int i = 0; i < 1500; i++) {
      final byte[] key = new byte[1 + random.nextInt(i % 50 == 0 ? 1024 : 12)];
      final byte[] value = new byte[random.nextInt(i % 50 == 0 ? 40_000 : 20)];
      random.nextBytes(key);
      random.nextBytes(value);
      entries.put(ByteString.copyFrom(key), ByteString.copyFrom(value));
    }
    return entries;
  }

  @ParameterizedTest
  @CsvSource({
    "csv,string,string",
    "jsonl,string,string",
    "csv,hex,hex",
    "jsonl,hex,string",
    "csv,long,instant",
    "jsonl,long,uuid"
  })
  void allBytesComeBack(String format, String keyType, String valueType) {
    final String name = format + keyType + valueType;
    final Map<ByteString, ByteString> written = hard();
    index(name).putAll(written);
    final String file = directory.resolve(name + "." + format).toString();
    final String[] types = {"--key-type", keyType, "--value-type", valueType};
    assertEquals(
        "wrote " + Printable.entries(written.size()) + " of '" + name + "' to " + file + "\n",
        run("dump", "-i", name, types[0], types[1], types[2], types[3], file).done());
    final Outcome loaded =
        run("load", "-i", name + "2", types[0], types[1], types[2], types[3], file);
    assertTrue(
        loaded.done().startsWith("loaded " + Printable.entries(written.size())), loaded.out());
    assertEquals(written, entries(name + "2"));
  }

  @Test
  void streamsAreReadAndWrittenToo() {
    run("put", "-i", "streams", "b", "2").done();
    run("put", "-i", "streams", "a", "1,\"x\"").done();
    final String csv = run("dump", "-i", "streams").done();
    assertEquals("key,value,base64,deadline\na,\"1,\"\"x\"\"\",,\nb,2,,\n", csv);
    final String json = run("dump", "-i", "streams", "--json", "--snapshot").done();
    assertEquals(
        "{\"key\":\"a\",\"value\":\"1,\\\"x\\\"\"}\n{\"key\":\"b\",\"value\":\"2\"}\n", json);
    for (final String text : new String[] {csv, json}) { // told apart by what they begin with
      run("drop", "streams2").says();
      server.pipe(text, "load", "-i", "streams2", "-").done();
      assertEquals(entries("streams"), entries("streams2"));
    }
    run("dump", "-i", "streams", "--from=b").prints("key,value,base64,deadline", "b,2,,");
  }

  @Test
  void columnsAndFieldsAreChosen() throws IOException {
    final Path csv =
        file("people.csv", "\ufeffid,name,age\n7,Ada,36\n8,\"Bob\nthe second\",4\n\n9,,1\n");
    run("load", "-i", "people", csv.toString(), "--key=name")
        .fails(1, "no column is called 'value'");
    final Outcome loaded = run("load", "-i", "people", csv.toString(), "--key=id", "--value=name");
    assertTrue(loaded.done().startsWith("loaded 3 entries into 'people' in "), loaded.out());
    run("get", "-i", "people", "8", "--json")
        .prints("{\"key\":\"8\",\"value\":\"Bob\\nthe second\",\"version\":2}");
    run("load", "-i", "people", csv.toString(), "--key=1", "--value=4")
        .fails(1, "no column 4 of 3");
    final Path tsv = file("plain.tsv", "a\t1\nb\t2\n");
    run("load", "-i", "plain", tsv.toString(), "--no-header").done();
    run("scan", "-i", "plain").prints("a  1", "b  2");
    final Path swapped = file("swapped", "1;a\n2;b\n");
    run(
            "load",
            "-i",
            "swapped",
            swapped.toString(),
            "--no-header",
            "--key=2",
            "--value=1",
            "--delimiter=;",
            "--value-type=long",
            "--json")
        .done();
    run("scan", "-i", "swapped", "--value-type=long").prints("a  1", "b  2");
    final Path json =
        file(
            "docs.json",
            "{\"id\":1,\"doc\":{\"a\":[1,2]},\"x\":{\"id\":5}}\n\n{\"doc\":true,\"id\":2}");
    run("load", "-i", "docs", json.toString(), "--key=id", "--value=doc").done();
    run("scan", "-i", "docs").prints("1  {\"a\":[1,2]}", "2  true");
  }

  @Test
  void aRowOfMoreColumnsThanTheFirstIsABadLine() throws IOException {
    final Path csv = file("wide.csv", "key,value\na,1\nb,2,3\nc,4\n");
    final Outcome loaded = run("load", "-i", "wide", csv.toString());
    assertEquals(ExitCode.FAILED, loaded.code());
    loaded.says("wide.csv:3: has 3 columns, and the first line has 2");
    run("scan", "-i", "wide").prints("a  1", "c  4");
    final Path plain = file("plain-wide.csv", "a,1\nb,2,3\n");
    run("load", "-i", "wide", plain.toString(), "--no-header").says("plain-wide.csv:2: has 3");
  }

  @Test
  void theTimeThatIsLeftOfAnEntryIsDumpedAndLoaded() {
    run("put", "-i", "timed", "long", "1", "--ttl", "1d").done();
    run("put", "-i", "timed", "stays", "2").done();
    for (final String format : new String[] {"csv", "jsonl"}) {
      final String dump = run("dump", "-i", "timed", "--format", format).done();
      server.pipe(dump, "load", "-i", format + "-timed", "-").done();
      final Instant written = index("timed").getEntry(key("long")).orElseThrow().deadline().get();
      final Instant loaded =
          index(format + "-timed").getEntry(key("long")).orElseThrow().deadline().get();
      final Duration apart = Duration.between(written, loaded).abs();
      assertTrue(apart.compareTo(Duration.ofMinutes(1)) < 0, "apart=" + apart); // of one clock
      assertTrue(
          index(format + "-timed").getEntry(key("stays")).orElseThrow().deadline().isEmpty());
      server.pipe(dump, "load", "-i", format + "-set", "-", "--ttl", "10d").done();
      for (final IndexEntry<ByteString, ByteString> entry : index(format + "-set").scan()) {
        final Duration left = Duration.between(Instant.now(), entry.deadline().orElseThrow());
        assertTrue(left.toDays() >= 9, "left=" + left);
      }
    }
  }

  @Test
  void entriesThatHaveEndedAreNotLoaded() {
    final String csv =
        "key,value,base64,deadline\na,1,,2020-01-01T00:00:00Z\nb,2,,soon\nc,Mw==,value,\n";
    final Outcome loaded = server.pipe(csv, "load", "-i", "ended", "-");
    loaded.says("stdin:3: deadline is no instant", "soon");
    assertTrue(loaded.out().startsWith("loaded 1 entry"), loaded.out());
    assertTrue(loaded.out().endsWith("; 1 bad line left out; 1 entry had ended\n"), loaded.out());
    run("scan", "-i", "ended").prints("c  3");
    // Other files may have a field of this name.
    server
        .pipe(
            "{\"id\":\"d\",\"deadline\":\"soon\"}\n",
            "load",
            "-i",
            "ended",
            "-",
            "--key=id",
            "--value=deadline")
        .done();
    run("get", "-i", "ended", "d").prints("soon");
    // Dumps of earlier versions have no such column.
    server.pipe("key,value,base64\ne,NQ==,value\n", "load", "-i", "ended", "-").done();
    run("get", "-i", "ended", "e").prints("5");
  }

  private static ByteString key(String text) {
    return ByteString.copyFromUtf8(text);
  }

  /** A named pipe, into which a thread writes these bytes, in two parts. */
  private static Path pipe(String name, byte[] bytes) throws Exception {
    final Path pipe = directory.resolve(name);
    assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).inheritIO().start().waitFor());
    final Thread writer =
        new Thread(
            () -> {
              try (OutputStream out = Files.newOutputStream(pipe)) {
                out.write(bytes, 0, bytes.length / 2);
                out.write(bytes, bytes.length / 2, bytes.length - bytes.length / 2);
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            });
    writer.setDaemon(true);
    writer.start();
    return pipe;
  }

  private static byte[] gzip(String text) throws IOException {
    final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (OutputStream out = new GZIPOutputStream(bytes)) {
      out.write(text.getBytes(StandardCharsets.UTF_8));
    }
    return bytes.toByteArray();
  }

  @Test
  void pipesAreLoadedAndPut() throws Exception {
    final byte[] csv = "key,value\na,1\nb,2\n".getBytes(StandardCharsets.UTF_8);
    run("load", "-i", "piped", pipe("named", csv).toString()).done();
    run("scan", "-i", "piped").prints("a  1", "b  2");
    run("put", "-i", "piped", "file", "--file", pipe("value", csv).toString()).done();
    final Path stdin = pipe("stdin", csv);
    try (InputStream in = new FileInputStream(stdin.toFile())) { // as that of a process is
      new Invocation(server.target())
          .shm(directory)
          .input(in)
          .run("put", "-i", "piped", "stdin", "--file", "-")
          .done();
    }
    run("get", "-i", "piped", "file", "stdin")
        .prints("file   key,value\\na,1\\nb,2\\n", "stdin  key,value\\na,1\\nb,2\\n");
  }

  @Test
  void compressedFilesAreLoadedAndDumped() throws Exception {
    final String json = "{\"key\":\"a\",\"value\":\"1\"}\n";
    final byte[] two = // one behind the other, as gzip allows
        ByteString.copyFrom(gzip(json))
            .concat(ByteString.copyFrom(gzip(json.replace("\"a\"", "\"b\""))))
            .toByteArray();
    run("load", "-i", "gz", pipe("two", two).toString()).done();
    run("scan", "-i", "gz").prints("a  1", "b  1");
    final Path dump = directory.resolve("dump.tsv.gz");
    run("dump", "-i", "gz", dump.toString()).done();
    try (InputStream in = new GZIPInputStream(Files.newInputStream(dump))) {
      assertTrue(new String(in.readAllBytes(), StandardCharsets.UTF_8).startsWith("key,value,"));
    }
    final Path named = directory.resolve("dump.csv.gz");
    run("dump", "-i", "gz", named.toString()).done();
    run("load", "-i", "gz2", named.toString()).done();
    assertEquals(entries("gz"), entries("gz2"));
    new Invocation(server.target())
        .shm(directory)
        .input(Files.newInputStream(named))
        .run("load", "-i", "gz3", "-")
        .done();
    assertEquals(entries("gz"), entries("gz3"));
    final byte[] whole = Files.readAllBytes(named);
    final Path cut = Files.write(directory.resolve("cut.gz"), Arrays.copyOf(whole, 30));
    run("load", "-i", "gz4", cut.toString()).fails(1, "cut.gz: the gzip data ends in the midst");
  }

  private static byte[] bytes(byte[]... parts) {
    return Arrays.stream(parts)
        .map(ByteString::copyFrom)
        .reduce(ByteString.EMPTY, ByteString::concat)
        .toByteArray();
  }

  /** The same with a byte changed; an index below 0 counts from the end. */
  private static byte[] changed(byte[] bytes, int index) {
    final byte[] changed = bytes.clone();
    changed[index < 0 ? bytes.length + index : index] ^= 0x55;
    return changed;
  }

  @Test
  void damagedGzipDataIsAnErrorAfterWhatIsBeforeIt() throws IOException {
    final byte[] first = gzip("key,value\na,1\n");
    final byte[] second = gzip("b,2\n");
    final Map<byte[], String> damaged =
        Map.of(
            bytes(first, "b,2\n".getBytes(StandardCharsets.UTF_8)),
            "other bytes are behind the gzip data",
            bytes(first, changed(second, 1)),
            "other bytes are behind the gzip data",
            bytes(first, changed(second, 2)),
            "the gzip data is damaged: unknown compression",
            bytes(first, changed(second, -8)),
            "the gzip data is damaged: checksum",
            bytes(first, changed(second, -1)),
            "the gzip data is damaged: length",
            bytes(first, Arrays.copyOf(second, 5)),
            "the gzip data ends in the midst");
    for (final Map.Entry<byte[], String> each : damaged.entrySet()) {
      run("drop", "damaged");
      run("create", "damaged").done();
      final Path file = Files.write(directory.resolve("damaged.gz"), each.getKey());
      final Outcome loaded = run("load", "-i", "damaged", file.toString());
      loaded.fails(ExitCode.FAILED, "damaged.gz: " + each.getValue());
      assertTrue(loaded.out().startsWith("loaded "), loaded.out());
      run("get", "-i", "damaged", "a").prints("1");
    }
    final Path begin = Files.write(directory.resolve("begin.gz"), Arrays.copyOf(first, 2));
    run("load", "-i", "damaged", begin.toString())
        .fails(ExitCode.FAILED, "begin.gz: the gzip data ends in the midst");
  }

  @Test
  void allPartsOfAGzipHeaderAreRead() throws IOException {
    final byte[] content = gzip("key,value\na,1\n");
    final byte[] header = Arrays.copyOf(content, 10);
    header[3] = 2 + 4 + 8 + 16; // checksum, extra field, file name, comment
    final byte[] named =
        bytes(header, new byte[] {3, 0, 'x', 'y', 'z', 'f', 'i', 'l', 'e', 0, 'c', 0});
    final CRC32 sum = new CRC32();
    sum.update(named);
    final byte[] whole =
        bytes(
            named,
            new byte[] {(byte) sum.getValue(), (byte) (sum.getValue() >> 8)},
            Arrays.copyOfRange(content, 10, content.length));
    final Path file = Files.write(directory.resolve("header.gz"), whole);
    run("load", "-i", "header", file.toString()).done();
    run("scan", "-i", "header").prints("a  1");
    Files.write(file, changed(whole, 12));
    run("load", "-i", "header", file.toString())
        .fails(ExitCode.FAILED, "header.gz: the gzip data is damaged: checksum of a header");
  }

  @Test
  void aRefusedDeadlineIsABadLineAlsoWhereTheValueIsThereAlready() {
    final String dump = "key,value,base64,deadline\na,1,,%s\nb,2,,\nc,3,,%s\n";
    server.pipe(dump.replace("%s", ""), "load", "-i", "far", "-").done();
    final String far = Instant.now().plus(Duration.ofDays(3651)).toString();
    final String near = Instant.now().plus(Duration.ofMillis(300)).toString();
    final Outcome loaded =
        server.pipe(String.format(dump, far, near), "load", "-i", "far", "-", "--json");
    assertEquals(ExitCode.FAILED, loaded.code(), loaded::toString);
    loaded.says("stdin:2: ttl is too long", "3650 days");
    assertEquals(1, loaded.err().lines().count(), loaded.err());
    assertTrue(loaded.out().contains("\"bad\":1,"), loaded.out());
    final Outcome all =
        server.pipe(dump.replace("%s", ""), "load", "-i", "far", "-", "--ttl=3651d", "--json");
    all.says("stdin:2: ttl is", "stdin:3: ttl is", "stdin:4: ttl is");
    assertTrue(all.out().contains("\"loaded\":0,\"bad\":3,"), all.out());
  }

  @Test
  void aColumnThatSomebodyAddedToADumpChangesNothing() {
    final String end = Instant.now().plus(Duration.ofDays(1)).toString();
    final String csv = "key,value,base64,deadline,note\na,MQ==,value," + end + ",x\n";
    for (final String[] options : new String[][] {{}, {"--key=key"}, {"--key=1", "--value=2"}}) {
      run("drop", "added");
      final String[] args = {"load", "-i", "added", "-"};
      server
          .pipe(
              csv,
              Stream.concat(Arrays.stream(args), Arrays.stream(options)).toArray(String[]::new))
          .done();
      final String found = run("get", "-i", "added", "a", "--json").done();
      assertTrue(found.contains("\"value\":\"1\""), found);
      assertTrue(found.contains("\"deadline\":"), found);
    }
    server.pipe("key,value,base64,note\nb,Mg==,value,x\n", "load", "-i", "added", "-").done();
    run("get", "-i", "added", "b").prints("2");
    server
        .pipe(
            "{\"key\":\"c\",\"value\":\"3\",\"deadline\":\"" + end + "\"}\n",
            "load",
            "-i",
            "added",
            "-",
            "--key=key",
            "--value=value")
        .done();
    assertTrue(run("get", "-i", "added", "c", "--json").done().contains("\"deadline\":"));
    server
        .pipe("k,v1,v2\n", "load", "-i", "added", "-", "--no-header", "--key=1")
        .fails(ExitCode.FAILED, "stdin:1: ", "--key and --value", "3 columns");
  }

  @Test
  void aByteOrderMarkIsNoPartOfTheFormat() {
    final String json = "\ufeff{\"key\":\"a\",\"value\":\"1\"}\n";
    server.pipe(json, "load", "-i", "marked", "-").done();
    server.pipe("\ufeffkey,value\nb,2\n", "load", "-i", "marked", "-").done();
    run("scan", "-i", "marked").prints("a  1", "b  2");
  }

  @Test
  void aMessageAboutBytesHasNoControlCharacters() throws IOException {
    final Path binary = file("binary", "\u001b[31m,\0,\u0007\n1,2,3\n");
    final Outcome loaded = run("load", "-i", "binary", binary.toString());
    loaded.says("no column is called 'key'", "\\x1b[31m");
    assertTrue(loaded.err().chars().noneMatch(c -> c < ' ' && c != '\n'), loaded.err());
  }

  @Test
  void badLinesAreNamedCountedAndLeftOut() throws IOException {
    final Path csv =
        file(
            "bad.csv",
            "key,value\n1,a\nx,b\n\"2\n\"\"\",c\n3\n\"4\"z,d,e\n5,\"q\"r\"s\"\n6,f\n"
                + "99999999999999999999,g\n,h\n7,i\n");
    final Outcome loaded = run("load", "-i", "bad", csv.toString(), "--key-type=long");
    assertEquals(ExitCode.FAILED, loaded.code());
    loaded.says(
        ":3: 'x' is no long",
        ":4: '2\\n\"' is no long",
        ":6: has 1 column of 2",
        ":7: no CSV",
        ":8: no CSV",
        ":10: '99999999999999999999' is no long",
        ":11: '' is no long");
    assertEquals(8, loaded.err().lines().count(), loaded.err()); // with "created index"
    assertTrue(loaded.out().startsWith("loaded 3 entries"), loaded.out());
    assertTrue(loaded.out().endsWith("; 7 bad lines left out\n"), loaded.out());
    run("scan", "-i", "bad", "--key-type=long").prints("1  a", "6  f", "7  i");
    final Path json =
        file(
            "bad.jsonl",
            "{\"key\":\"a\",\"value\":1}\n{\"key\":\"b\"}\nnonsense\n{\"key\":null,\"value\":1}\n[1]\n"
                + "{\"key\":\"c\",\"value\":1} {}\n{\"key\":\"d\",\"value\":\n"
                + "{\"key_base64\":\"*\",\"value\":1}\n{\"key\":\"\",\"value\":1}\n"
                + "{\"key\":\""
                + "k".repeat(1025)
                + "\",\"value\":1}\n{\"key\":\"z\",\"value\":1}\n");
    final Outcome lines = run("load", "-i", "badj", json.toString(), "--json");
    assertEquals(ExitCode.FAILED, lines.code());
    lines.says(
        ":2: no field 'value'",
        ":3: no JSON",
        ":4: field 'key' is null",
        ":5: no JSON object",
        ":6: more than one",
        ":7: no JSON",
        ":8: key_base64 is no base64",
        ":9: the key is empty",
        ":10: the key has 1,025 bytes");
    assertTrue(lines.out().contains("\"loaded\":2,\"bad\":9,"), lines.out());
    run("scan", "-i", "badj", "--keys-only").prints("a", "z");
    run("load", "-i", "badj", json.toString(), "--max-bad=3").says("gave up at line 5");
  }

  @Test
  void whatIsNoUtf8IsABadLine() throws IOException {
    final byte[] begin = "key,value\na,ä\nb,".getBytes(StandardCharsets.UTF_8);
    final Path csv = directory.resolve("latin.csv");
    Files.write(
        csv,
        ByteString.copyFrom(begin)
            .concat(ByteString.copyFrom(new byte[] {(byte) 0xe4, '\n', 'c', ',', 'd', '\n'}))
            .toByteArray());
    final Outcome loaded = run("load", "-i", "latin", csv.toString());
    assertEquals(ExitCode.FAILED, loaded.code());
    loaded.says("latin.csv:3: the value is no UTF-8");
    run("scan", "-i", "latin").prints("a  ä", "c  d");
  }

  @Test
  void filesThatCannotBeReadOrWrittenAreNamed() throws IOException {
    run("load", directory.resolve("none.csv").toString()).fails(1, "none.csv: no such file");
    run("load", directory.toString()).fails(1, "is a directory");
    run("load", file("array.json", "[{\"key\":1}]").toString()).fails(1, "jq -c");
    run("put", "-i", "files", "a", "b").done();
    run("dump", "-i", "files", directory.resolve("none/x").toString())
        .fails(1, "none/x.part: no such");
    run("dump", "-i", "files", directory.toString()).fails(1, "is a directory");
    assertTrue(run("load", file("empty.csv", "").toString()).done().startsWith("loaded 0 entries"));
    assertTrue(
        run("load", file("empty.jsonl", "").toString()).done().startsWith("loaded 0 entries"));
    final Path open = file("open.csv", "key,value\na,1\nb,\"2\nc,3\n" + "x".repeat(9 << 20));
    run("load", "-i", "open", open.toString())
        .says("open.csv:3: a quote is not closed within 8.0 MiB");
    run("get", "-i", "open", "a").prints("1");
  }

  @Test
  void theLastOfSeveralLinesWins() throws IOException {
    final StringBuilder text = new StringBuilder("key,value\n");
    for (int i = 0; i < 3000; i++) {
      text.append("k").append(i % 7).append(',').append(i).append('\n');
    }
    final Outcome loaded = run("load", "-i", "last", file("last.csv", text.toString()).toString());
    assertTrue(loaded.done().startsWith("loaded 3,000 entries"), loaded.out());
    for (int i = 2993; i < 3000; i++) {
      run("get", "-i", "last", "k" + i % 7).prints("" + i);
    }
  }

  @Test
  void anInterruptedDumpLeavesNoFile() {
    run("put", "-i", "cutoff", "a", "b").done();
    final StopSignal stop = new StopSignal();
    stop.request();
    final Path file = directory.resolve("cutoff.csv");
    final Outcome dump =
        new Invocation(server.target())
            .shm(directory)
            .stop(stop)
            .run("dump", "-i", "cutoff", file.toString());
    dump.fails(ExitCode.INTERRUPTED, "interrupted");
    assertFalse(Files.exists(file));
    assertFalse(Files.exists(directory.resolve("cutoff.csv.part")));
  }

  @Test
  void aPersonSeesTheProgress() throws IOException {
    final Path csv = file("progress.csv", "key,value\na,1\n");
    final Invocation person = new Invocation(server.target()).shm(directory).person();
    final Outcome load = person.run("load", "-i", "progress", csv.toString());
    load.done();
    load.says("load 100%", "1 entry");
    assertFalse(run("load", "-i", "progress", csv.toString()).err().contains("%"));
  }
}
