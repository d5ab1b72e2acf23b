package dev.ringfetch.rpc;

import dev.ringfetch.counters.Counters;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricProvider;
import dev.ringfetch.fabric.Obstacle;
import dev.ringfetch.session.SessionContext;
import dev.ringfetch.session.handshake.PolledFabric;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;

/**
 * The opened fabrics of a channel or server, the best first, and the reasons why others cannot be
 * used.
 */
final class Fabrics implements AutoCloseable {
  private final Counters counters;
  private final List<PolledFabric> opened = new ArrayList<>();
  private final StringJoiner obstacles = new StringJoiner("; ");
  private boolean failed;

  /**
   * Opens every fabric that is selected and available.
   *
   * @param pollers how many for each.
   */
  Fabrics(
      FabricSelection selection,
      FabricContext fabricContext,
      SessionContext sessionContext,
      int pollers,
      String threadName) {
    counters = Counters.acquire(fabricContext.directory());
    sessionContext.counters(counters);
    try {
      final List<FabricProvider> selected = selection.select(obstacles);
      failed = obstacles.length() > 0;
      for (final FabricProvider provider : selected) {
        try {
          final String obstacle = provider.unavailability();
          if (obstacle != null) {
            obstacles.add(provider.name() + ": " + obstacle);
            failed |= selection.names() != null;
            continue;
          }
          opened.add(
              PolledFabric.open(provider, fabricContext, sessionContext, pollers, threadName));
        } catch (IOException | LinkageError e) { // the latter from a library that the fabric needs
          obstacles.add(provider.name() + ": " + Obstacle.of(e));
          failed = true;
        }
      }
    } catch (RuntimeException | Error e) { // also of a provider
      try {
        close();
      } catch (RuntimeException | Error suppressed) {
        e.addSuppressed(suppressed);
      }
      throw e;
    }
  }

  /** The counters of all users of these fabrics, as long as they are open. */
  Counters counters() {
    return counters;
  }

  /** The fabrics that can be used. */
  List<PolledFabric> opened() {
    return opened;
  }

  /** Why nothing, or not everything, can be used; empty when all can. */
  String obstacles() {
    return obstacles.toString();
  }

  /**
   * True when the {@linkplain #obstacles obstacles} are to be logged: a fabric that the user named,
   * or that this machine has, cannot be used, or none can.
   */
  boolean hasFailed() {
    return failed || opened.isEmpty();
  }

  /** Logs why a server does not serve every fabric, if it does not. */
  void logObstacles() {
    if (obstacles.length() > 0) {
      System.getLogger(RingServer.class.getName())
          .log(
              hasFailed() ? System.Logger.Level.INFO : System.Logger.Level.DEBUG,
              "not every fabric is served: {0}",
              obstacles());
    }
  }

  @Override
  public void close() {
    opened.forEach(PolledFabric::close);
    counters.release();
  }
}
