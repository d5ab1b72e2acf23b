package dev.ringfetch.benchmarks.stores;

import dev.ringfetch.benchmarks.locks.LockKind;
import dev.ringfetch.examples.load.AllocatedBytes;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.CommandLoop;
import dev.ringfetch.examples.process.Rings;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.index.IndexServer;
import dev.ringfetch.index.service.DirectAccessService;
import dev.ringfetch.index.service.IndexMemory;
import dev.ringfetch.index.service.IndexMemoryContext;
import dev.ringfetch.index.service.Indexes;
import dev.ringfetch.memory.OwnerLock;
import dev.ringfetch.memory.Regions;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.Server;
import io.grpc.protobuf.services.HealthStatusManager;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * A server process of indexes as {@link IndexServer} serves them, with handlers on the threads of
 * the transport; of {@link Echo} beside them over the same rings, and of one lock in memory.
 */
@Command(name = "index-process")
public final class IndexProcess implements Callable<Integer> {
  private static final int END_SECONDS = 10;

  @Option(names = "--memory", required = true, description = "Limit of index memory in bytes.")
  private long memory;

  @Option(names = "--memory-fabric", description = "Over which clients read it themselves.")
  private String memoryFabric = "shm";

  @Option(names = "--partitions", description = "Of an index that is created.")
  private int partitions = 16;

  @Mixin private Rings rings;

  /** Runs the process. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new IndexProcess()).execute(args));
  }

  @Override
  public Integer call() throws Exception {
    final FabricContext context = new FabricContext();
    rings.apply(context);
    final IndexMemoryContext memoryContext =
        new IndexMemoryContext().fabrics(memoryFabric).budget(memory).partitions(partitions);
    rings.apply(memoryContext::shmDirectory);
    try (Indexes indexes = new Indexes(IndexMemory.shared(memoryContext))) {
      final RingServerBuilder builder = RingServerBuilder.forPort(0);
      rings.apply(builder);
      builder.directExecutor();
      IndexServer.addServices(builder, indexes, new HealthStatusManager());
      DirectAccessService.addTo(builder, indexes, DirectAccessService.Mode.UNLESS_INTERCEPTED);
      builder.addService(Echo.service());
      final Regions regions = Regions.on(builder);
      final OwnerLock unused = regions.lock(LockKind.NAME);
      final Server server = builder.build().start();
      new CommandLoop()
          .on("port", arguments -> new Answer().with("port", server.getPort()))
          .on("allocated", arguments -> AllocatedBytes.answer())
          .on(
              "steps",
              arguments ->
                  GrowthSteps.run(
                      context, Long.parseLong(arguments.get(0)), Long.parseLong(arguments.get(1))))
          .run();
      regions.close();
      if (!server.shutdown().awaitTermination(END_SECONDS, TimeUnit.SECONDS)) {
        server.shutdownNow();
      }
    }
    return CommandLine.ExitCode.OK;
  }
}
