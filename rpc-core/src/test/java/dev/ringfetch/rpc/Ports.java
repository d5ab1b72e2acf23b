package dev.ringfetch.rpc;

import java.io.IOException;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/** Ports for servers that end and come back. */
public final class Ports {
  private static final int FIRST = 10_000;
  private static final int LAST = 32_000;

  private Ports() {}

  /**
   * A free port that stays free while nobody listens: below those that the system gives to outgoing
   * connections, among them the client's own attempts to reach the server that is away.
   */
  public static int pick() throws IOException {
    while (true) {
      final int port = ThreadLocalRandom.current().nextInt(FIRST, LAST);
      try (ServerSocket probe = new ServerSocket(port)) {
        return probe.getLocalPort();
      } catch (IOException e) {
        if (!e.getMessage().contains("in use")) {
          throw e;
        }
      }
    }
  }
}
