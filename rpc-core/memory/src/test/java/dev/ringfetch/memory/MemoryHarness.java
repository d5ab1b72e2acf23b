package dev.ringfetch.memory;

import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.sim.SimContext;
import dev.ringfetch.fabric.sim.SimNetwork;
import dev.ringfetch.fabric.sim.Timeline;
import dev.ringfetch.rpc.RingChannelBuilder;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** An owner and its clients over one kind of connection. */
public abstract class MemoryHarness {
  static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(30);
  static final int LOCK_BUDGET = 4;

  private final List<AutoCloseable> opened = new ArrayList<>();
  Regions regions;

  /** Whether clients read memory without calls. */
  abstract boolean isDirect();

  abstract Regions regions(ServerBuilder<?> builder);

  abstract Memory connect(MemoryContext context) throws IOException;

  /** Starts the owner. */
  abstract void start() throws IOException;

  /** A client of the owner. */
  final Memory connect() throws IOException {
    final Memory memory = connect(new MemoryContext());
    if (isDirect() && !memory.awaitAttached(Duration.ofSeconds(30))) {
      throw new AssertionError("not attached: " + memory.obstacle());
    }
    return memory;
  }

  final <T extends AutoCloseable> T add(T resource) {
    opened.add(resource);
    return resource;
  }

  static void await(String what, BooleanSupplier condition) {
    final long startNs = System.nanoTime();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - startNs > DEADLINE_NS) {
        throw new AssertionError(what + " took too long");
      }
      LockSupport.parkNanos(50_000);
    }
  }

  /** Ends the clients and the owner. */
  final void end() throws Exception {
    for (int i = opened.size() - 1; i >= 0; i--) {
      opened.get(i).close();
    }
  }

  private static AutoCloseable closing(Server server) {
    return () -> {
      server.shutdownNow();
      server.awaitTermination();
    };
  }

  private static AutoCloseable closing(ManagedChannel channel) {
    return () -> {
      channel.shutdownNow();
      channel.awaitTermination(30, TimeUnit.SECONDS);
    };
  }

  /** Over a server with rings, and the fabrics that this process has. */
  public static MemoryHarness rings(Path directory, String... fabrics) {
    return new MemoryHarness() {
      private Server server;
      private ManagedChannel channel;

      @Override
      boolean isDirect() {
        return true;
      }

      @Override
      Regions regions(ServerBuilder<?> builder) {
        return Regions.on(
            builder,
            new RegionsContext().shmDirectory(directory).fabrics(fabrics).lockBudget(LOCK_BUDGET));
      }

      @Override
      void start() throws IOException {
        final RingServerBuilder builder = RingServerBuilder.forPort(0).shmDirectory(directory);
        regions = regions(builder);
        server = builder.build().start();
        add(closing(server));
        add(regions);
        channel =
            RingChannelBuilder.forTarget("localhost:" + server.getPort())
                .usePlaintext()
                .shmDirectory(directory)
                .build();
        add(closing(channel));
      }

      @Override
      Memory connect(MemoryContext context) {
        return add(Memory.connect(channel, context.shmDirectory(directory).fabrics(fabrics)));
      }
    };
  }

  /** Over gRPC alone, with memory over a simulated network, or none. */
  static MemoryHarness grpc(SimContext sim, long seed) {
    final SimNetwork network = sim == null ? null : new SimNetwork(new Timeline(seed), sim);
    return new MemoryHarness() {
      private String name;

      private List<Fabric> fabrics() {
        return network == null ? List.of() : List.of(network.open());
      }

      @Override
      boolean isDirect() {
        return sim != null;
      }

      @Override
      Regions regions(ServerBuilder<?> builder) {
        return Regions.on(builder, fabrics(), LOCK_BUDGET);
      }

      @Override
      void start() throws IOException {
        name = InProcessServerBuilder.generateName();
        final InProcessServerBuilder builder = InProcessServerBuilder.forName(name);
        regions = regions(builder);
        add(closing(builder.build().start()));
        add(regions);
      }

      @Override
      Memory connect(MemoryContext context) {
        final ManagedChannel channel = InProcessChannelBuilder.forName(name).build();
        add(closing(channel));
        return add(Memory.connect(channel, context, fabrics()));
      }
    };
  }
}
