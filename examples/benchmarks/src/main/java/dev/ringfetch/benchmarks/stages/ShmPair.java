package dev.ringfetch.benchmarks.stages;

import dev.ringfetch.fabric.Doorbell;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricProvider;
import dev.ringfetch.fabric.QueuePair;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ServiceLoader;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Both ends of a connection in shared memory, in one process. A caller that runs pollers on the
 * doorbells must end them before {@link #close}.
 */
public final class ShmPair implements AutoCloseable {
  private static final long CONNECT_NS = TimeUnit.SECONDS.toNanos(30);
  private static final int TOKEN_LENGTH = 16;

  private final Fabric fabric;
  private final Doorbell serverDoorbell;
  private final Doorbell clientDoorbell;
  private QueuePair ofServer;
  private QueuePair ofClient;

  private ShmPair(Fabric fabric) throws IOException {
    this.fabric = fabric;
    this.serverDoorbell = fabric.openDoorbell();
    this.clientDoorbell = fabric.openDoorbell();
  }

  /**
   * Opens a connection.
   *
   * @param length of its memory, in bytes.
   */
  public static ShmPair open(int length) throws IOException {
    final FabricProvider provider =
        ServiceLoader.load(FabricProvider.class).stream()
            .map(ServiceLoader.Provider::get)
            .filter(found -> found.name().equals("shm"))
            .findFirst()
            .orElseThrow();
    final ShmPair pair = new ShmPair(provider.open(new FabricContext()));
    pair.connect(length);
    return pair;
  }

  /** The server learns of it by its doorbell, which this thread looks at meanwhile. */
  private void connect(int length) throws IOException {
    final byte[] token = new byte[TOKEN_LENGTH];
    final Fabric.Offer offer =
        fabric.offer(serverDoorbell, fabric.hint(), length, token, end -> ofServer = end);
    final CompletableFuture<QueuePair> connecting =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return fabric.connect(clientDoorbell, offer.descriptor(), token, CONNECT_NS);
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            });
    while ((ofServer == null || !connecting.isDone()) && !connecting.isCompletedExceptionally()) {
      final int unused = serverDoorbell.poll();
      Thread.onSpinWait();
    }
    ofClient = connecting.join();
  }

  /** Name of the fabric. */
  String fabric() {
    return fabric.name();
  }

  Doorbell serverDoorbell() {
    return serverDoorbell;
  }

  Doorbell clientDoorbell() {
    return clientDoorbell;
  }

  /** The server's end. */
  public QueuePair ofServer() {
    return ofServer;
  }

  /** The client's end. */
  public QueuePair ofClient() {
    return ofClient;
  }

  @Override
  public void close() {
    ofClient.close();
    ofServer.close();
    fabric.close();
  }
}
