package dev.ringfetch.examples.memory;

import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.CommandLoop;
import dev.ringfetch.examples.process.Rings;
import dev.ringfetch.memory.Broadcast;
import dev.ringfetch.memory.Counter;
import dev.ringfetch.memory.OwnedValue;
import dev.ringfetch.memory.Regions;
import dev.ringfetch.memory.RegionsContext;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The process that publishes: it owns quotes, trades, a counter of orders and a lock. */
@Command(name = "publisher")
final class PublisherProcess implements Callable<Integer> {
  static final int INSTRUMENTS = 8;
  static final int TRADES_LENGTH = 1 << 20;
  private static final int END_SECONDS = 10;
  private static final int BURST = 10; // quotes between two looks at the clock

  @Mixin private Rings rings;

  private final List<OwnedValue<Quote>> quotes = new ArrayList<>();
  private Broadcast<Trade> trades;
  private Counter orders;
  private long quoteCount;
  private long tradeCount;

  /** Runs the process. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new PublisherProcess()).execute(args));
  }

  /** Name of an instrument's quote. */
  static String name(int instrument) {
    return "quote-" + instrument;
  }

  @Override
  public Integer call() throws Exception {
    final RingServerBuilder builder = RingServerBuilder.forPort(0);
    rings.apply(builder);
    final RegionsContext context = new RegionsContext();
    rings.apply(context::shmDirectory);
    if (rings.fabric() != null) {
      context.fabrics(rings.fabric());
    }
    final RingServer server;
    try (Regions regions = Regions.on(builder, context)) {
      for (int i = 0; i < INSTRUMENTS; i++) {
        quotes.add(regions.value(name(i), Quote.CODEC, Quote.LENGTH));
      }
      trades = regions.broadcast("trades", Trade.CODEC, TRADES_LENGTH);
      orders = regions.counter("orders");
      regions.lock("desk");
      server = builder.build().start();
      System.out.println(server.getPort());
      new CommandLoop()
          .on("publish", this::publish)
          .on("orders", arguments -> new Answer().with("orders", orders.get()))
          .run();
    }
    server.shutdown().awaitTermination(END_SECONDS, TimeUnit.SECONDS);
    return CommandLine.ExitCode.OK;
  }

  /** Publishes so many quotes, and a trade for each, over so many milliseconds. */
  private Answer publish(List<String> arguments) {
    final long count = Long.parseLong(arguments.get(0));
    final long lengthNs = TimeUnit.MILLISECONDS.toNanos(Long.parseLong(arguments.get(1)));
    final long startNs = System.nanoTime();
    long busyNs = 0;
    for (long i = 0; i < count; i += BURST) {
      final long dueNs = startNs + (long) ((double) lengthNs * i / count);
      long nowNs;
      while ((nowNs = System.nanoTime()) - dueNs < 0) {
        LockSupport.parkNanos(dueNs - nowNs);
      }
      for (long j = i; j < Math.min(count, i + BURST); j++) {
        publish();
      }
      busyNs += System.nanoTime() - nowNs;
    }
    return new Answer().with("quotes", quoteCount).with("trades", tradeCount).with("ns", busyNs);
  }

  private void publish() {
    final int instrument = (int) (quoteCount % INSTRUMENTS);
    final long number = quoteCount / INSTRUMENTS + 1;
    quotes.get(instrument).set(Quote.of(instrument, number, System.nanoTime()));
    quoteCount++;
    trades.publish(Trade.of(++tradeCount, INSTRUMENTS));
  }
}
