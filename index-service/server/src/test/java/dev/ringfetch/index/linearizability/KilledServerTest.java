package dev.ringfetch.index.linearizability;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.ringfetch.index.ServerProcess;
import dev.ringfetch.index.v1.DescribeRequest;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.rpc.RingChannel;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * An index server with a data directory is killed under its clients' calls and direct reads, and
 * another one takes the directory over, again and again. What all clients saw together must be
 * linearizable in each {@linkplain Lives life} of the index.
 *
 * <p>{@code -Dringfetch.seed=SEED} draws the same operations and moments again, which then meet as
 * they happen to. {@code -Dringfetch.kills=N} kills N servers.
 */
@Timeout(500)
final class KilledServerTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 1);
  private static final int KILLS = Integer.getInteger("ringfetch.kills", 5);
  private static final int PROCESSES = 4;
  private static final int THREADS_OF_A_PROCESS = 2;

  /** More than a process has threads, so that each client has an id of its own. */
  private static final int IDS = 100;

  private final Random random = new Random(SEED);
  private final Lives lives = new Lives();

  @TempDir Path shm;
  @TempDir Path data;
  @TempDir Path histories;

  private ServerProcess server;
  private int port;

  /** How clients are begun, once there is a server. */
  private interface Clients extends AutoCloseable {
    /** Returns when they have read directly. */
    void begin() throws Exception;

    /** Ends them; returns what they all did. */
    List<Operation> end() throws Exception;

    @Override
    void close();
  }

  /** The clients are threads of this process. */
  @Tag("slow")
  @Test
  void oneKillUnderThreads() throws Exception {
    check(1, Threads::new);
  }

  @Test
  @Tag("slow")
  void manyKillsUnderFourProcesses() throws Exception {
    check(KILLS, Processes::new);
  }

  /** Creates clients. */
  private interface Source {
    Clients create() throws Exception;
  }

  private void check(int kills, Source source) throws Exception {
    final List<Operation> history;
    long beginNs = start();
    try {
      try (Clients clients = source.create()) {
        clients.begin();
        for (int i = 0; i < kills; i++) {
          final long incarnation = incarnation();
          pause(300, 600);
          server.close(); // kill -9
          assertEquals(128 + 9, server.awaitExit());
          lives.add(incarnation, beginNs, System.nanoTime());
          pause(0, 200);
          beginNs = start();
        }
        final long incarnation = incarnation();
        pause(300, 600);
        history = clients.end();
        lives.add(incarnation, beginNs, System.nanoTime());
      }
    } finally {
      server.close();
    }
    check(history);
  }

  private void check(List<Operation> history) {
    final long startNs = System.nanoTime();
    final Optional<String> violation = lives.violation(history);
    final long ofTheDead = lives.answersOfTheDead(history);
    final long open = history.stream().filter(Operation::isOpen).count();
    System.out.printf(
        "killed servers: seed=%d lives=%d operations=%d open=%d read of the dead=%d,"
            + " checked in %d ms%n",
        SEED,
        lives.count(),
        history.size(),
        open,
        ofTheDead,
        TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs));
    violation.ifPresent(text -> fail("seed=" + SEED + " lives=" + lives + "\n" + text));
    assertTrue(ofTheDead > 0, "no memory of a killed server was read, seed=" + SEED);
    final Set<Call.Kind> answered = EnumSet.noneOf(Call.Kind.class);
    final Set<Long> incarnations = new HashSet<>();
    for (final Operation operation : history) {
      if (!operation.isOpen()) {
        answered.add(operation.call().kind());
        incarnations.add(operation.answer().incarnation());
      }
    }
    assertEquals(Call.Kind.OF_KEYS, answered, "seed=" + SEED);
    assertEquals(lives.count(), incarnations.size(), "lives without an answer, seed=" + SEED);
  }

  /** Starts a server; returns a moment before. */
  private long start() throws Exception {
    final long beginNs = System.nanoTime();
    server =
        ServerProcess.start(
            "--port=" + port, "--shm-directory=" + shm, "--data=" + data, "--takeover");
    port = server.awaitPort();
    return beginNs;
  }

  private long incarnation() throws Exception {
    final ManagedChannel channel =
        ManagedChannelBuilder.forAddress("localhost", port).usePlaintext().build();
    try {
      return IndexGrpc.newBlockingStub(channel)
          .withWaitForReady()
          .withDeadlineAfter(60, TimeUnit.SECONDS)
          .describe(DescribeRequest.getDefaultInstance())
          .getIndex()
          .getIncarnation();
    } finally {
      channel.shutdownNow();
    }
  }

  private void pause(int leastMs, int mostMs) throws InterruptedException {
    Thread.sleep(leastMs + random.nextInt(mostMs - leastMs));
  }

  /** Clients on threads of this process. */
  private final class Threads implements Clients {
    private final AtomicBoolean ended = new AtomicBoolean();
    private final RingChannel ring = SurvivorMain.ring(port, shm);
    private final ManagedChannel grpc =
        ManagedChannelBuilder.forAddress("localhost", port).usePlaintext().build();
    private final Crew crew =
        new Crew(1, PROCESSES, SEED, SurvivorMain.routes(ring, grpc), SurvivorMain.context(shm));

    private CompletableFuture<List<Operation>> running;

    @Override
    public void begin() throws InterruptedException {
      running =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return crew.outlive(ended::get);
                } catch (Exception e) {
                  throw new IllegalStateException(e);
                }
              },
              // Not the common pool, whose only thread others here wait for.
              task -> new Thread(task, "survivors").start());
      while (crew.directReads() == 0 && !running.isDone()) {
        Thread.sleep(1);
      }
    }

    @Override
    public List<Operation> end() throws Exception {
      ended.set(true);
      return running.get(120, TimeUnit.SECONDS);
    }

    @Override
    public void close() {
      ended.set(true);
      crew.close();
      ring.shutdownNow();
      grpc.shutdownNow();
    }
  }

  /** Clients in processes of their own. */
  private final class Processes implements Clients {
    private final List<ClientProcess> processes = new ArrayList<>();

    @Override
    public void begin() throws Exception {
      for (int i = 0; i < PROCESSES; i++) {
        final int firstId = 1 + IDS * i;
        final ClientProcess process =
            ClientProcess.start(
                SurvivorMain.class,
                histories.resolve("history-" + firstId),
                port,
                shm,
                THREADS_OF_A_PROCESS,
                firstId,
                SEED);
        processes.add(process);
        process.begin(0);
      }
      for (final ClientProcess process : processes) {
        process.awaitDirectRead();
      }
    }

    @Override
    public List<Operation> end() throws Exception {
      final List<Operation> history = new ArrayList<>();
      for (final ClientProcess process : processes) {
        process.stop();
      }
      long directReads = 0;
      long ringCalls = 0;
      for (final ClientProcess process : processes) {
        final ClientProcess.Report report = process.end();
        directReads += report.directReads();
        ringCalls += report.ringCalls();
        history.addAll(report.history());
      }
      System.out.printf("killed servers: direct=%d over rings=%d%n", directReads, ringCalls);
      assertTrue(ringCalls > 0, "no call went over a ring");
      return history;
    }

    @Override
    public void close() {
      processes.forEach(ClientProcess::close);
    }
  }
}
