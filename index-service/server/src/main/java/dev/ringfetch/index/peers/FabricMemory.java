package dev.ringfetch.index.peers;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.DomainContext;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricProviders;
import dev.ringfetch.fabric.RemoteDomain;
import dev.ringfetch.fabric.Rights;
import dev.ringfetch.index.replication.MemberMemory;
import dev.ringfetch.index.replication.PeerMemory;
import dev.ringfetch.index.replication.RemoteLog;
import dev.ringfetch.index.v1.FabricHint;
import dev.ringfetch.index.v1.LogOffer;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.util.List;

/**
 * The memory between nodes of one host: a domain of shared memory for each replica, in which a
 * request is done when it was made.
 *
 * <p>Safe for use by many threads.
 */
public final class FabricMemory implements PeerMemory, AutoCloseable {
  private static final Logger LOGGER = System.getLogger(FabricMemory.class.getName());

  /** Bytes of one replica's log memory at most. */
  private static final long MEMORY_LIMIT = 64L << 20;

  private static final long CONNECT_NS = 100_000_000;

  private final Fabric fabric;
  private final List<FabricHint> hints;

  private FabricMemory(Fabric fabric) {
    this.fabric = fabric;
    hints =
        List.of(
            FabricHint.newBuilder()
                .setFabric(fabric.name())
                .setHint(ByteString.copyFrom(fabric.hint()))
                .build());
  }

  /**
   * Opens shared memory.
   *
   * @param directory of its files; null for the default
   * @throws IOException if it cannot be used, with the reason as its message
   */
  public static FabricMemory open(Path directory) throws IOException {
    final FabricContext context = new FabricContext();
    if (directory != null) {
      context.directory(directory);
    }
    final Fabric fabric = FabricProviders.open("shm", context);
    return new FabricMemory(fabric);
  }

  @Override
  public List<FabricHint> hints() {
    return hints;
  }

  @Override
  public MemberMemory open() {
    try {
      return new FabricMemberMemory(
          fabric,
          fabric.openDomain(
              new DomainContext().rights(Rights.WRITE).memoryLimit(MEMORY_LIMIT).peerLimit(2)));
    } catch (IOException e) {
      LOGGER.log(Level.WARNING, "no memory for leaders' records: " + e.getMessage());
      return null;
    }
  }

  @Override
  public RemoteLog connect(LogOffer offer) throws IOException {
    if (!offer.getFabric().equals(fabric.name())) {
      throw new IOException("another fabric: " + offer.getFabric());
    }
    final RemoteDomain domain =
        fabric.connectDomain(
            offer.getDomain().toByteArray(), offer.getToken().toByteArray(), CONNECT_NS);
    boolean connected = false;
    try {
      final RemoteLog log =
          FabricRemoteLog.attach(fabric.name(), domain, offer.getSegment().toByteArray());
      connected = true;
      return log;
    } finally {
      if (!connected) {
        domain.close();
      }
    }
  }

  /** Ends all memory and connections. */
  @Override
  public void close() {
    fabric.close();
  }
}
