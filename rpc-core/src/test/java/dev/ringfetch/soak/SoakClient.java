package dev.ringfetch.soak;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingChannelBuilder;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.time.Duration;

/**
 * A client of the soak. Arguments: directory, port, whether it insists on a ring, whether callbacks
 * run in the poller, seed.
 */
final class SoakClient {
  private SoakClient() {}

  public static void main(String[] args) throws Exception {
    final RingChannelBuilder builder =
        RingChannelBuilder.forAddress("localhost", Integer.parseInt(args[1]))
            .usePlaintext()
            .shmDirectory(Path.of(args[0]))
            .spinTime(Duration.ZERO);
    if (Boolean.parseBoolean(args[2])) {
      builder.requireFabric();
    }
    if (Boolean.parseBoolean(args[3])) {
      builder.directExecutor();
    }
    final RingChannel channel = builder.build();
    System.out.println("calling=1"); // before the first handshake, so that it can be killed in it
    final Calls calls = new Calls(channel, Long.parseLong(args[4]));
    calls.start();
    final BufferedReader input = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    String line;
    while ((line = input.readLine()) != null) {
      switch (line) {
        case "gc" -> System.gc();
        case "stop" -> calls.stop();
        default -> {}
      }
      System.out.println(
          calls
              + " ring="
              + (channel.transport().isRing() ? 1 : 0)
              + " rings="
              + channel.ringCalls()
              + " grpcs="
              + channel.grpcCalls());
    }
    System.exit(0); // the parent has died
  }
}
