package dev.ringfetch.benchmarks;

import dev.ringfetch.benchmarks.stores.StoreKind;
import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.load.Machine;
import dev.ringfetch.examples.load.Spread;
import dev.ringfetch.examples.load.Turns;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.ChildProcess;
import dev.ringfetch.examples.process.Rings;
import dev.ringfetch.index.v1.DescribeServerRequest;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.SnapshotRequest;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * A benchmark of what is kept on a disk: durable puts beside the disk alone and beside Redis, the
 * cost of levels, numbers and deadlines, snapshots beside writers, and the start of killed servers.
 */
@Command(
    name = "journal",
    modelTransformer = RunOptions.Adding.class,
    mixinStandardHelpOptions = true,
    description = {
      "Measures an index that is kept on a disk, of entries with 16-byte keys and 32-byte values:",
      "durable puts by 1, 16 and 64 threads, beside writes of a sector and fdatasync, RocksDB in",
      "process, and Redis (appendfsync always) and etcd where they are installed; puts of the level",
      "interval, with numbers, with a time-to-live and beside snapshots; journal bytes; and the time",
      "from the start of a killed server's successor to its first answer. Sides take turns within",
      "each row. About 9 minutes."
    },
    footer = "The last lines are for scripts. A goal that is not reached does not fail the run.")
final class JournalBench implements Callable<Integer> {
  private static final List<String> FLAGS = List.of();
  private static final long SEED = 20_261_127;
  private static final int PAYLOAD = 48;
  private static final int DURABLE_ENTRIES = 10_000;

  /** The rows, in the order in which they are measured. */
  enum Row {
    durable,
    interval,
    numbered,
    expiring,
    snapshot,
    start
  }

  private final PrintStream out = System.out;
  private final List<String> results = new ArrayList<>();
  private Path folder;

  @Mixin
  private final RunOptions options =
      new RunOptions()
          .withQuick("Under 3 minutes: fewer entries, fewer and shorter rounds.")
          .withRounds(5, 3)
          .withMillis(1500, 400)
          .withWarmUp("Milliseconds before the first round of each side. Default: %s.", 4000, 1000);

  @Option(names = "--entries", description = "Of each index. Default: 1000000, 100000 if quick.")
  private Integer entries;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description = "Folder on the disk that is measured. Default: where temporary files are.")
  private Path data = Path.of(System.getProperty("java.io.tmpdir"));

  @Option(names = "--rows", split = ",", description = "Of ${COMPLETION-CANDIDATES}. Default: all.")
  private List<Row> rows = List.of(Row.values());

  @Option(names = "--writers", split = ",", description = "Of durable puts. Default: 1,16,64.")
  private List<Integer> writers = List.of(1, 16, 64);

  @Mixin private Rings rings;

  @Override
  public Integer call() throws IOException {
    Machine.print(out);
    folder = Files.createTempDirectory(data, "ringfetch-bench-journal-");
    try {
      out.printf(
          "data %s, %d entries, %d rounds of %d ms by turns, median [least .. most]%n",
          folder, entries(), options.rounds(), options.millis());
      for (final Row row : rows) {
        out.printf("%n%s%n", row);
        switch (row) {
          case durable -> durable();
          case interval -> interval();
          case numbered -> compare(row, StoreKind.numberedStub);
          case expiring -> compare(row, StoreKind.expiringStub);
          case snapshot -> snapshot();
          case start -> start();
        }
      }
    } finally {
      delete(folder);
    }
    out.println();
    results.forEach(out::println);
    return CommandLine.ExitCode.OK;
  }

  private int entries() {
    return options.or(entries, 1_000_000, 100_000);
  }

  private long seed() {
    return Long.getLong("ringfetch.seed", SEED);
  }

  /** A side of a row: a round of it. */
  @FunctionalInterface
  private interface Side {
    Figures round(long millis);
  }

  private static Side side(ChildProcess client, String mix, int threads) {
    return millis -> {
      final Answer answer = client.ask("run", mix, threads, true, millis);
      if (answer.count("wrong") != 0) {
        throw new IllegalStateException("wrong answers: " + answer.count("wrong"));
      }
      return Figures.parse(answer);
    };
  }

  /** Has sides take turns, and prints the figures of each; those of a round stand side by side. */
  private Map<String, List<Figures>> take(String row, Map<String, Side> sides) {
    sides.values().forEach(side -> side.round(options.warmUp()));
    final Map<String, List<Figures>> taken =
        Turns.take(
            sides.keySet(),
            options.rounds(),
            (name, round) -> sides.get(name).round(options.millis()));
    taken.forEach(
        (name, rounds) -> {
          final Spread p50 = Spread.of(rounds, Figures::p50Us);
          final Spread p99 = Spread.of(rounds, Figures::p99Us);
          final Spread rate = Spread.of(rounds, Figures::perSecond);
          out.printf(
              "  %-16s p50 us %s  p99 us %s  per s %s%n",
              name, p50.text(1), p99.text(1), rate.text(0));
          result(
              "row=%s side=%s p50_us=%.1f p99_us=%.1f per_s=%.0f",
              row, name, p50.median(), p99.median(), rate.median());
        });
    return taken;
  }

  private void ratio(
      String row, String figure, Map<String, List<Figures>> taken, String side, String by) {
    final boolean isP99 = figure.equals("p99");
    final Spread ratio =
        Spread.ofRatios(taken.get(side), taken.get(by), isP99 ? Figures::p99Us : Figures::p50Us);
    out.printf("  %s of %s by %s: %s%n", figure, side, by, ratio.text(2));
    result(
        "row=%s ratio=%s side=%s by=%s median=%.2f least=%.2f most=%.2f",
        row, figure, side, by, ratio.median(), ratio.least(), ratio.most());
  }

  private void result(String format, Object... arguments) {
    results.add("RESULT " + String.format(Locale.ROOT, format, arguments));
  }

  private void durable() throws IOException {
    try (JournalServer server = server("durable", "disk");
        ChildProcess client = loaded(server, StoreKind.stub, DURABLE_ENTRIES);
        SyncFloor floor = new SyncFloor(folder.resolve("floor"));
        DurablePeers peers = DurablePeers.start(folder, DURABLE_ENTRIES, seed(), out)) {
      for (final int count : writers) {
        final Map<String, Side> sides = new LinkedHashMap<>();
        if (count == 1) {
          sides.put("fdatasync", floor::run);
        }
        sides.put("ringfetch", side(client, "put", count));
        peers.clients().forEach((name, peer) -> sides.put(name, side(peer, "put", count)));
        out.printf(" writers %d%n", count);
        final String row = "durable-put-" + count;
        final Map<String, List<Figures>> taken = take(row, sides);
        for (final String by : sides.keySet()) {
          if (!by.equals("ringfetch")) {
            ratio(row, "p50", taken, "ringfetch", by);
          }
        }
      }
    }
  }

  private JournalServer server(String name, String durability) throws IOException {
    return JournalServer.start(folder.resolve(name), durability, rings, ServerClasses.plain());
  }

  private ChildProcess loaded(JournalServer server, StoreKind kind, int count) throws IOException {
    final ChildProcess client = server.client(kind, count, seed(), FLAGS);
    client.ask("load", 0, count);
    return client;
  }

  private void interval() throws IOException {
    try (JournalServer synced = server("interval", "interval");
        JournalServer volatileServer = server("memory", "memory");
        ChildProcess syncedClient = synced.client(StoreKind.stub, entries(), seed(), FLAGS);
        ChildProcess volatileClient = loaded(volatileServer, StoreKind.stub, entries())) {
      final long before = journalBytes(synced);
      syncedClient.ask("load", 0, entries());
      final double bytes = (double) (journalBytes(synced) - before) / entries();
      out.printf(
          "  journal bytes of an entry: %.1f, %.1f besides its payload%n", bytes, bytes - PAYLOAD);
      result("row=journal-bytes per_entry=%.1f besides_payload=%.1f", bytes, bytes - PAYLOAD);
      final Map<String, Side> sides = new LinkedHashMap<>();
      sides.put("interval", side(syncedClient, "put", 1));
      sides.put("memory", side(volatileClient, "put", 1));
      ratio("interval-put", "p50", take("interval-put", sides), "interval", "memory");
    }
  }

  private static long journalBytes(JournalServer server) {
    final IndexAdminGrpc.IndexAdminBlockingStub admin =
        IndexAdminGrpc.newBlockingStub(server.channel());
    long bytes;
    long last = -1;
    do { // until all is synced
      bytes = last;
      last =
          admin.describeServer(DescribeServerRequest.getDefaultInstance()).getJournal().getBytes();
      pause(100);
    } while (bytes != last);
    return bytes;
  }

  private static void pause(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted");
    }
  }

  /** Puts and gets with something more than key and value, beside plain ones of one server. */
  private void compare(Row row, StoreKind kind) throws IOException {
    try (JournalServer server = server(row.name(), "interval");
        ChildProcess plain = loaded(server, StoreKind.stub, entries());
        ChildProcess other = server.client(kind, entries(), seed(), FLAGS)) {
      final Map<String, Side> puts = new LinkedHashMap<>();
      puts.put("plain", side(plain, "put", 1));
      puts.put(row.name(), side(other, "put", 1));
      ratio(row + "-put", "p50", take(row + "-put", puts), row.name(), "plain");
      final Map<String, Side> gets = new LinkedHashMap<>();
      gets.put("plain", side(plain, "get", 1));
      gets.put(row.name(), side(other, "get", 1));
      ratio(row + "-get", "p50", take(row + "-get", gets), row.name(), "plain");
    }
  }

  private void snapshot() throws IOException {
    try (JournalServer server = server("snapshot", "interval");
        ChildProcess client = loaded(server, StoreKind.stub, entries())) {
      final AtomicInteger snapshots = new AtomicInteger();
      final Side alone = side(client, "put", 1);
      final Map<String, Side> sides = new LinkedHashMap<>();
      sides.put("alone", alone);
      sides.put("beside-snapshots", millis -> besideSnapshots(server, snapshots, alone, millis));
      final Map<String, List<Figures>> taken = take("snapshot", sides);
      ratio("snapshot", "p99", taken, "beside-snapshots", "alone");
      ratio("snapshot", "p50", taken, "beside-snapshots", "alone");
      out.printf("  snapshots: %d%n", snapshots.get());
    }
  }

  /** Takes one snapshot after the other while a side has a round, and waits for the last one. */
  private static Figures besideSnapshots(
      JournalServer server, AtomicInteger snapshots, Side writer, long millis) {
    final AtomicBoolean ended = new AtomicBoolean();
    final IndexAdminGrpc.IndexAdminBlockingStub admin =
        IndexAdminGrpc.newBlockingStub(server.channel());
    final Thread taker =
        new Thread(
            () -> {
              while (!ended.get()) {
                admin.snapshot(SnapshotRequest.getDefaultInstance());
                snapshots.incrementAndGet();
              }
            },
            "bench-journal-snapshots");
    taker.start();
    try {
      return writer.round(millis);
    } finally {
      ended.set(true);
      while (taker.isAlive()) {
        pause(1);
      }
    }
  }

  private void start() throws IOException {
    final Map<String, Spread> starts =
        new JournalStart(
                Files.createDirectory(folder.resolve("start")),
                entries(),
                seed(),
                rings,
                FLAGS,
                options.rounds())
            .run();
    starts.forEach(
        (name, millis) -> {
          out.printf("  %-18s first answer after ms %s%n", name, millis.text(0));
          result(
              "row=start side=%s entries=%d first_get_ms=%.0f least=%.0f most=%.0f",
              name,
              name.equals("empty") ? 1 : entries(),
              millis.median(),
              millis.least(),
              millis.most());
        });
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (final Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }
}
