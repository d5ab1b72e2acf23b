package dev.ringfetch.benchmarks.stores;

import dev.ringfetch.examples.load.Connection;
import dev.ringfetch.examples.load.Side;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.ChildProcess;
import dev.ringfetch.examples.process.CommandLoop;
import dev.ringfetch.examples.process.Rings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A client process with one store: reads and writes it on command, and measures that. */
@Command(name = "store-client")
public final class StoreClient implements Callable<Integer> {
  /** Name of an index of nodes. */
  public static final String INDEX = "bench";

  private static final String NO_TARGET = "localhost:1"; // of stores without a channel

  @Option(names = "--store", required = true)
  private StoreKind kind;

  @Option(names = "--entries", required = true)
  private int entries;

  @Option(names = "--seed", required = true)
  private long seed;

  @Option(names = "--path", description = "Of the store's file or socket, if it has one.")
  private Path path;

  @Option(names = "--memory-directory", description = "Of shared memory, if not the usual one.")
  private Path memoryDirectory;

  @Mixin private Connection connection;

  /** Runs the process. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new StoreClient()).execute(args));
  }

  /** The key of an entry. */
  public static byte[] key(long number) {
    final byte[] key = new byte[Entries.KEY_LENGTH];
    Entries.putKey(number, key);
    return key;
  }

  /** A value of an entry. */
  static byte[] value(long number, long stamp) {
    final byte[] value = new byte[Entries.VALUE_LENGTH];
    Entries.putValue(number, stamp, value);
    return value;
  }

  /** Starts a client of a server that channels lead to. */
  public static ChildProcess start(
      StoreKind kind,
      int entries,
      long seed,
      String target,
      Side side,
      Rings rings,
      List<String> flags)
      throws IOException {
    final List<String> arguments = arguments(kind, entries, seed, target, side, rings);
    rings.apply(directory -> arguments.addAll(List.of("--memory-directory", directory.toString())));
    return start(kind, flags, arguments);
  }

  /**
   * Starts a client of a store that is reached over the network of its own accord.
   *
   * @param target addresses of its members, with commas between
   */
  public static ChildProcess start(
      StoreKind kind, int entries, long seed, String target, List<String> flags)
      throws IOException {
    return start(kind, entries, seed, target, Side.grpc, new Rings(), flags);
  }

  /** Starts a client of a file or a socket. */
  public static ChildProcess start(
      StoreKind kind, int entries, long seed, Path path, List<String> flags) throws IOException {
    final List<String> arguments =
        arguments(kind, entries, seed, NO_TARGET, Side.grpc, new Rings());
    arguments.addAll(List.of("--path", path.toString()));
    return start(kind, flags, arguments);
  }

  private static ChildProcess start(StoreKind kind, List<String> flags, List<String> arguments)
      throws IOException {
    final List<String> all = new ArrayList<>(flags);
    all.addAll(kind.flags());
    return ChildProcess.start(all, StoreClient.class, arguments);
  }

  private static List<String> arguments(
      StoreKind kind, int entries, long seed, String target, Side side, Rings rings) {
    final List<String> arguments = new ArrayList<>(Connection.arguments(target, side, true, rings));
    arguments.addAll(
        List.of("--store", kind.name(), "--entries", "" + entries, "--seed", Long.toString(seed)));
    return arguments;
  }

  @Override
  public Integer call() throws Exception {
    try (Store store = open();
        Crew crew = new Crew(store, entries, seed, kind.firstInsert())) {
      new CommandLoop()
          .on("clear", arguments -> clear(store))
          .on("load", arguments -> load(store, number(arguments, 0), number(arguments, 1)))
          .on("used", arguments -> new Answer().with("bytes", store.usedBytes()))
          .on(
              "run",
              arguments ->
                  crew.run(
                      Mix.valueOf(arguments.get(0)),
                      number(arguments, 1),
                      Boolean.parseBoolean(arguments.get(2)),
                      number(arguments, 3)))
          .on(
              "begin",
              arguments ->
                  crew.begin(
                      Mix.valueOf(arguments.get(0)), number(arguments, 1), number(arguments, 2)))
          .on("end", arguments -> crew.end())
          .on(
              "fail-over",
              arguments -> FailOver.measure(store, number(arguments, 0), number(arguments, 1)))
          .run();
    }
    connection.close();
    return CommandLine.ExitCode.OK;
  }

  private static int number(List<String> arguments, int index) {
    return Integer.parseInt(arguments.get(index));
  }

  private Store open() throws IOException {
    return switch (kind) {
      case stub -> StubStore.hash(connection.channel());
      case orderedStub -> StubStore.ordered(connection.channel());
      case numberedStub -> StubStore.numbered(connection.channel());
      case expiringStub -> StubStore.expiring(connection.channel());
      case echo -> new EchoStore(connection.channel());
      case direct -> DirectStore.hash(connection.channel(), memoryDirectory);
      case orderedDirect -> DirectStore.ordered(connection.channel(), memoryDirectory);
      case chronicle -> new ChronicleStore(path, entries);
      case lmdb -> new LmdbStore(path, entries);
      case redis -> new RedisStore(path);
      case redisSorted -> new SortedRedisStore(path);
      case memcached -> new MemcachedStore(path);
      case rocks -> new RocksStore(path);
      case etcd -> new EtcdStore(new EtcdEndpoints(connection.target()));
      case nodes -> new NodesStore(connection.target());
      case directNodes -> DirectStore.nodes(connection.target());
      case hazelcast -> new HazelcastStore(connection.target());
    };
  }

  private static Answer clear(Store store) {
    store.clear();
    return new Answer();
  }

  /** Writes the entries from one number to another, and reads some of them back. */
  private static Answer load(Store store, int first, int end) {
    try (Store.Session session = store.open()) {
      final long startNs = System.nanoTime();
      session.putAll(first, end);
      final double seconds = (System.nanoTime() - startNs) / 1e9;
      long wrong = 0;
      final int stride = Math.max(1, (end - first) / 1_000);
      for (int number = first; number < end; number += stride) {
        wrong += session.get(number) ? 0 : 1;
      }
      return new Answer()
          .with("calls", end - first)
          .with("wrong", wrong)
          .with("seconds", seconds)
          .with("perSecond", (end - first) / seconds);
    }
  }
}
