package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.load.Latencies;
import dev.ringfetch.examples.load.Lookup;
import dev.ringfetch.examples.load.OpenLoop;
import dev.ringfetch.examples.load.Stopwatch;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.CommandLoop;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexGrpc.IndexBlockingStub;
import dev.ringfetch.index.v1.IndexGrpc.IndexFutureStub;
import dev.ringfetch.index.v1.IndexGrpc.IndexStub;
import dev.ringfetch.rpc.RingChannel;
import io.grpc.Channel;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * Calls of Index.Get by the stubs of one channel, made and measured on the commands of a child
 * process.
 */
final class StubCalls {
  /** Length of a small answer's value, in bytes. */
  static final int SMALL = 32;

  private static final int CONNECT_SECONDS = 60;

  private final Stopwatch stopwatch = new Stopwatch();
  private final OpenLoop punctual = OpenLoop.punctual();
  private final OpenLoop sleeping = OpenLoop.sleeping();
  private final Latencies latencies = new Latencies();
  private final Map<Integer, Lookup> lookups = new HashMap<>();
  private final IndexBlockingStub stub;
  private final IndexFutureStub futureStub;
  private final IndexStub asyncStub;
  private final LeanCalls leanCalls; // null: only over rings

  StubCalls(Channel channel) {
    leanCalls = channel instanceof RingChannel ring ? new LeanCalls(ring) : null;
    stub = IndexGrpc.newBlockingStub(channel);
    futureStub = IndexGrpc.newFutureStub(channel);
    asyncStub = IndexGrpc.newStub(channel);
  }

  /**
   * Adds the commands of a child process: {@code round} (length, milliseconds), {@code due} and
   * {@code sleepy} (length, calls a second, milliseconds), {@code future}, {@code async}, {@code
   * pooled} and {@code lean} (length, calls in flight, milliseconds), and {@code latencies} of the
   * last of them.
   */
  CommandLoop addTo(CommandLoop loop) {
    return latencies
        .addTo(loop)
        .on("round", arguments -> round(number(arguments, 0), number(arguments, 1)))
        .on(
            "due",
            arguments ->
                due(punctual, number(arguments, 0), number(arguments, 1), number(arguments, 2)))
        .on(
            "sleepy",
            arguments ->
                due(sleeping, number(arguments, 0), number(arguments, 1), number(arguments, 2)))
        .on(
            "future",
            arguments -> future(number(arguments, 0), number(arguments, 1), number(arguments, 2)))
        .on(
            "async",
            arguments -> async(number(arguments, 0), number(arguments, 1), number(arguments, 2)))
        .on(
            "lean",
            arguments -> lean(number(arguments, 0), number(arguments, 1), number(arguments, 2)))
        .on(
            "pooled",
            arguments -> pooled(number(arguments, 0), number(arguments, 1), number(arguments, 2)));
  }

  private static int number(List<String> arguments, int index) {
    return Integer.parseInt(arguments.get(index));
  }

  /** The call for values of some length. */
  Lookup lookup(int length) {
    return lookups.computeIfAbsent(length, absent -> new Lookup(stub, length));
  }

  /** Makes the first calls, the answers of which are compared. */
  void connect() {
    new Lookup(stub.withDeadlineAfter(CONNECT_SECONDS, TimeUnit.SECONDS), SMALL).check();
    lookup(SMALL).check();
  }

  private Answer answer(Figures figures, Histogram took) {
    latencies.keep(took);
    return figures.answer();
  }

  /** Calls of some size for some time. */
  private Answer round(int length, int millis) {
    lookup(length).check();
    return answer(stopwatch.runFor(lookup(length), millis), stopwatch.latencies());
  }

  /** Calls at a rate, which block. */
  private Answer due(OpenLoop loop, int length, int rate, int millis) {
    lookup(length).check();
    return answer(loop.runFor(lookup(length), rate, millis), loop.latencies());
  }

  /** Calls by future stub. */
  private Answer future(int length, int inFlight, int millis) throws InterruptedException {
    final Lookup lookup = lookup(length);
    lookup.check();
    final FuturesInFlight<GetResponse> calls =
        new FuturesInFlight<>(() -> futureStub.get(lookup.request()), lookup::isExpected);
    return answer(calls.runFor(inFlight, millis), calls.latencies());
  }

  /** Calls by asynchronous stub whose callbacks come from one thread. */
  private Answer async(int length, int inFlight, int millis) throws Exception {
    final Lookup lookup = lookup(length);
    lookup.check();
    final CallsInFlight<GetResponse> calls =
        new CallsInFlight<>(
            observer -> asyncStub.get(lookup.request(), observer), lookup::isExpected);
    return answer(calls.runFor(inFlight, millis), calls.latencies());
  }

  /** Calls without a stub. */
  private Answer lean(int length, int inFlight, int millis) throws InterruptedException {
    final Lookup lookup = lookup(length);
    lookup.check();
    final Figures figures =
        inFlight == 1
            ? leanCalls.oneByOne(lookup, length, millis)
            : leanCalls.inFlight(lookup, length, inFlight, millis);
    return answer(figures, leanCalls.latencies());
  }

  /** Calls by asynchronous stub whose callbacks come from the threads of a pool. */
  private Answer pooled(int length, int inFlight, int millis) throws Exception {
    final Lookup lookup = lookup(length);
    lookup.check();
    final PooledCalls<GetResponse> calls =
        new PooledCalls<>(
            observer -> asyncStub.get(lookup.request(), observer), lookup::isExpected);
    return answer(calls.runFor(inFlight, millis), calls.latencies());
  }
}
