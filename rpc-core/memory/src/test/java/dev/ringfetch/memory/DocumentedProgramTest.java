package dev.ringfetch.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.rpc.RingChannelBuilder;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The program with which docs/memory.md begins. */
@Timeout(60)
class DocumentedProgramTest {
  private static final Path PAGE = Path.of("../../docs/memory.md");
  private static final Path SOURCE =
      Path.of("src/test/java/dev/ringfetch/memory/DocumentedProgramTest.java");

  private record Quote(long bid, long ask) {}

  private record Trade(long price, long size) {}

  static final Codec<Quote> QUOTE =
      new Codec<>() {
        @Override
        public void encode(Quote quote, ByteBuffer buffer) {
          buffer.putLong(quote.bid()).putLong(quote.ask());
        }

        @Override
        public Quote decode(ByteBuffer buffer) {
          return new Quote(buffer.getLong(), buffer.getLong());
        }
      };

  static final Codec<Trade> TRADE =
      new Codec<>() {
        @Override
        public void encode(Trade trade, ByteBuffer buffer) {
          buffer.putLong(trade.price()).putLong(trade.size());
        }

        @Override
        public Trade decode(ByteBuffer buffer) {
          return new Trade(buffer.getLong(), buffer.getLong());
        }
      };

  private final List<Object> read = new ArrayList<>();

  @Test
  void programOfThePageRuns() throws Exception {
    Quote quote = new Quote(3, 4);
    Trade trade = new Trade(5, 6);
    int port = 0;
    RingServerBuilder builder = RingServerBuilder.forPort(port);
    Regions regions = Regions.on(builder);
    OwnedValue<Quote> ibm = regions.value("ibm", QUOTE, 256);
    Broadcast<Trade> trades = regions.broadcast("trades", TRADE, 1 << 20);
    Counter orders = regions.counter("orders");
    OwnerLock printer = regions.lock("printer");
    Server server = builder.build().start();
    ManagedChannel channel =
        RingChannelBuilder.forTarget("localhost:" + server.getPort()).usePlaintext().build();
    try {
      ibm.set(quote);
      trades.publish(trade);
      read(channel);
    } finally {
      regions.close();
      channel.shutdownNow();
      server.shutdownNow();
    }
    assertEquals(List.of(quote, 1L, true), read);
    assertEquals(1, orders.get());
    assertTrue(printer.toString().contains("printer"));
  }

  private void read(ManagedChannel channel) {
    try (Memory memory = Memory.connect(channel)) {
      RemoteValue<Quote> remote = memory.value("ibm", QUOTE);
      Versioned<Quote> now = remote.get();
      remote.awaitAfter(now.version(), Duration.ofSeconds(1));
      BroadcastReader<Trade> reader = memory.broadcast("trades", TRADE).fromLatest();
      reader.poll(trade -> {});
      long ticket = memory.counter("orders").increment();
      read.add(now.value());
      read.add(ticket);
      try (LockHold hold = memory.lock("printer").acquire(Duration.ofSeconds(1)).orElseThrow()) {
        print(hold.fence());
      }
    }
  }

  private void print(long fence) {
    read.add(fence > 0);
  }

  /** Each line of the page's code is one of this test's, but for numbers and what it stands for. */
  @Test
  void pageHasTheLinesOfTheProgram() throws Exception {
    String source = Files.readString(SOURCE).replaceAll("\\s+", "");
    int lines = 0;
    boolean isCode = false;
    for (String line : Files.readAllLines(PAGE)) {
      isCode = line.startsWith("```") ? line.equals("```java") : isCode;
      String code = line.replaceAll("//.*", "").replaceAll("\\s+", "");
      if (!isCode || line.startsWith("```") || code.length() < 3) {
        continue;
      }
      lines++;
      assertTrue(source.contains(code), line);
    }
    assertEquals(24, lines);
  }
}
