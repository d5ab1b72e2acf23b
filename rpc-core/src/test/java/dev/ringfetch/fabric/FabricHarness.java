package dev.ringfetch.fabric;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * A server and a client of one fabric in this process. The test thread owns both doorbells and
 * drives them step by step; only a connect, which blocks, runs in a thread of its own.
 */
public final class FabricHarness implements AutoCloseable {
  /** Length of the memory that {@link #offer} offers. */
  public static final int LENGTH = 64 * 1024;

  /** Far beyond what anything here takes on a busy machine. */
  public static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(30);

  private static final long STEP_NS = TimeUnit.MILLISECONDS.toNanos(5);

  /** Fabric, and its doorbell, of the side that offers. */
  public final Fabric server;

  /** Fabric, and its doorbell, of the side that connects. */
  public final Fabric client;

  public final Doorbell serverBell;
  public final Doorbell clientBell;

  private final ExecutorService connecting = Executors.newCachedThreadPool();

  /** Opens a doorbell at each; the harness closes all of it. */
  public FabricHarness(Fabric server, Fabric client) throws IOException {
    this.server = server;
    this.client = client;
    this.serverBell = server.openDoorbell();
    this.clientBell = client.openDoorbell();
  }

  /** What one side was told. */
  public static final class Told implements QueuePair.Listener {
    public int rings;
    public final List<String> ends = new ArrayList<>();

    @Override
    public void onDoorbell() {
      assertTrue(ends.isEmpty(), "a ring after the end");
      rings++;
    }

    @Override
    public void onDisconnected(String reason) {
      ends.add(reason);
    }
  }

  /** An offer and the peer that it got, if any. */
  public static final class Offered {
    public Fabric.Offer offer;
    public final List<QueuePair> arrived = new ArrayList<>();
  }

  /** Both sides of one connection, bound. */
  public record Connection(
      QueuePair server, Told toldServer, QueuePair client, Told toldClient, Offered offered) {}

  /** A token that differs with its text. */
  public static byte[] token(String text) {
    return Arrays.copyOf(text.getBytes(UTF_8), 16);
  }

  public Offered offer(byte[] token) throws IOException {
    Offered offered = new Offered();
    offered.offer = server.offer(serverBell, client.hint(), LENGTH, token, offered.arrived::add);
    return offered;
  }

  public Connection connect(String token) throws IOException {
    return connect(token, false);
  }

  public Connection connect(String token, boolean datagrams) throws IOException {
    Offered offered = offer(token(token));
    byte[] descriptor = offered.offer.descriptor();
    Future<QueuePair> connected =
        connecting.submit(
            () -> client.connect(clientBell, descriptor, token(token), DEADLINE_NS, datagrams));
    drive(connected::isDone);
    QueuePair client = result(connected);
    drive(() -> offered.arrived.size() == 1);
    return bind(offered, client);
  }

  public static Connection bind(Offered offered, QueuePair client) {
    Told toldServer = new Told();
    Told toldClient = new Told();
    QueuePair server = offered.arrived.get(0);
    server.bind(toldServer);
    client.bind(toldClient);
    return new Connection(server, toldServer, client, toldClient, offered);
  }

  public QueuePair connect(byte[] descriptor, byte[] token) throws IOException {
    return connect(descriptor, token, DEADLINE_NS);
  }

  /** Connects while the server is driven. */
  public QueuePair connect(byte[] descriptor, byte[] token, long timeoutNs) throws IOException {
    Future<QueuePair> connected = connectUndriven(descriptor, token, timeoutNs);
    drive(connected::isDone);
    return result(connected);
  }

  public Future<QueuePair> connectUndriven(byte[] descriptor, byte[] token, long timeoutNs) {
    return connecting.submit(() -> client.connect(clientBell, descriptor, token, timeoutNs));
  }

  /** What a connect came to; its IOException is rethrown as it is. */
  public static QueuePair result(Future<QueuePair> connected) throws IOException {
    try {
      return connected.get(DEADLINE_NS, TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof IOException cause) {
        throw cause;
      }
      throw new AssertionError("connect failed with no IOException", e.getCause());
    } catch (Exception e) {
      throw new AssertionError("connect did not end", e);
    }
  }

  /** Drives both sides until the condition holds. */
  public void drive(BooleanSupplier condition) throws IOException {
    long startNs = System.nanoTime();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - startNs > DEADLINE_NS) {
        fail("condition not met in time");
      }
      clientBell.poll();
      serverBell.await(STEP_NS);
    }
  }

  /** Drives both sides until neither has anything to tell, several times over. */
  public void settle() throws IOException {
    int quiet = 0;
    while (quiet < 5) {
      quiet = serverBell.await(STEP_NS) + clientBell.await(STEP_NS) == 0 ? quiet + 1 : 0;
    }
  }

  /** Polls a completion queue until so many are in, as (id, status, value) each. */
  public List<long[]> completions(QueuePair queuePair, int count) throws IOException {
    List<long[]> all = new ArrayList<>();
    drive(
        () -> {
          queuePair
              .completions()
              .poll(
                  (id, status, value) -> all.add(new long[] {id, status, value}),
                  count - all.size());
          return all.size() >= count;
        });
    assertEquals(count, all.size());
    return all;
  }

  @Override
  public void close() {
    connecting.shutdownNow();
    serverBell.close();
    clientBell.close();
    server.close();
    client.close();
  }
}
