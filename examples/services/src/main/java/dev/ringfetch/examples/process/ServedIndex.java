package dev.ringfetch.examples.process;

import dev.ringfetch.index.IndexServer;
import java.io.IOException;
import java.io.UncheckedIOException;

/** The index server as a child: it ends with its input, so that it outlives nobody's kill -9. */
final class ServedIndex {
  private ServedIndex() {}

  /** As {@link IndexServer#main}. */
  public static void main(String[] args) {
    final Thread watcher =
        new Thread(
            () -> {
              try {
                while (System.in.read() >= 0) {}
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
              System.exit(0);
            },
            "parent-watcher");
    watcher.setDaemon(true);
    watcher.start();
    IndexServer.main(args);
  }
}
