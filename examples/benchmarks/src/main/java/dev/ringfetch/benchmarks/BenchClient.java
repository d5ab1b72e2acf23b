package dev.ringfetch.benchmarks;

import dev.ringfetch.benchmarks.bulk.Company;
import dev.ringfetch.benchmarks.bulk.InPlaceUpload;
import dev.ringfetch.benchmarks.bulk.Neighbours;
import dev.ringfetch.benchmarks.bulk.StreamUpload;
import dev.ringfetch.benchmarks.bulk.UnaryUpload;
import dev.ringfetch.benchmarks.bulk.Upload;
import dev.ringfetch.examples.load.Connection;
import dev.ringfetch.examples.load.Lookup;
import dev.ringfetch.examples.load.Stopwatch;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.CommandLoop;
import dev.ringfetch.examples.verbs.WorkRequests;
import dev.ringfetch.index.service.IndexService;
import dev.ringfetch.index.service.Indexes;
import dev.ringfetch.rpc.RingChannel;
import io.grpc.Channel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A client process with one channel: makes and measures calls on command. */
@Command(name = "bench-client")
final class BenchClient implements Callable<Integer> {
  /** Bulk as the messages of one call. */
  static final String STREAM_UPLOAD = "stream";

  /** Bulk as the requests of calls one after the other. */
  static final String UNARY_UPLOAD = "unary";

  /** Name of {@link InPlaceUpload}. */
  static final String IN_PLACE_UPLOAD = "in-place";

  @Mixin private Connection connection;

  @Option(names = "--none", description = "No transport: handler and stub in one thread.")
  private boolean none;

  private final Stopwatch stopwatch = new Stopwatch();
  private NullChannel nothing;
  private StubCalls stubs;
  private Map<String, Upload> uploads;
  private Neighbours neighbours;

  /** Runs the process. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new BenchClient()).execute(args));
  }

  @Override
  public Integer call() throws Exception {
    nothing = none ? new NullChannel(new IndexService(new Indexes()).bindService()) : null;
    final Channel channel = none ? nothing : connection.channel();
    stubs = new StubCalls(channel);
    uploads = new HashMap<>();
    uploads.put(STREAM_UPLOAD, new StreamUpload(channel));
    uploads.put(UNARY_UPLOAD, new UnaryUpload(channel));
    if (channel instanceof RingChannel ring) {
      uploads.put(IN_PLACE_UPLOAD, new InPlaceUpload(ring));
    }
    neighbours = new Neighbours(channel);
    stubs
        .addTo(Allocation.addTo(new CommandLoop()))
        .on("connect", arguments -> connect())
        .on("calls", arguments -> calls(number(arguments, 0)))
        .on("small", arguments -> small(number(arguments, 0)))
        .on("threads", arguments -> threads(number(arguments, 0), number(arguments, 1)))
        .on("upload", arguments -> upload(arguments))
        .on("beside", arguments -> beside(arguments))
        .on("describe", arguments -> describe())
        .run();
    if (!none) {
      connection.close();
    }
    return CommandLine.ExitCode.OK;
  }

  private static int number(List<String> arguments, int index) {
    return Integer.parseInt(arguments.get(index));
  }

  private Answer connect() {
    stubs.connect();
    return describe();
  }

  private Answer describe() {
    return none
        ? new Answer().with("transport", "none").with("serverBytes", nothing.serverBytes())
        : connection.describe();
  }

  /** A given number of calls of the smallest size. */
  private Answer calls(int calls) {
    return stopwatch.run(stubs.lookup(StubCalls.SMALL), calls).answer();
  }

  /** Calls of the smallest size and nothing else for some time, with their work requests. */
  private Answer small(int millis) {
    return WorkRequests.with(
        () -> stopwatch.runFor(stubs.lookup(StubCalls.SMALL), millis).answer());
  }

  /** Bulk: how, length of a message, milliseconds. */
  private Answer upload(List<String> arguments) throws Exception {
    return uploads.get(arguments.get(0)).run(number(arguments, 1), number(arguments, 2)).answer();
  }

  /** Small calls: beside what, whether by the transport's thread, milliseconds. */
  private Answer beside(List<String> arguments) throws Exception {
    return neighbours.run(
        Company.valueOf(arguments.get(0)),
        Boolean.parseBoolean(arguments.get(1)),
        number(arguments, 2));
  }

  /** Calls of the smallest size by several threads at once, for some time. */
  private Answer threads(int threads, int millis) throws Exception {
    final Lookup lookup = stubs.lookup(StubCalls.SMALL);
    final ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      final List<Future<Double>> rates = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        rates.add(pool.submit(() -> new Stopwatch().runFor(lookup, millis).perSecond()));
      }
      double sum = 0;
      for (final Future<Double> rate : rates) {
        sum += rate.get();
      }
      return new Answer().with("perSecond", sum);
    } finally {
      pool.shutdown();
    }
  }
}
