package dev.ringfetch.index.client;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/** The shares of an index's reads that go directly, by kind. Safe for use by many threads. */
final class RouteShares {
  private final Map<ReadKind, RouteShare> shares = new EnumMap<>(ReadKind.class);

  RouteShares(String index, ClientMetrics metrics) {
    for (final ReadKind kind : ReadKind.values()) {
      shares.put(
          kind,
          new RouteShare(
              System::nanoTime,
              bound -> ThreadLocalRandom.current().nextInt(bound),
              (eighths, probes) ->
                  metrics.onShare(index, kind, (double) eighths / RouteShare.ALL, probes)));
    }
  }

  RouteShare of(ReadKind kind) {
    return shares.get(kind);
  }
}
