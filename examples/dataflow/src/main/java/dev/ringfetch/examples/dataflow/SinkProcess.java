package dev.ringfetch.examples.dataflow;

import dev.ringfetch.examples.load.Side;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.CommandLoop;
import dev.ringfetch.examples.process.Rings;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingChannelBuilder;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.apache.arrow.flight.CallOptions;
import org.apache.arrow.flight.FlightClient;
import org.apache.arrow.flight.FlightGrpcUtils;
import org.apache.arrow.flight.FlightStream;
import org.apache.arrow.flight.Ticket;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The process of a sink: reads the source's tables batch by batch, and computes totals. */
@Command(name = "sink")
final class SinkProcess implements Callable<Integer> {
  private static final int MAX_MESSAGE_LENGTH = 64 * 1024 * 1024;
  private static final int END_SECONDS = 10;

  /** The tables that the source has, and the kinds of their columns. */
  private static final Map<String, List<Column.Kind>> TABLES =
      Map.of(Classes.NAME, Classes.KINDS, Cities.NAME, Cities.KINDS);

  @Option(names = "--target", required = true, description = "Host and port of the source.")
  private String target;

  @Option(names = "--way", required = true, description = "${COMPLETION-CANDIDATES}.")
  private Way way;

  @Mixin private Rings rings;

  private ManagedChannel channel;
  private FlightClient flight; // null where the way is another one

  /** Runs the process. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new SinkProcess()).execute(args));
  }

  @Override
  public Integer call() throws Exception {
    try (BufferAllocator allocator = new RootAllocator()) {
      channel = channel();
      if (way.isFlight) {
        flight = FlightGrpcUtils.createFlightClient(allocator, channel);
      }
      new CommandLoop().on("check", this::check).on("run", this::run).run();
      if (flight != null) {
        flight.close();
      }
      channel.shutdown().awaitTermination(END_SECONDS, TimeUnit.SECONDS);
    }
    return CommandLine.ExitCode.OK;
  }

  private ManagedChannel channel() {
    final ManagedChannelBuilder<?> builder;
    if (way.side == Side.ring) {
      final RingChannelBuilder ring = RingChannelBuilder.forTarget(target).usePlaintext();
      rings.apply(ring.requireFabric());
      builder = ring;
    } else {
      builder = Grpc.newChannelBuilder(target, InsecureChannelCredentials.create());
    }
    return builder.maxInboundMessageSize(MAX_MESSAGE_LENGTH).build();
  }

  /** Reads each table once, in batches of about the given length, texts included. */
  private Answer check(List<String> arguments) throws Exception {
    final Totals totals = new Totals(true);
    for (final String table : TABLES.keySet()) {
      read(new Request(table, Integer.parseInt(arguments.get(0)), 1), totals);
    }
    final Answer answer = totals.addTo(new Answer().with("passes", 1).with("checked", true));
    return channel instanceof RingChannel ring
        ? answer.with("ring", ring.ringCalls() > 0 && ring.grpcCalls() == 0)
        : answer.with("ring", false);
  }

  /** Reads all tables again and again for some milliseconds. */
  private Answer run(List<String> arguments) throws Exception {
    final int batchBytes = Integer.parseInt(arguments.get(0));
    final int passes = Integer.parseInt(arguments.get(1));
    final long limitNs = TimeUnit.MILLISECONDS.toNanos(Long.parseLong(arguments.get(2)));
    final Totals totals = new Totals(false);
    final long startNs = System.nanoTime();
    int made = 0;
    while (System.nanoTime() - startNs < limitNs) {
      for (final String table : TABLES.keySet()) {
        read(new Request(table, batchBytes, passes), totals);
      }
      made += passes;
    }
    return totals
        .addTo(new Answer().with("passes", made).with("checked", false))
        .with("ns", System.nanoTime() - startNs)
        .with("bytes", totals.bytes())
        .with("batches", totals.batches());
  }

  @SuppressWarnings("try") // to close a stream may be interrupted
  private void read(Request request, Totals totals) throws Exception {
    final List<Column.Kind> kinds = TABLES.get(request.table());
    if (flight == null) {
      BatchStream.read(channel, request, batch -> totals.add(batch, kinds));
      return;
    }
    final Ticket ticket = new Ticket(request.toString().getBytes(StandardCharsets.UTF_8));
    try (FlightStream stream =
        flight.getStream(
            ticket, CallOptions.timeout(BatchStream.LIMIT_MINUTES, TimeUnit.MINUTES))) {
      final Batch batch = new FlightBatch(stream.getRoot());
      while (stream.next()) {
        totals.add(batch, kinds);
      }
    }
  }
}
