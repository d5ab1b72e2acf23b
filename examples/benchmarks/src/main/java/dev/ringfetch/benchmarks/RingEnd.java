package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.process.Rings;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricProvider;
import dev.ringfetch.session.PolledFabric;
import dev.ringfetch.session.SessionContext;
import java.io.IOException;
import java.util.List;
import java.util.ServiceLoader;
import picocli.CommandLine.Mixin;

/** What both processes of a session by itself have: a fabric, with one polling thread. */
final class RingEnd {
  @Mixin private final Rings rings = new Rings();

  private final SessionContext context = new SessionContext();

  /** Starts the thread. */
  PolledFabric open(String threadName) throws IOException {
    final FabricContext ofFabric = new FabricContext();
    rings.apply(ofFabric);
    rings.apply(context);
    return PolledFabric.open(provider(), ofFabric, context, 1, threadName);
  }

  SessionContext context() {
    return context;
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
