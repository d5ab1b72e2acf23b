package dev.ringfetch.examples.greeter;

import dev.ringfetch.examples.process.CommandLoop;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.Server;
import java.io.IOException;

/** The server: one line has changed. Ends with its input. */
final class GreeterServer {
  private GreeterServer() {}

  /** Serves. */
  public static void main(String[] args) throws IOException {
    final Server server =
        // was: ServerBuilder.forPort(0).addService(new GreeterService()).build().start();
        RingServerBuilder.forPort(0).addService(new GreeterService()).build().start();
    System.out.println("port " + server.getPort());
    new CommandLoop().run();
    System.exit(0);
  }
}
