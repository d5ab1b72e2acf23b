package dev.ringfetch.index.linearizability;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingChannelBuilder;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The program of a client process. For each line "ROUND FILE" of its input it does a round, writes
 * the history to the file, and prints how many calls rings have carried so far, and how many of
 * those that were meant for a ring were carried by gRPC, and how many reads needed no call. Where
 * it uses rings alone, half of its reads are direct. It ends with its input.
 */
final class ClientMain {
  private ClientMain() {}

  /**
   * Runs the program.
   *
   * @param args port of the server; ring, grpc, or both; number of threads; id of the first one's
   *     client; seed; calls of a thread in a round
   */
  public static void main(String[] args) throws Exception {
    final int port = Integer.parseInt(args[0]);
    final List<Route> routes = new ArrayList<>();
    final RingChannel ring =
        RingChannelBuilder.forAddress("localhost", port)
            .usePlaintext()
            .spinTime(Duration.ZERO)
            .requireFabric()
            .build();
    final ManagedChannel grpc =
        ManagedChannelBuilder.forAddress("localhost", port).usePlaintext().build();
    if (!"grpc".equals(args[1])) {
      routes.add(new Route(ring, true));
    }
    if (!"ring".equals(args[1])) {
      routes.add(new Route(grpc, false));
    }
    final int threads = Integer.parseInt(args[2]);
    final int firstId = Integer.parseInt(args[3]);
    final long seed = Long.parseLong(args[4]);
    final int calls = Integer.parseInt(args[5]);
    try (BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        Crew crew = new Crew(firstId, threads, seed, routes, "ring".equals(args[1]))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        final String[] words = line.split(" ", 2);
        HistoryFile.write(Path.of(words[1]), crew.run(Integer.parseInt(words[0]), calls));
        System.out.println(ring.ringCalls() + " " + ring.grpcCalls() + " " + crew.directReads());
      }
    } finally {
      ring.shutdownNow();
      grpc.shutdownNow();
    }
  }
}
