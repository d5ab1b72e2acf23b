package dev.ringfetch.benchmarks.near;

import com.google.protobuf.ByteString;
import dev.ringfetch.examples.load.Connection;
import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.load.Side;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.ChildProcess;
import dev.ringfetch.examples.process.CommandLoop;
import dev.ringfetch.examples.process.Rings;
import dev.ringfetch.index.client.Codec;
import dev.ringfetch.index.client.Field;
import dev.ringfetch.index.client.Filter;
import dev.ringfetch.index.client.HashIndex;
import dev.ringfetch.index.client.IndexClient;
import dev.ringfetch.index.client.IndexClientBuilder;
import dev.ringfetch.index.client.IndexEntry;
import dev.ringfetch.index.client.OrderedIndex;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * A client process that reads chains of a hash index, and one entry in 100 of an ordered one. Its
 * reads have all routes, so that they take turns in one JVM.
 */
@Command(name = "near-client")
public final class NearClient implements Callable<Integer> {
  private static final long LONGEST_NS = TimeUnit.SECONDS.toNanos(60);
  private static final Duration DEADLINE = Duration.ofSeconds(30);
  private static final int VALUE_LENGTH = 64;
  private static final int BATCH = 1_000;
  private static final int SELECTED = 100; // one entry of so many
  private static final Field<ByteString> NEXT = Field.value().bytes(0, Long.BYTES);
  private static final Filter WANTED = Field.value().int64(0).lessThan(1L);

  @Option(names = "--entries", required = true)
  private int entries;

  @Option(names = "--memory-directory", description = "Of shared memory, if not the usual one.")
  private Path memoryDirectory;

  @Mixin private Connection connection;

  private final Histogram latencies = new Histogram(LONGEST_NS, 3);
  private final SplittableRandom random = new SplittableRandom(41);
  private HashIndex<Long, ByteString> chains;
  private OrderedIndex<Long, ByteString> numbers;
  private long step; // from the key of a chain to the next one

  /** Runs the process. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new NearClient()).execute(args));
  }

  /** Starts a client of a server. */
  public static ChildProcess start(int entries, String target, Rings rings, List<String> flags)
      throws IOException {
    final List<String> arguments =
        new ArrayList<>(Connection.arguments(target, Side.ring, true, rings));
    arguments.addAll(List.of("--entries", Integer.toString(entries)));
    rings.apply(directory -> arguments.addAll(List.of("--memory-directory", directory.toString())));
    return ChildProcess.start(flags, NearClient.class, arguments);
  }

  @Override
  public Integer call() throws Exception {
    final IndexClientBuilder builder =
        IndexClient.builder().channel(connection.channel()).deadline(DEADLINE);
    if (memoryDirectory != null) {
      builder.shmDirectory(memoryDirectory);
    }
    step = entries / 3 | 1; // far in the table, and a ring of many entries
    try (IndexClient client = builder.build()) {
      chains = client.hash("chains", Codec.int64(), Codec.byteString());
      numbers = client.ordered("numbers", Codec.int64(), Codec.byteString());
      new CommandLoop()
          .on("load", arguments -> load())
          .on(
              "run",
              arguments ->
                  run(
                      NearRead.valueOf(arguments.get(0)),
                      Integer.parseInt(arguments.get(1)),
                      Integer.parseInt(arguments.get(2))))
          .run();
    }
    connection.close();
    return CommandLine.ExitCode.OK;
  }

  private long next(long key) {
    return (key + step) % entries;
  }

  private Answer load() {
    for (long first = 0; first < entries; first += BATCH) {
      final Map<Long, ByteString> links = new HashMap<>();
      final Map<Long, ByteString> values = new HashMap<>();
      for (long key = first; key < Math.min(entries, first + BATCH); key++) {
        links.put(key, value(Codec.int64().encode(next(key))));
        final ByteBuffer number = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        values.put(key, value(ByteString.copyFrom(number.putLong(key % SELECTED).flip())));
      }
      chains.putAll(links);
      numbers.putAll(values);
    }
    return new Answer();
  }

  private static ByteString value(ByteString head) {
    return head.concat(ByteString.copyFrom(new byte[VALUE_LENGTH - head.size()]));
  }

  /** Reads for a time; a chain of so many entries. */
  private Answer run(NearRead read, int hops, int millis) {
    latencies.reset();
    final HashIndex<Long, ByteString> ofChains = chains.access(read.access());
    final OrderedIndex<Long, ByteString> ofNumbers = numbers.access(read.access());
    long wrong = 0;
    final long endNs = TimeUnit.MILLISECONDS.toNanos(millis);
    final long startNs = System.nanoTime();
    long nowNs = startNs;
    while (nowNs - startNs < endNs) {
      wrong += isRight(read, ofChains, ofNumbers, hops) ? 0 : 1;
      final long afterNs = System.nanoTime();
      latencies.recordValue(Math.min(afterNs - nowNs, LONGEST_NS));
      nowNs = afterNs;
    }
    return Figures.of(latencies, nowNs - startNs).answer().with("wrong", wrong);
  }

  private boolean isRight(
      NearRead read,
      HashIndex<Long, ByteString> ofChains,
      OrderedIndex<Long, ByteString> ofNumbers,
      int hops) {
    return switch (read) {
      case chainByCall, chainDirectly -> {
        final long first = random.nextInt(entries);
        final List<IndexEntry<Long, ByteString>> found = ofChains.follow(first, NEXT, hops);
        yield found.size() == hops && found.get(hops - 1).key() == last(first, hops);
      }
      case chainByKernel -> {
        final long first = random.nextInt(entries);
        final ByteString argument =
            ByteString.copyFrom(new byte[] {(byte) hops}).concat(Codec.int64().encode(first));
        final ByteString behind = Codec.int64().encode(next(last(first, hops)));
        yield ofChains.runKernel(ChainKernel.NAME, argument).startsWith(behind);
      }
      case chainByGets -> {
        final long first = random.nextInt(entries);
        long key = first;
        for (int hop = 1; hop < hops; hop++) {
          key = Codec.int64().decode(ofChains.get(key).orElseThrow().substring(0, Long.BYTES));
        }
        yield ofChains.get(key).isPresent() && key == last(first, hops);
      }
      case filterByCall, filterDirectly ->
          ofNumbers.scan().where(WANTED).toList().size() == selected();
      case allByCall, allDirectly -> {
        long found = 0;
        for (final IndexEntry<Long, ByteString> entry : ofNumbers.scan()) {
          found += entry.value().byteAt(0) == 0 ? 1 : 0;
        }
        yield found == selected();
      }
    };
  }

  private long last(long first, int hops) {
    return (first + (hops - 1) * step) % entries;
  }

  private int selected() {
    return (entries + SELECTED - 1) / SELECTED;
  }
}
