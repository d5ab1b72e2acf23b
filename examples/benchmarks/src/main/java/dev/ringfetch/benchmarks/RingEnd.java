package dev.ringfetch.benchmarks;

import dev.ringfetch.counters.Counters;
import dev.ringfetch.examples.process.Rings;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricProvider;
import dev.ringfetch.session.SessionContext;
import dev.ringfetch.session.handshake.PolledFabric;
import java.io.IOException;
import java.util.List;
import java.util.ServiceLoader;
import picocli.CommandLine.Mixin;

/**
 * The common part of both processes of a session by itself: a fabric, with one polling thread, and
 * counters that are published as those of channels and servers are.
 */
final class RingEnd implements AutoCloseable {
  @Mixin private final Rings rings = new Rings();

  private final SessionContext context = new SessionContext();
  private Counters counters; // null: not opened

  /** Starts the thread. */
  PolledFabric open(String threadName) throws IOException {
    final FabricContext ofFabric = new FabricContext();
    rings.apply(ofFabric);
    rings.apply(context);
    counters = Counters.acquire(ofFabric.directory());
    context.counters(counters);
    return PolledFabric.open(provider(), ofFabric, context, 1, threadName);
  }

  SessionContext context() {
    return context;
  }

  @Override
  public void close() {
    if (counters != null) {
      counters.release();
    }
  }

  private FabricProvider provider() {
    final List<FabricProvider> named =
        ServiceLoader.load(FabricProvider.class).stream()
            .map(ServiceLoader.Provider::get)
            .filter(provider -> rings.isOver(provider.name()))
            .toList();
    if (named.size() != 1) {
      throw new IllegalArgumentException("fabric=" + rings.fabric());
    }
    return named.get(0);
  }
}
