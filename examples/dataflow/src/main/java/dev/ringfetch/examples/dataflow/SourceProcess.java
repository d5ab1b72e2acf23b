package dev.ringfetch.examples.dataflow;

import dev.ringfetch.examples.load.Side;
import dev.ringfetch.examples.process.CommandLoop;
import dev.ringfetch.examples.process.Rings;
import io.grpc.Server;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The process of a source: has the tables in batches, and streams them in both forms. */
@Command(name = "source")
final class SourceProcess implements Callable<Integer> {
  private final Map<String, List<ByteBuffer>> blocks = new ConcurrentHashMap<>();
  private final Map<String, Table> tables = new HashMap<>();

  @Option(names = "--transport", required = true, description = "${COMPLETION-CANDIDATES}.")
  private Side side;

  @Option(names = "--cities", description = "File with cities. Default: made up.")
  private Path cities;

  @Mixin private Rings rings;

  /** Runs the process. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new SourceProcess()).execute(args));
  }

  /** Reads the tables, by their names. */
  static Map<String, Table> tables(Path cities) throws IOException {
    return Map.of(Classes.NAME, Classes.read(), Cities.NAME, Cities.read(cities));
  }

  @Override
  public Integer call() throws IOException {
    tables.putAll(tables(cities));
    final BufferAllocator allocator = new RootAllocator(); // of batches that live as long as this
    final Server server =
        side.serverBuilder(rings)
            .addService(BatchStream.service(this::blocks))
            .addService(new FlightSource(allocator, tables).service())
            .build()
            .start();
    System.out.println(server.getPort());
    new CommandLoop().run();
    server.shutdownNow();
    return CommandLine.ExitCode.OK;
  }

  private List<ByteBuffer> blocks(Request request) {
    final Table table = tables.get(request.table());
    return blocks.computeIfAbsent(
        request.table() + " " + request.batchBytes(),
        key ->
            table.batches(request.batchBytes()).stream()
                .map(range -> ColumnBatch.encode(table, range))
                .toList());
  }
}
