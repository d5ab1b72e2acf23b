package dev.ringfetch.examples.quickstart;

import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.CommandLoop;
import dev.ringfetch.examples.verbs.WorkRequests;
import dev.ringfetch.index.IndexServer;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * The index server as a child process: reports on command what its rings have posted. It ends with
 * its input, so that it outlives nobody's kill -9.
 */
final class ServedIndex {
  private ServedIndex() {}

  /** As {@link IndexServer#main}. */
  public static void main(String[] args) {
    final Thread parent = new Thread(ServedIndex::answer, "parent");
    parent.setDaemon(true);
    parent.start();
    IndexServer.main(args);
  }

  private static void answer() {
    try {
      new CommandLoop()
          .on("posted", arguments -> WorkRequests.ofServers().addTo(new Answer()))
          .run();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    System.exit(0);
  }
}
