package dev.ringfetch.examples.quickstart;

import com.google.errorprone.annotations.FormatMethod;
import com.google.protobuf.ByteString;
import dev.ringfetch.examples.data.City;
import dev.ringfetch.examples.data.NpmPackage;
import dev.ringfetch.examples.process.ChildFailure;
import dev.ringfetch.examples.process.Rings;
import dev.ringfetch.examples.process.TemporaryDirectory;
import dev.ringfetch.index.AtLeast;
import dev.ringfetch.index.OptionErrors;
import dev.ringfetch.index.client.Access;
import dev.ringfetch.index.client.Box;
import dev.ringfetch.index.client.ClientMetrics;
import dev.ringfetch.index.client.Codec;
import dev.ringfetch.index.client.IndexChange;
import dev.ringfetch.index.client.IndexClient;
import dev.ringfetch.index.client.IndexClientBuilder;
import dev.ringfetch.index.client.IndexException;
import dev.ringfetch.index.client.Located;
import dev.ringfetch.index.client.Point;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingChannelBuilder;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The demo of spatial indexes: cities and borders in a server process, searched by calls and
 * directly; vehicles, and a watch of a box that moves over them; and a map of what was found.
 */
@Command(
    name = "index map",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Searches cities and borders, and draws a map of what it finds.",
    footer = {
      "",
      "The last line is for scripts. The exit code is 0 only if each answer is that of looking at",
      "every entry, and most searches of memory went without a call."
    })
public final class MapDemo implements Callable<Integer> {
  private static final NpmPackage WORLD =
      new NpmPackage(
          "world-atlas",
          "2.0.2",
          "032e7765f2ce00edaeafec23ff22bc3b77e42987c257da944cc585b452c05b97");

  private static final NpmPackage STATES =
      new NpmPackage(
          "us-atlas", "3.0.1", "e6daba1800885868303ad3549da62f85a557b8142bb72629ec15651de62f9c5d");

  /** The part of the map that is drawn: California and Nevada. */
  private static final Box FRAME = new Box(-125, 32.2, -113.5, 42.2);

  private static final Point DRAWN_FROM = new Point(-119, 37.5);
  private static final int DRAWN_NEAREST = 10;
  private static final Duration DEADLINE = Duration.ofSeconds(60); // all cities are one write
  private static final int STEPS = 20; // of the watched box
  private static final double WATCHED = 1; // half its edge, in degrees

  private final PrintStream out = System.out;

  @Option(
      names = "--places",
      converter = AtLeast.One.class,
      defaultValue = "100",
      description = "Places that are asked about. Default: ${DEFAULT-VALUE}.")
  private int places;

  @Option(names = "--made-up", description = "Makes the data up, and asks npm for none.")
  private boolean madeUp;

  @Option(
      names = "--seed",
      defaultValue = "1",
      description = "Of the places. Default: ${DEFAULT-VALUE}.")
  private long seed;

  @Option(
      names = "--svg",
      paramLabel = "PATH",
      defaultValue = "${sys:java.io.tmpdir}/map.svg",
      description = "The picture. Default: ${DEFAULT-VALUE}.")
  private Path picture;

  @Mixin private Rings rings;

  private List<City> cities;
  private final List<MapArc> arcs = new ArrayList<>();

  /** Runs it; ends the JVM. */
  public static void main(String[] args) {
    System.exit(OptionErrors.printedFor(new CommandLine(new MapDemo())).execute(args));
  }

  @Override
  public Integer call() throws IOException {
    read();
    try (IndexServerProcess server =
            IndexServerProcess.start(List.of("--port", "0"), "localhost", rings);
        MapClients clients = new MapClients(server.target(), rings)) {
      return run(clients) ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    } catch (ChildFailure | IndexException | IllegalStateException e) {
      System.err.println("index map: " + e.getMessage());
      return CommandLine.ExitCode.SOFTWARE;
    }
  }

  private void read() throws IOException {
    if (!madeUp) {
      try (TemporaryDirectory directory = new TemporaryDirectory("map-")) {
        cities = City.read(City.load(directory.path()));
        arcs.addAll(MapArc.read(WORLD.load(directory.path(), "countries-10m.json")));
        arcs.addAll(MapArc.read(STATES.load(directory.path(), "counties-10m.json")));
        return;
      } catch (IOException e) {
        say("npm cannot supply the data, so they are made up: %s", e.getMessage());
      }
    } else {
      say("the data are made up");
    }
    cities = City.read(null);
    arcs.clear();
    arcs.addAll(MapArc.madeUp());
  }

  /** The clients of the demo: one reads by calls, the other one directly, and counts calls. */
  private static final class MapClients implements AutoCloseable {
    private final RingChannel channel;
    private final AtomicLong callReads = new AtomicLong();
    private final AtomicLong directReads = new AtomicLong();
    private final IndexClient calls;
    private final IndexClient memory;

    MapClients(String target, Rings rings) {
      final RingChannelBuilder builder = RingChannelBuilder.forTarget(target).usePlaintext();
      rings.apply(builder);
      channel = builder.build();
      final ClientMetrics counts =
          (operation, index, route, code, durationNs) ->
              (route == Access.DIRECT ? directReads : callReads).incrementAndGet();
      calls = IndexClient.builder().channel(channel).deadline(DEADLINE).build();
      final IndexClientBuilder direct =
          IndexClient.builder().channel(channel).deadline(DEADLINE).metrics(counts);
      rings.apply(direct::shmDirectory);
      memory = direct.build();
    }

    @Override
    public void close() {
      memory.close();
      calls.close();
      channel.shutdownNow();
    }

    /** A layer of the map; also creates its index. */
    <V> MapLayer<V> layer(String name, Codec<V> codec) {
      return new MapLayer<>(
          calls.spatial(name, Codec.string(), codec), memory.spatial(name, Codec.string(), codec));
    }
  }

  private boolean run(MapClients clients) throws IOException {
    final MapLayer<Long> points = clients.layer("cities", Codec.int64());
    final MapLayer<ByteString> borders = clients.layer("borders", Codec.byteString());
    load(points, borders);
    say("asking about %,d places, seed %d; times are medians", places, seed);
    say("  %-8s %-7s %10s %10s %10s", "layer", "", "answers", "search us", "nearest us");
    ask("cities", points);
    ask("borders", borders);
    say(
        "of memory: %,d searches directly, %,d with a call",
        clients.directReads.get(), clients.callReads.get());
    final List<Box> boxes = boxes();
    final MovingWatch watch =
        new MovingWatch(
            clients.calls.spatial("vehicles", Codec.string(), Codec.int64()),
            FRAME,
            new Random(seed));
    watch.run(boxes);
    say(
        "a watch of a box that moved %d times: %s, %d mismatches",
        boxes.size(), watch.told(), watch.mismatches());
    draw(points, borders, boxes, watch);
    final long mismatches = points.mismatches() + borders.mismatches() + watch.mismatches();
    say(
        "RESULT cities=%d borders=%d answers=%d found=%d mismatches=%d crossings=%d"
            + " rpc_search_p50_us=%.1f direct_search_p50_us=%.1f rpc_nearest_p50_us=%.1f"
            + " direct_nearest_p50_us=%.1f direct=%d calls=%d",
        points.size(),
        borders.size(),
        points.answers() + borders.answers(),
        points.found() + borders.found(),
        mismatches,
        watch.told().values().stream().mapToInt(Integer::intValue).sum(),
        points.way(Access.RPC).searchUs(),
        points.way(Access.DIRECT).searchUs(),
        points.way(Access.RPC).nearestUs(),
        points.way(Access.DIRECT).nearestUs(),
        clients.directReads.get(),
        clients.callReads.get());
    return mismatches == 0
        && watch.told().size() == IndexChange.Crossing.values().length
        && clients.directReads.get() > clients.callReads.get();
  }

  private void load(MapLayer<Long> points, MapLayer<ByteString> borders) {
    final Map<String, Located<Long>> located = new HashMap<>();
    for (int i = 0; i < cities.size(); i++) {
      final City city = cities.get(i);
      located.put(
          city.name() + ", " + city.country() + " " + i,
          new Located<>(Box.of(city.longitude(), city.latitude()), city.population()));
    }
    final Map<String, Located<ByteString>> drawn = new HashMap<>();
    for (int i = 0; i < arcs.size(); i++) {
      drawn.put("arc " + i, new Located<>(arcs.get(i).box(), arcs.get(i).value()));
    }
    final long beginNs = System.nanoTime();
    points.load(located);
    borders.load(drawn);
    final double seconds = (System.nanoTime() - beginNs) / 1e9;
    say(
        "loaded %,d cities and %,d arcs of borders in %.1f s: %,.0f a second",
        points.size(), borders.size(), seconds, (points.size() + borders.size()) / seconds);
  }

  private <V> void ask(String name, MapLayer<V> layer) {
    layer.ask(Math.max(1, places / 10), new Random(~seed)); // warms up
    layer.ask(places, new Random(seed));
    for (final Access access : List.of(Access.RPC, Access.DIRECT)) {
      say(
          "  %-8s %-7s %,10d %10.1f %10.1f",
          name,
          access == Access.RPC ? "calls" : "direct",
          layer.answers(),
          layer.way(access).searchUs(),
          layer.way(access).nearestUs());
    }
    say(
        "  %-8s %,d entries in the answers, %d mismatches",
        name, layer.found(), layer.mismatches());
  }

  /** The places of the watched box, from the south-east to the north-west. */
  private static List<Box> boxes() {
    final List<Box> boxes = new ArrayList<>();
    for (int i = 0; i < STEPS; i++) {
      final double way = (i + 0.5) / STEPS;
      boxes.add(
          Box.around(
              new Point(
                  FRAME.maxX() - way * (FRAME.maxX() - FRAME.minX()),
                  FRAME.minY() + way * (FRAME.maxY() - FRAME.minY())),
              WATCHED));
    }
    return boxes;
  }

  private void draw(
      MapLayer<Long> points, MapLayer<ByteString> borders, List<Box> boxes, MovingWatch watch)
      throws IOException {
    final MapPicture map = new MapPicture(FRAME);
    borders.index().intersecting(FRAME).forEach(map::arc);
    points.index().intersecting(FRAME).forEach(map::city);
    map.nearest(
        DRAWN_FROM, points.index().nearestOnEarth(DRAWN_FROM, DRAWN_NEAREST, Double.MAX_VALUE));
    boxes.forEach(box -> map.box(box, "#ccbb44"));
    watch.places().values().forEach(map::vehicle);
    Files.writeString(picture, map.toString());
    say("map: %s", picture.toAbsolutePath());
  }

  @FormatMethod
  private void say(String format, Object... arguments) {
    out.printf(Locale.ROOT, format + "%n", arguments);
    out.flush();
  }
}
