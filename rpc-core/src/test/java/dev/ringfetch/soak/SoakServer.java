package dev.ringfetch.soak;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import dev.ringfetch.system.HashIndex;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.time.Duration;

/** A server of the soak. Arguments: directory, port, whether handlers run in the poller. */
final class SoakServer {
  private SoakServer() {}

  public static void main(String[] args) throws Exception {
    final HashIndex index = new HashIndex();
    final RingServerBuilder builder =
        RingServerBuilder.forPort(Integer.parseInt(args[1]))
            .shmDirectory(Path.of(args[0]))
            .spinTime(Duration.ZERO)
            .addService(index);
    final RingServer server =
        (Boolean.parseBoolean(args[2]) ? builder.directExecutor() : builder).build().start();
    System.out.println("port=" + server.getPort());
    final BufferedReader input = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    String line;
    while ((line = input.readLine()) != null) {
      if (line.equals("gc")) {
        System.gc();
      }
      System.out.println(
          "sessions="
              + server.sessionCount()
              + " served="
              + index.served()
              + " hanging="
              + (index.hanging() - index.cancelled()));
    }
    System.exit(0); // the parent has died
  }
}
