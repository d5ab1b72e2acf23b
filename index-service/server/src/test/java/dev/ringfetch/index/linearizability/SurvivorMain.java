package dev.ringfetch.index.linearizability;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ringfetch.index.direct.DirectContext;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingChannelBuilder;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The program of a client process that outlives its servers. After a line "ROUND FILE" of its input
 * it makes calls, over a ring and over gRPC, and reads directly, until the next line. It prints a
 * line when it has read directly; at the end it writes the history to the file, and prints what
 * {@link ClientMain} prints.
 */
final class SurvivorMain {
  private static final long LIMIT_S = 400;

  private SurvivorMain() {}

  /**
   * Runs the program.
   *
   * @param args port of the servers; directory of shared memory; number of threads; id of the first
   *     one's client; seed
   */
  public static void main(String[] args) throws Exception {
    final int port = Integer.parseInt(args[0]);
    final Path shm = Path.of(args[1]);
    final int threads = Integer.parseInt(args[2]);
    final int firstId = Integer.parseInt(args[3]);
    final long seed = Long.parseLong(args[4]);
    final RingChannel ring = ring(port, shm);
    final ManagedChannel grpc =
        ManagedChannelBuilder.forAddress("localhost", port).usePlaintext().build();
    try (BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        Crew crew = new Crew(firstId, threads, seed, routes(ring, grpc), context(shm))) {
      final String[] words = lines.readLine().split(" ", 2);
      final AtomicBoolean ended = new AtomicBoolean();
      final var running =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return crew.outlive(ended::get);
                } catch (Exception e) {
                  throw new IllegalStateException(e);
                }
              },
              Executors.newSingleThreadExecutor(
                  task -> {
                    final Thread thread = new Thread(task, "survivor");
                    thread.setDaemon(true);
                    return thread;
                  }));
      while (crew.directReads() == 0 && !running.isDone()) {
        Thread.sleep(1);
      }
      System.out.println("reads directly");
      lines.readLine();
      ended.set(true);
      HistoryFile.write(Path.of(words[1]), running.get(LIMIT_S, TimeUnit.SECONDS));
      System.out.println(ring.ringCalls() + " " + ring.grpcCalls() + " " + crew.directReads());
    } finally {
      ring.shutdownNow();
      grpc.shutdownNow();
    }
  }

  /** A channel whose calls go over a ring while there is one. */
  static RingChannel ring(int port, Path shm) {
    return RingChannelBuilder.forAddress("localhost", port)
        .usePlaintext()
        .spinTime(Duration.ZERO)
        .shmDirectory(shm)
        .build();
  }

  static List<Route> routes(RingChannel ring, ManagedChannel grpc) {
    return List.of(new Route(ring, true), new Route(grpc, false));
  }

  static DirectContext context(Path shm) {
    return new DirectContext().shmDirectory(shm);
  }
}
