package dev.ringfetch.rdma.verbs;

import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import dev.ringfetch.rdma.natives.AddressLayout;
import dev.ringfetch.rdma.natives.ConnectionManager;
import dev.ringfetch.rdma.natives.Disni;
import dev.ringfetch.rdma.natives.Regions;
import dev.ringfetch.rdma.natives.Request;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/**
 * An id that listens at all addresses of all devices, at a port of the system's choice. Connect
 * requests are events of its channel.
 */
final class ListeningId implements AutoCloseable {
  private static final Logger LOGGER = System.getLogger(ListeningId.class.getName());
  private static final int BACKLOG = 128;

  private final RdmaCmId id;
  private final int port;

  private ListeningId(RdmaCmId id, int port) {
    this.id = id;
    this.port = port;
  }

  /** Begins to listen. */
  static ListeningId open(RdmaEventChannel channel) throws IOException {
    try {
      return open(channel, InetAddress.getByAddress(new byte[16])); // takes both families
    } catch (IOException e) {
      LOGGER.log(Level.DEBUG, "no IPv6", e);
      return open(channel, InetAddress.getByAddress(new byte[4]));
    }
  }

  private static ListeningId open(RdmaEventChannel channel, InetAddress anywhere)
      throws IOException {
    final ByteBuffer address = Request.direct(AddressLayout.SIZE);
    final RdmaCmId id = Disni.createId(channel);
    boolean listens = false;
    try {
      AddressLayout.encode(new InetSocketAddress(anywhere, 0), address);
      ConnectionManager.bind(Disni.handle(id), Regions.address(address));
      id.listen(BACKLOG);
      ConnectionManager.localAddress(Disni.handle(id), Regions.address(address));
      final ListeningId listening = new ListeningId(id, AddressLayout.decode(address).getPort());
      listens = true;
      return listening;
    } finally {
      if (!listens) {
        Disni.giveBack(id, RdmaCmId::destroyId);
      }
    }
  }

  /** The port to connect to. */
  int port() {
    return port;
  }

  /** Listens no more. */
  @Override
  public void close() {
    Disni.giveBack(id, RdmaCmId::destroyId);
  }
}
