package dev.ringfetch.rpc;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** Passes one connection on, until it is cut. */
final class Relay implements AutoCloseable {
  private final ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
  private final Socket onward;

  /** A relay to a port of this host. */
  Relay(int port) throws IOException {
    onward = new Socket(InetAddress.getLoopbackAddress(), port);
    run(
        () -> {
          try (Socket client = listening.accept()) {
            run(() -> pass(onward, client));
            pass(client, onward);
          }
        });
  }

  /** Where clients reach it. */
  int port() {
    return listening.getLocalPort();
  }

  /** Until one of both is closed, which closes the other. */
  private static void pass(Socket from, Socket to) throws IOException {
    try (from;
        to) {
      from.getInputStream().transferTo(to.getOutputStream());
    }
  }

  private static void run(Passing passing) {
    final Thread thread =
        new Thread(
            () -> {
              try {
                passing.run();
              } catch (IOException e) {
                // cut
              }
            },
            "relay");
    thread.setDaemon(true);
    thread.start();
  }

  /** Cuts the connection, and passes no other. */
  @Override
  public void close() throws IOException {
    listening.close();
    onward.close();
  }

  private interface Passing {
    void run() throws IOException;
  }
}
