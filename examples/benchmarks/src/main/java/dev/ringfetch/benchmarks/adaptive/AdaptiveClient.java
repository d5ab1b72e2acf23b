package dev.ringfetch.benchmarks.adaptive;

import dev.ringfetch.examples.load.Connection;
import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.load.Side;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.ChildProcess;
import dev.ringfetch.examples.process.CommandLoop;
import dev.ringfetch.examples.process.Rings;
import dev.ringfetch.index.client.Access;
import dev.ringfetch.index.client.Box;
import dev.ringfetch.index.client.Codec;
import dev.ringfetch.index.client.HashIndex;
import dev.ringfetch.index.client.IndexClient;
import dev.ringfetch.index.client.IndexClientBuilder;
import dev.ringfetch.index.client.Located;
import dev.ringfetch.index.client.OrderedIndex;
import dev.ringfetch.index.client.Range;
import dev.ringfetch.index.client.SpatialIndex;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.Histogram;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A client process that reads or writes indexes of all kinds with one route of reads. */
@Command(name = "adaptive-client")
public final class AdaptiveClient implements Callable<Integer> {
  private static final long LONGEST_NS = TimeUnit.SECONDS.toNanos(60);
  private static final Duration DEADLINE = Duration.ofSeconds(30);
  private static final int VALUE_LENGTH = 32;
  private static final int BATCH = 1_000;

  @Option(names = "--access", required = true)
  private Access access;

  @Option(names = "--entries", required = true)
  private int entries;

  @Option(names = "--memory-directory", description = "Of shared memory, if not the usual one.")
  private Path memoryDirectory;

  @Mixin private Connection connection;

  private final Histogram latencies = new Histogram(LONGEST_NS, 3);
  private final SplittableRandom random = new SplittableRandom();
  private final AtomicLong ends = new AtomicLong();
  private final AtomicLong directEnds = new AtomicLong();
  private HashIndex<Long, byte[]> hash;
  private OrderedIndex<Long, byte[]> ordered;
  private SpatialIndex<Long, byte[]> spatial;
  private long wrong;
  private volatile boolean writing;
  private Thread writer;
  private long writes;
  private long writesNs;

  /** Runs the process. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new AdaptiveClient()).execute(args));
  }

  /** Starts a client of a server. */
  public static ChildProcess start(
      Access access, int entries, String target, Rings rings, List<String> flags)
      throws IOException {
    final List<String> arguments =
        new ArrayList<>(Connection.arguments(target, Side.ring, true, rings));
    arguments.addAll(List.of("--access", access.name(), "--entries", Integer.toString(entries)));
    rings.apply(directory -> arguments.addAll(List.of("--memory-directory", directory.toString())));
    return ChildProcess.start(flags, AdaptiveClient.class, arguments);
  }

  @Override
  public Integer call() throws Exception {
    final IndexClientBuilder builder =
        IndexClient.builder()
            .channel(connection.channel())
            .deadline(DEADLINE)
            .metrics(
                (operation, index, route, code, durationNs) -> {
                  ends.incrementAndGet();
                  if (route == Access.DIRECT) {
                    directEnds.incrementAndGet();
                  }
                });
    if (memoryDirectory != null) {
      builder.shmDirectory(memoryDirectory);
    }
    try (IndexClient client = builder.build()) {
      hash = client.hash("hash", Codec.int64(), Codec.bytes()).access(access);
      ordered = client.ordered("ordered", Codec.int64(), Codec.bytes()).access(access);
      spatial = client.spatial("spatial", Codec.int64(), Codec.bytes()).access(access);
      new CommandLoop()
          .on("load", arguments -> load())
          .on("run", arguments -> run(row(arguments), Integer.parseInt(arguments.get(1))))
          .on("begin-writes", arguments -> beginWrites(row(arguments)))
          .on("end-writes", arguments -> endWrites())
          .run();
    }
    connection.close();
    return CommandLine.ExitCode.OK;
  }

  private static ReadRow row(List<String> arguments) {
    return ReadRow.valueOf(arguments.get(0));
  }

  private Answer load() {
    for (long first = 0; first < entries; first += BATCH) {
      final Map<Long, byte[]> values = new HashMap<>();
      final Map<Long, Located<byte[]>> places = new HashMap<>();
      for (long key = first; key < Math.min(entries, first + BATCH); key++) {
        values.put(key, new byte[VALUE_LENGTH]);
        places.put(key, new Located<>(place(), new byte[VALUE_LENGTH]));
      }
      hash.putAll(values);
      ordered.putAll(values);
      spatial.putAll(places);
    }
    return new Answer();
  }

  private Box place() {
    return Box.of(random.nextDouble(), random.nextDouble());
  }

  private Answer run(ReadRow row, int millis) {
    latencies.reset();
    ends.set(0);
    directEnds.set(0);
    wrong = 0;
    final long endNs = TimeUnit.MILLISECONDS.toNanos(millis);
    final long startNs = System.nanoTime();
    long nowNs = startNs;
    while (nowNs - startNs < endNs) {
      wrong += read(row) ? 0 : 1;
      final long afterNs = System.nanoTime();
      latencies.recordValue(Math.min(afterNs - nowNs, LONGEST_NS));
      nowNs = afterNs;
    }
    return Figures.of(latencies, nowNs - startNs)
        .answer()
        .with("direct", (double) directEnds.get() / ends.get())
        .with("wrong", wrong);
  }

  /** Whether a read gave as many entries as are there; of a search whose entries move, some. */
  private boolean read(ReadRow row) {
    return switch (row.kind()) {
      case HASH -> hash.get((long) random.nextInt(entries)).isPresent();
      case ORDERED -> {
        final long first = random.nextInt(entries - row.entries());
        yield ordered.scan(Range.closedOpen(first, first + row.entries())).toList().size()
            == row.entries();
      }
      case SPATIAL -> {
        final double side = Math.sqrt((double) row.entries() / entries);
        final double x = random.nextDouble() * (1 - side);
        final double y = random.nextDouble() * (1 - side);
        yield !spatial.intersecting(new Box(x, y, x + side, y + side)).toList().isEmpty();
      }
      default -> throw new IllegalArgumentException("row=" + row);
    };
  }

  /** Writes entries that are there, one after the other; those of a spatial index move. */
  private Answer beginWrites(ReadRow row) {
    writing = true;
    writer =
        new Thread(
            () -> {
              final long startNs = System.nanoTime();
              writes = 0;
              while (writing) {
                write(row);
                writes++;
              }
              writesNs = System.nanoTime() - startNs;
            },
            "bench-adaptive-writes");
    writer.start();
    return new Answer();
  }

  private void write(ReadRow row) {
    final long key = random.nextInt(entries);
    final byte[] value = new byte[VALUE_LENGTH];
    switch (row.kind()) {
      case HASH -> hash.put(key, value);
      case ORDERED -> ordered.put(key, value);
      default -> spatial.put(key, place(), value);
    }
  }

  private Answer endWrites() throws InterruptedException {
    writing = false;
    writer.join();
    return new Answer().with("perSecond", writes * 1e9 / writesNs);
  }
}
