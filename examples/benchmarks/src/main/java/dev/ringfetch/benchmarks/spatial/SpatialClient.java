package dev.ringfetch.benchmarks.spatial;

import dev.ringfetch.examples.load.Connection;
import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.load.Side;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.ChildProcess;
import dev.ringfetch.examples.process.CommandLoop;
import dev.ringfetch.examples.process.Rings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A client process with one spatial store: loads, searches and moves on command. */
@Command(name = "spatial-client")
public final class SpatialClient implements Callable<Integer> {
  /** Stands for the nearest entries where a number of finds is expected. */
  public static final int NEAREST = 0;

  /** How many nearest entries. */
  public static final int NEAREST_LIMIT = 10;

  private static final String NO_TARGET = "localhost:1"; // of stores without a channel
  private static final long LONGEST_NS = TimeUnit.SECONDS.toNanos(60);
  private static final double ENOUGH = 3; // times the limit within the radius of a nearest

  @Option(names = "--store", required = true)
  private SpatialSide kind;

  @Option(names = "--shape", required = true)
  private Shape shape;

  @Option(names = "--entries", required = true)
  private int entries;

  @Option(names = "--seed", required = true)
  private long seed;

  @Option(names = "--path", description = "Of the server's socket, if it has one.")
  private Path path;

  @Option(names = "--memory-directory", description = "Of shared memory, if not the usual one.")
  private Path memoryDirectory;

  @Mixin private Connection connection;

  private final Histogram latencies = new Histogram(LONGEST_NS, 3);
  private Places places;
  private SplittableRandom random;
  private int found;
  private volatile boolean moving;
  private Thread mover;
  private long moves;
  private long movesNs;

  /** Runs the process. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new SpatialClient()).execute(args));
  }

  /**
   * Starts a client.
   *
   * @param target of the server of indexes, or null.
   * @param socket of another server, or null.
   */
  public static ChildProcess start(
      SpatialSide side,
      Shape shape,
      int entries,
      long seed,
      String target,
      Path socket,
      Rings rings,
      List<String> flags)
      throws IOException {
    final List<String> arguments =
        new ArrayList<>(
            target == null
                ? Connection.arguments(NO_TARGET, Side.grpc, true, new Rings())
                : Connection.arguments(target, Side.ring, true, rings));
    arguments.addAll(List.of("--store", side.name(), "--shape", shape.name()));
    arguments.addAll(List.of("--entries", "" + entries, "--seed", Long.toString(seed)));
    if (socket != null) {
      arguments.addAll(List.of("--path", socket.toString()));
    }
    rings.apply(directory -> arguments.addAll(List.of("--memory-directory", directory.toString())));
    return ChildProcess.start(flags, SpatialClient.class, arguments);
  }

  @Override
  public Integer call() throws Exception {
    places = new Places(shape, entries, seed);
    random = new SplittableRandom(seed + 1);
    try (SpatialStore store = open()) {
      new CommandLoop()
          .on("load", arguments -> load(store))
          .on("used", arguments -> new Answer().with("bytes", store.usedBytes()))
          .on("check", arguments -> check(store, number(arguments, 0), number(arguments, 1)))
          .on("run", arguments -> run(store, number(arguments, 0), number(arguments, 1)))
          .on("begin-moves", arguments -> beginMoves(store))
          .on("end-moves", arguments -> endMoves())
          .run();
    }
    connection.close();
    return CommandLine.ExitCode.OK;
  }

  private static int number(List<String> arguments, int index) {
    return Integer.parseInt(arguments.get(index));
  }

  private SpatialStore open() {
    return switch (kind) {
      case ringfetch -> IndexStore.calls(connection.channel(), shape);
      case direct -> IndexStore.direct(connection.channel(), shape, memoryDirectory);
      case strtree -> new StrTreeStore();
      case bkd -> new BkdStore(shape);
      case redis -> new GeoRedisStore(path);
    };
  }

  private Answer load(SpatialStore store) {
    final long startNs = System.nanoTime();
    store.load(places);
    return new Answer().with("perSecond", entries * 1e9 / (System.nanoTime() - startNs));
  }

  /** Searches for some time; a search of {@link #NEAREST} is one of the nearest. */
  private Answer run(SpatialStore store, int count, int millis) {
    latencies.reset();
    found = 0;
    final long endNs = TimeUnit.MILLISECONDS.toNanos(millis);
    final long startNs = System.nanoTime();
    long nowNs = startNs;
    while (nowNs - startNs < endNs) {
      if (count == NEAREST) {
        store.nearest(
            random.nextDouble(),
            random.nextDouble(),
            NEAREST_LIMIT,
            places.radius(ENOUGH * NEAREST_LIMIT),
            number -> found++);
      } else {
        store.search(places.search(random, count), number -> found++);
      }
      final long afterNs = System.nanoTime();
      latencies.recordValue(Math.min(afterNs - nowNs, LONGEST_NS));
      nowNs = afterNs;
    }
    if (!store.obstacle().isEmpty()) {
      throw new IllegalStateException(store.obstacle());
    }
    return Figures.of(latencies, nowNs - startNs)
        .answer()
        .with("found", (double) found / latencies.getTotalCount())
        .with("undecided", store instanceof IndexStore index ? index.undecided() : 0);
  }

  /** Compares some answers with a look at all entries; nothing may have moved yet. */
  private Answer check(SpatialStore store, int count, int searches) {
    final SplittableRandom drawn = new SplittableRandom(seed + 2); // the same for all sides
    long wrong = 0;
    long sum = 0;
    for (int i = 0; i < searches; i++) {
      final List<Integer> finds = new ArrayList<>();
      if (count == NEAREST) {
        final double x = drawn.nextDouble();
        final double y = drawn.nextDouble();
        final double radius = places.radius(ENOUGH * NEAREST_LIMIT);
        store.nearest(x, y, NEAREST_LIMIT, radius, finds::add);
        wrong += isNearest(x, y, finds, store.tolerance()) ? 0 : 1;
      } else {
        final Area area = places.search(drawn, count);
        store.search(area, finds::add);
        wrong += isFound(area, finds, store.tolerance()) ? 0 : 1;
      }
      sum += finds.size();
    }
    return new Answer().with("wrong", wrong).with("found", sum);
  }

  private boolean isFound(Area area, List<Integer> finds, double tolerance) {
    final boolean[] isFound = new boolean[entries];
    for (final int number : finds) {
      if (isFound[number]) {
        return false; // twice
      }
      isFound[number] = true;
    }
    final Area outer = area.grown(tolerance);
    final Area inner = area.grown(-tolerance);
    return IntStream.range(0, entries)
        .allMatch(
            number ->
                isFound[number]
                    ? places.area(number).intersects(outer)
                    : !places.area(number).intersects(inner));
  }

  private boolean isNearest(double x, double y, List<Integer> finds, double tolerance) {
    final double[] distances =
        IntStream.range(0, entries).mapToDouble(i -> places.area(i).distance(x, y)).toArray();
    final double[] given = finds.stream().mapToDouble(number -> distances[number]).toArray();
    Arrays.sort(distances);
    boolean right = finds.stream().distinct().count() == NEAREST_LIMIT;
    for (int i = 0; i < given.length && right; i++) {
      right = Math.abs(given[i] - distances[i]) <= tolerance;
    }
    return right;
  }

  private Answer beginMoves(SpatialStore store) {
    moving = true;
    mover =
        new Thread(
            () -> {
              final long startNs = System.nanoTime();
              moves = 0;
              while (moving) {
                store.move(random.nextInt(entries), places.draw(random));
                moves++;
              }
              movesNs = System.nanoTime() - startNs;
            },
            "bench-spatial-moves");
    mover.start();
    return new Answer();
  }

  private Answer endMoves() throws InterruptedException {
    moving = false;
    mover.join();
    return new Answer().with("perSecond", moves * 1e9 / movesNs);
  }
}
