package dev.ringfetch.frameworks.quarkus;

import dev.ringfetch.frameworks.quarkus.proto.Article;
import dev.ringfetch.frameworks.quarkus.proto.StockGrpc;
import io.quarkus.grpc.GrpcClient;
import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.QuarkusApplication;
import io.quarkus.runtime.annotations.QuarkusMain;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * The application: serves, or with the argument {@code call} makes calls: each line of its input
 * has a number of threads and a time in milliseconds, and each line of its output the median and
 * the 99th percentile in microseconds, and the calls a second.
 */
@QuarkusMain
public class Main implements QuarkusApplication {
  private static final int CALLS_LIMIT = 1_000_000; // of a thread in a round
  private static final Article ARTICLE = Article.newBuilder().setName("a screw").build();

  @GrpcClient("stock")
  StockGrpc.StockBlockingStub stock;

  @Override
  public int run(String... arguments) throws Exception {
    if (arguments.length == 0) {
      Quarkus.waitForExit();
      return 0;
    }
    final BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      final String[] round = line.split(" ");
      System.out.println(round(Integer.parseInt(round[0]), Long.parseLong(round[1])));
    }
    return 0;
  }

  private String round(int threads, long millis) throws InterruptedException {
    final long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    final long[][] latencies = new long[threads][];
    final Thread[] callers =
        IntStream.range(0, threads)
            .mapToObj(i -> new Thread(() -> latencies[i] = call(endNs)))
            .toArray(Thread[]::new);
    for (final Thread caller : callers) {
      caller.start();
    }
    for (final Thread caller : callers) {
      caller.join();
    }
    final long[] sorted = Arrays.stream(latencies).flatMapToLong(LongStream::of).sorted().toArray();
    return String.format(
        Locale.ROOT,
        "%.1f %.1f %.0f",
        sorted[sorted.length / 2] / 1e3,
        sorted[(int) (sorted.length * 0.99)] / 1e3,
        sorted.length * 1e3 / millis);
  }

  /** Makes calls one after the other until a time; returns how long each took. */
  private long[] call(long endNs) {
    final long[] taken = new long[CALLS_LIMIT];
    int calls = 0;
    long nowNs = System.nanoTime();
    while (nowNs < endNs && calls < CALLS_LIMIT) {
      stock.find(ARTICLE);
      final long thenNs = System.nanoTime();
      taken[calls++] = thenNs - nowNs;
      nowNs = thenNs;
    }
    return Arrays.copyOf(taken, calls);
  }
}
