package dev.ringfetch.examples.memory;

import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.CommandLoop;
import dev.ringfetch.examples.process.Rings;
import dev.ringfetch.memory.BroadcastHandler;
import dev.ringfetch.memory.BroadcastReader;
import dev.ringfetch.memory.LockHold;
import dev.ringfetch.memory.Memory;
import dev.ringfetch.memory.MemoryContext;
import dev.ringfetch.memory.RemoteValue;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingChannelBuilder;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A process that reads: it checks each quote and each trade that it sees. */
@Command(name = "reader")
final class ReaderProcess implements Callable<Integer> {
  private static final int END_SECONDS = 10;
  private static final int ORDER_INTERVAL = 10_000; // reads
  private static final Duration WAIT = Duration.ofSeconds(30);

  @Option(names = "--target", required = true, description = "Host and port of the publisher.")
  private String target;

  @Mixin private Rings rings;

  private final List<RemoteValue<Quote>> quotes = new ArrayList<>();
  private final long[] last = new long[PublisherProcess.INSTRUMENTS]; // numbers of quotes
  private Memory memory;
  private Thread thread;
  private volatile boolean over;

  // Of the reading thread; read by others after its end.
  private Throwable failure; // null if none
  private long reads;
  private long torn;
  private long back;
  private long before = -1; // trades before the first one that was received; -1: none was
  private long received;
  private long lost;
  private long orders;
  private long direct;

  /** Runs the process. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new ReaderProcess()).execute(args));
  }

  @Override
  public Integer call() throws Exception {
    final RingChannelBuilder builder = RingChannelBuilder.forTarget(target).usePlaintext();
    rings.apply(builder);
    final RingChannel channel = builder.build();
    final MemoryContext context = new MemoryContext();
    rings.apply(context::shmDirectory);
    if (rings.fabric() != null) {
      context.fabrics(rings.fabric());
    }
    try (Memory connected = Memory.connect(channel, context)) {
      memory = connected;
      memory.awaitAttached(WAIT);
      new CommandLoop()
          .on("read", this::read)
          .on("hold", this::hold)
          .on("acquire", this::acquire)
          .on("finish", this::finish)
          .run();
    }
    channel.shutdown().awaitTermination(END_SECONDS, TimeUnit.SECONDS);
    return CommandLine.ExitCode.OK;
  }

  /** Reads from now on. */
  private Answer read(List<String> arguments) {
    for (int i = 0; i < PublisherProcess.INSTRUMENTS; i++) {
      quotes.add(memory.value(PublisherProcess.name(i), Quote.CODEC));
    }
    final BroadcastReader<Trade> trades = memory.broadcast("trades", Trade.CODEC).fromLatest();
    thread = new Thread(() -> readAll(trades), "reader");
    thread.setDaemon(true);
    thread.start();
    return new Answer().with("obstacle", memory.obstacle().orElse("none").replace(' ', '_'));
  }

  private void readAll(BroadcastReader<Trade> trades) {
    final BroadcastHandler<Trade> handler =
        new BroadcastHandler<>() {
          @Override
          public void onMessage(Trade trade) {
            received++;
            before = before < 0 ? trade.number() - received - lost : before;
            final long expected = before + received + lost;
            if (!trade.equals(Trade.of(expected, PublisherProcess.INSTRUMENTS))) {
              torn++;
            }
          }

          @Override
          public void onLapped(long messages) {
            lost += messages;
          }
        };
    try {
      boolean isLast;
      do {
        isLast = over; // all was published before: this round sees the end of it
        for (int i = 0; i < PublisherProcess.INSTRUMENTS; i++) {
          check(i, quotes.get(i).get().value());
        }
        for (int polled = 1; polled > 0; ) {
          polled = trades.poll(handler);
        }
      } while (!isLast);
    } catch (RuntimeException e) {
      failure = e;
    }
    direct = trades.directReads();
    quotes.forEach(quote -> direct += quote.directReads());
  }

  private void check(int instrument, Quote quote) {
    if (quote == null) { // none yet
      return;
    }
    reads++;
    if (!quote.isWhole(instrument)) {
      torn++;
    }
    if (quote.number() < last[instrument]) {
      back++;
    }
    last[instrument] = quote.number();
    if (reads % ORDER_INTERVAL == 0) {
      order();
    }
  }

  /** Counts an order. That fails if the process is stopped for too long during the call. */
  private void order() {
    try {
      memory.counter("orders").increment();
      orders++;
    } catch (StatusRuntimeException e) {
      System.err.println("an order may not be counted: " + e.getStatus());
    }
  }

  /** Acquires the lock, and keeps it. */
  private Answer hold(List<String> arguments) {
    return new Answer().with("fence", memory.lock("desk").acquire(WAIT).orElseThrow().fence());
  }

  /** Acquires the lock, and releases it. */
  private Answer acquire(List<String> arguments) {
    try (LockHold hold = memory.lock("desk").acquire(WAIT).orElseThrow()) {
      return new Answer().with("fence", hold.fence());
    }
  }

  /** Reads to the end of what was published, and reports. */
  private Answer finish(List<String> arguments) throws InterruptedException {
    over = true;
    thread.join();
    if (failure != null) {
      throw new IllegalStateException(failure);
    }
    long quotesSeen = 0;
    for (final long number : last) {
      quotesSeen += number;
    }
    return new Answer()
        .with("reads", reads)
        .with("quotes", quotesSeen)
        .with("torn", torn)
        .with("back", back)
        .with("before", Math.max(before, 0))
        .with("trades", received)
        .with("lost", lost)
        .with("orders", orders)
        .with("direct", direct);
  }
}
