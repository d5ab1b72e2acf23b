package dev.ringfetch.index.peers;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricProviders;
import dev.ringfetch.fabric.RemoteDomain;
import dev.ringfetch.index.onesided.MemberMemory;
import dev.ringfetch.index.onesided.PeerMemory;
import dev.ringfetch.index.onesided.RemoteLog;
import dev.ringfetch.index.v1.FabricHint;
import dev.ringfetch.index.v1.LogOffer;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * The memory between nodes over the available fabrics, with a domain for each replica and fabric. A
 * member offers memory over the first fabric that connects it and its leader. Requests to mapped
 * memory, and connections to it, complete at once; others take time.
 *
 * <p>Safe for use by many threads.
 */
public final class FabricMemory implements PeerMemory, AutoCloseable {
  private static final Logger LOGGER = System.getLogger(FabricMemory.class.getName());

  /** Limit of the time to reach memory of another host: as long as a card repeats requests. */
  private static final long CONNECT_NS = 2_000_000_000;

  private final List<Fabric> fabrics;
  private final List<FabricHint> hints;
  private final Executor connector;

  /**
   * Creates it.
   *
   * @param fabrics closed with this, the preferred one first
   * @param connector connects to memory that is not mapped, which takes time
   */
  FabricMemory(List<Fabric> fabrics, Executor connector) {
    this.fabrics = fabrics;
    this.connector = connector;
    hints =
        fabrics.stream()
            .map(
                fabric ->
                    FabricHint.newBuilder()
                        .setFabric(fabric.name())
                        .setHint(ByteString.copyFrom(fabric.hint()))
                        .build())
            .toList();
  }

  /**
   * Opens the usable fabrics.
   *
   * @param names of them, the preferred one first
   * @param directory of the files of shared memory; null for the default
   * @param connector connects to memory that is not mapped, which takes up to some seconds
   * @throws IOException if none is usable, with the reasons as its message
   */
  public static FabricMemory open(List<String> names, @Nullable Path directory, Executor connector)
      throws IOException {
    final List<Fabric> opened = new ArrayList<>();
    final List<String> obstacles = new ArrayList<>();
    for (final String name : names) {
      final FabricContext context = new FabricContext();
      if (directory != null) {
        context.directory(directory);
      }
      try {
        opened.add(FabricProviders.open(name, context));
      } catch (IOException e) {
        obstacles.add(e.getMessage());
      }
    }
    if (opened.isEmpty()) {
      throw new IOException(String.join("; ", obstacles));
    }
    LOGGER.log(Level.DEBUG, "memory between nodes: fabrics={0} without={1}", opened, obstacles);
    return new FabricMemory(List.copyOf(opened), connector);
  }

  @Override
  public List<FabricHint> hints() {
    return hints;
  }

  @Override
  public MemberMemory open() {
    return new FabricMemberMemory(fabrics);
  }

  @Override
  public CompletableFuture<RemoteLog> connect(LogOffer offer) {
    final CompletableFuture<RemoteLog> reached = new CompletableFuture<>();
    final Fabric fabric = find(offer.getFabric());
    if (fabric == null) {
      reached.completeExceptionally(new IOException("another fabric: " + offer.getFabric()));
    } else if (fabric.capabilities().loadStore()) {
      connect(fabric, offer, reached);
    } else {
      try {
        connector.execute(() -> connect(fabric, offer, reached));
      } catch (RejectedExecutionException e) {
        reached.completeExceptionally(new IOException("the node ends", e));
      }
    }
    return reached;
  }

  private Fabric find(String name) {
    return fabrics.stream().filter(fabric -> fabric.name().equals(name)).findFirst().orElse(null);
  }

  private static void connect(Fabric fabric, LogOffer offer, CompletableFuture<RemoteLog> reached) {
    if (reached.isCancelled()) {
      return;
    }
    try {
      final RemoteLog log = connect(fabric, offer);
      if (!reached.complete(log)) {
        log.close();
      }
    } catch (IOException | RuntimeException e) { // passed to the thread that waits
      reached.completeExceptionally(e);
    }
  }

  private static RemoteLog connect(Fabric fabric, LogOffer offer) throws IOException {
    final RemoteDomain domain =
        fabric.connectDomain(
            offer.getDomain().toByteArray(), offer.getToken().toByteArray(), CONNECT_NS);
    boolean connected = false;
    try {
      final byte[] segment = offer.getSegment().toByteArray();
      final RemoteLog log =
          domain.capabilities().loadStore()
              ? MappedRemoteLog.attach(fabric.name(), domain, segment)
              : PostedRemoteLog.attach(fabric.name(), domain, segment);
      connected = true;
      return log;
    } finally {
      if (!connected) {
        domain.close();
      }
    }
  }

  /** Closes all memory and connections. */
  @Override
  public void close() {
    fabrics.forEach(Fabric::close);
  }
}
