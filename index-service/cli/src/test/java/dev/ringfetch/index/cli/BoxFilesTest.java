package dev.ringfetch.index.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.client.Box;
import dev.ringfetch.index.client.Codec;
import dev.ringfetch.index.client.IndexClient;
import dev.ringfetch.index.client.IndexEntry;
import dev.ringfetch.index.client.Located;
import dev.ringfetch.index.client.SpatialIndex;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Files of entries with boxes: what dump writes, load reads back; and those of other programs. */
final class BoxFilesTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 1);

  @TempDir static Path directory;
  private static TestServer server;
  private static IndexClient client;

  @BeforeAll
  static void start() throws IOException {
    server = TestServer.start(directory, TestServer.MEMORY);
    client = IndexClient.builder().target(server.target()).shmDirectory(directory).build();
  }

  @AfterAll
  static void stop() {
    client.close();
    server.close();
  }

  private static Outcome run(String... args) {
    return server.run(args);
  }

  private static SpatialIndex<ByteString, ByteString> index(String name) {
    return client.spatial(name, Codec.byteString(), Codec.byteString());
  }

  private static Map<ByteString, Located<ByteString>> entries(String name) {
    final Map<ByteString, Located<ByteString>> entries = new HashMap<>();
    for (final var entry : index(name).intersecting(Coordinates.EVERYWHERE)) {
      entries.put(entry.key(), entry.value());
    }
    return entries;
  }

  private static Path file(String name, String text) throws IOException {
    return Files.writeString(directory.resolve(name), text);
  }

  /** Points and boxes of all magnitudes, with texts and bytes. */
  private static Map<ByteString, Located<ByteString>> random() {
    System.out.println("BoxFilesTest seed=" + SEED);
    final Random random = new Random(SEED);
    final Map<ByteString, Located<ByteString>> entries = new HashMap<>();
    for (int i = 0; i < 1200; i++) {
      final double size = Math.pow(10, random.nextInt(60) - 30);
      final double x = random.nextDouble() * 2 * size - size;
      final double y = random.nextDouble() * 2 * size - size;
      final boolean isPoint = random.nextBoolean();
      final Box box = isPoint ? Box.of(x, y) : new Box(x, y, size, size);
      final byte[] value = new byte[random.nextInt(12)];
      random.nextBytes(value);
      entries.put(
          random.nextBoolean()
              ? bytes("k" + i)
              : bytes("\"" + i).concat(ByteString.copyFrom(value)),
          new Located<>(box, random.nextBoolean() ? bytes("v," + i) : ByteString.copyFrom(value)));
    }
    return entries;
  }

  private static ByteString bytes(String text) {
    return ByteString.copyFromUtf8(text);
  }

  @ParameterizedTest
  @ValueSource(strings = {"csv", "jsonl", "geojson"})
  void allEntriesComeBack(String format) {
    final String name = "back-" + format;
    final Map<ByteString, Located<ByteString>> written = random();
    index(name).putAll(written);
    index(name).put(bytes("ends"), Box.of(1, 2), bytes("soon"), Duration.ofDays(1));
    written.put(bytes("ends"), new Located<>(Box.of(1, 2), bytes("soon")));
    final String file = directory.resolve("back." + format + ".gz").toString();
    assertEquals(
        "wrote " + Printable.entries(written.size()) + " of '" + name + "' to " + file + "\n",
        run("dump", "-i", name, file).done());
    final Outcome loaded = run("load", "-i", name + "2", file, "--format", format);
    loaded.says("created index '" + name + "2', spatial");
    assertTrue(
        loaded.done().startsWith("loaded " + Printable.entries(written.size())), loaded.out());
    assertEquals(written, entries(name + "2"));
    final IndexEntry<ByteString, Located<ByteString>> ending =
        index(name + "2").getEntry(bytes("ends")).orElseThrow();
    final Duration left = Duration.between(Instant.now(), ending.deadline().orElseThrow());
    assertTrue(left.toHours() >= 22 && left.toHours() <= 24, "left=" + left);
  }

  @Test
  void geometriesOfNoKnownTypeAreBadLines() throws IOException {
    final String feature =
        "{\"type\":\"Feature\",\"geometry\":%s,\"properties\":{\"key\":\"%s\",\"value\":\"v\"}}\n";
    final Path mixed =
        file(
            "strange.geojson",
            String.format(feature, "{\"type\":\"Circle\",\"coordinates\":[1,2]}", "a")
                + String.format(feature, "{\"type\":\"Point\",\"coordinates\":[1,2]}", "b")
                + String.format(
                    feature,
                    "{\"type\":\"GeometryCollection\",\"geometries\":"
                        + "[{\"type\":\"Blob\",\"coordinates\":[1,2]}]}",
                    "c"));
    final Outcome loaded = run("load", "-i", "strange", mixed.toString());
    loaded.says(":1: feature 1: its geometry is of no type of GeoJSON: Circle");
    loaded.says(":3: feature 3: its geometry is of no type of GeoJSON: Blob");
    assertEquals(Set.of(bytes("b")), entries("strange").keySet());
  }

  /** A file that is wrong from its first line on leaves no index behind. */
  @Test
  void failedLoadsCreateNoIndex() throws IOException {
    final Path wrong = file("wrong.geojson", "{\"type\":\"Feature\",\"geometry\":null}\n");
    run("load", "-i", "never", wrong.toString()).fails(1, "no coordinates");
    run("load", "-i", "never", file("torn.geojson", "{\"type\":").toString()).fails(1, "no JSON");
    run("describe", "never").fails(3, "no index is called 'never'");
    run("load", "-i", "empty", file("empty.csv", "key,value\n").toString()).done();
    run("describe", "empty").done();
  }

  @Test
  void aDumpIsReadableByOthers() {
    index("small").put(bytes("Bern"), Box.of(7.45, 46.95), bytes("be"));
    assertEquals(
        "key,value,base64,deadline,min_x,min_y,max_x,max_y\nBern,be,,,7.45,46.95,7.45,46.95\n",
        run("dump", "-i", "small").done());
    assertEquals(
        "{\"key\":\"Bern\",\"value\":\"be\",\"min_x\":7.45,\"min_y\":46.95,\"max_x\":7.45,"
            + "\"max_y\":46.95}\n",
        run("dump", "-i", "small", "--json").done());
    assertEquals(
        "{\"type\":\"FeatureCollection\",\"features\":[\n"
            + "{\"type\":\"Feature\",\"geometry\":{\"type\":\"Point\",\"coordinates\":[7.45,46.95]},"
            + "\"properties\":{\"key\":\"Bern\",\"value\":\"be\"}}\n]}\n",
        run("dump", "-i", "small", "--format", "geojson").done());
    run("create", "none", "--kind", "spatial").done();
    final String empty = run("dump", "-i", "none", "--format", "geojson").done();
    server.pipe(empty, "load", "-i", "none", "-", "--format", "geojson").done();
    run("put", "-i", "ordered", "a", "b").done();
    run("dump", "-i", "ordered", "--format", "geojson").fails(1, "kind ordered", "geojson needs");
    run("load", "-i", "ordered", directory.resolve("none.csv").toString()).fails(1, "no such file");
  }

  @Test
  void columnsAndFieldsOfCoordinatesAreChosen() throws IOException {
    final Path csv =
        file(
            "cities.csv",
            "name,lon,lat,pop\nBern,7.45,46.95,1\nThun, 7.6 ,46.7,2\nX,a,1,3\nY,1e31,1,4\n");
    final String[] named = {"--key=name", "--value=pop", "--box=lon,lat"};
    final Outcome loaded =
        run("load", "-i", "cities", csv.toString(), named[0], named[1], named[2]);
    assertEquals(ExitCode.FAILED, loaded.code());
    loaded.says("cities.csv:4: 'a' is not a number", "cities.csv:5: not a box");
    run("get", "-i", "cities", "Bern", "Thun").prints("Bern  7.45,46.95  1", "Thun  7.6,46.7    2");
    run("load", "-i", "cities", csv.toString(), named[0], named[1], "--box=lon,latitude")
        .fails(1, "no column is called 'latitude'; --box");
    run("load", "-i", "cities", csv.toString(), named[0], named[1])
        .fails(1, "cities", "spatial", "--box");
    run("create", "flat").done();
    run("load", "-i", "flat", csv.toString(), named[0], named[1], named[2])
        .fails(1, "kind ordered", "no boxes");
    final Path plain = file("plain.csv", "a,b,4,1,2,3\n");
    run(
            "load",
            "-i",
            "corners",
            plain.toString(),
            "--no-header",
            "--key=1",
            "--value=2",
            "--box=3,4,5,6")
        .done();
    run("get", "-i", "corners", "a").prints("a  2.0,1.0,4.0,3.0  b");
    final Path json =
        file(
            "fields.jsonl",
            "{\"key\":1,\"value\":2,\"x\":3,\"y\":4}\n{\"key\":2,\"value\":2,\"x\":3}\n");
    run("load", "-i", "fields", json.toString(), "--box=x,y").says(":2: no field 'y'; --box");
    run("get", "-i", "fields", "1").prints("1  3.0,4.0  2");
    run("load", "-i", "fields", csv.toString(), "--format=geojson", "--box=x,y")
        .fails(2, "--box is for CSV");
  }

  @Test
  void featuresHaveTheBoundingBoxesOfTheirGeometries() throws IOException {
    final Path features =
        file(
            "f.geojson",
            "{\"features\": [\n"
                + feature("\"id\":7", "{\"a\":[1,{}]}", "\"Point\",\"coordinates\":[1,2,900]")
                + ",\n"
                + feature(
                    "\"id\":7",
                    "{\"key\":\"line\",\"value\":\"v\"}",
                    "\"LineString\",\"bbox\":[0,0,9,9],\"coordinates\":[[3,-1],[-3,5e0]]")
                + ",\n"
                + feature(
                    "\"id\":\"multi\"",
                    "null",
                    "\"MultiPolygon\",\"coordinates\":[[[[0,0],[1,0],[1,1],[0,0]]],[[[9,9],[8,8],[9,8]]]]")
                + ",\n"
                + feature(
                    "\"id\":\"many\"",
                    "{}",
                    "\"GeometryCollection\",\"geometries\":[{\"type\":\"Point\",\"coordinates\":"
                        + "[1,1]},{\"type\":\"Point\",\"coordinates\":[2,3]}]")
                + "],\n\"crs\":{\"features\":[1]},\"type\":\"FeatureCollection\"}\n"
                + feature(
                    "\"x\":{\"coordinates\":[5,5]}",
                    "{\"key\":\"alone\"}",
                    "\"Point\",\"coordinates\":[0,0]"));
    final Outcome loaded = run("load", "-i", "features", features.toString());
    assertTrue(loaded.done().startsWith("loaded 5 entries"), loaded.out());
    run("get", "-i", "features", "7", "line", "multi", "many", "alone")
        .prints(
            "7      1.0,2.0            {\"a\":[1,{}]}",
            "line   -3.0,-1.0,3.0,5.0  v",
            "multi  0.0,0.0,9.0,9.0    {}",
            "many   1.0,1.0,2.0,3.0    {}",
            "alone  0.0,0.0            {\"key\":\"alone\"}");
    run("load", "-i", "named", features.toString(), "--key=key", "--value=value")
        .says("f.geojson:2: feature 1: no field 'key'", ":7: feature 5: no field 'value'");
    run("get", "-i", "named", "line").prints("line  -3.0,-1.0,3.0,5.0  v");
  }

  private static String feature(String member, String properties, String geometry) {
    return "{"
        + member
        + ",\"properties\":"
        + properties
        + ",\"geometry\":{\"type\":"
        + geometry
        + "},\"type\":\"Feature\"}";
  }

  @Test
  void badFeaturesAreNamedAndLeftOut() throws IOException {
    final String good = feature("\"id\":1", "{}", "\"Point\",\"coordinates\":[1,2]");
    final Path bad =
        file(
            "bad.geojson",
            "{\"type\":\"FeatureCollection\",\"features\":[\n"
                + good.replace("\"id\":1,", "")
                + ",\n"
                + "{\"type\":\"Feature\",\"id\":2,\"geometry\":null,\"properties\":{}},\n"
                + good.replace("[1,2]", "[1]")
                + ",\n"
                + good.replace("[1,2]", "[1,2e30]")
                + ",\n"
                + good.replace("\"Feature\"", "\"Topology\"")
                + ",\n"
                + "[1,2],\n"
                + good
                + "]}");
    final Outcome loaded = run("load", "-i", "bad", bad.toString());
    assertEquals(ExitCode.FAILED, loaded.code());
    loaded.says(
        "bad.geojson:2: feature 1: no field 'key'",
        ":3: feature 2: its geometry has no coordinates",
        ":4: feature 3: its geometry has no coordinates",
        ":5: feature 4: not a box",
        ":6: feature 5: its type is Topology",
        ":7: feature 6: no JSON object");
    assertTrue(loaded.out().startsWith("loaded 1 entry"), loaded.out());
    run("load", "-i", "bad", file("cut.geojson", "{\"features\":[" + good + ",{\"id\":").toString())
        .fails(1, "cut.geojson:1: no JSON");
    run("load", "-i", "bad", file("list.geojson", "[" + good + "]").toString())
        .says("feature 1: no JSON object");
    run(
            "load",
            "-i",
            "bad",
            file("bare.geojson", "{\"type\":\"Point\",\"coordinates\":[1,2]}").toString())
        .says("feature 1: its type is Point, not Feature");
  }
}
