package dev.ringfetch.rdma.verbs;

import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import dev.ringfetch.rdma.natives.AddressLayout;
import dev.ringfetch.rdma.natives.ConnectionManager;
import dev.ringfetch.rdma.natives.Devices;
import dev.ringfetch.rdma.natives.Disni;
import dev.ringfetch.rdma.natives.EventLayout;
import dev.ringfetch.rdma.natives.PortLayout;
import dev.ringfetch.rdma.natives.Regions;
import dev.ringfetch.rdma.natives.Request;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The addresses of this host behind which there are RDMA devices, as they were at the last search,
 * in the form in which the two sides exchange them:
 *
 * <pre>
 *   0        1        2            3         4
 *  +--------+--------+------------+---------+----------+
 *  | version| number | link layer | 4 or 16 | address  |  ... as many as the number
 *  +--------+--------+------------+---------+----------+
 * </pre>
 *
 * <p>Loopback and link-local addresses are left out: rdma_cm knows no device at the former, and the
 * latter say nothing to another host. Any thread.
 *
 * <p>They keep the devices open, and the kernel releases a removed device only when nobody has it
 * open any more: so each user of one of their devices {@linkplain #hold holds} them, and the last
 * {@link #close} frees them.
 */
final class DeviceAddresses implements AutoCloseable {
  private static final Logger LOGGER = System.getLogger(DeviceAddresses.class.getName());
  private static final byte VERSION = 1;

  /** The description that a host without devices sends to a peer. */
  static final byte[] NO_HINT = {VERSION, 0};

  private final RdmaEventChannel channel;
  private final AtomicInteger holders = new AtomicInteger(1);
  private final ByteBuffer event = Request.direct(EventLayout.SIZE);
  private final List<RdmaCmId> ids = new ArrayList<>(); // bound, so that they keep their devices
  private final Map<Long, Long> contexts = new HashMap<>(); // by those of them that found one
  private final List<DeviceAddress> addresses = new ArrayList<>();

  private DeviceAddresses() throws IOException {
    channel = RdmaEventChannel.createEventChannel();
  }

  /**
   * Looks for them.
   *
   * @throws IOException also when there are none.
   */
  static DeviceAddresses find() throws IOException {
    final DeviceAddresses found = new DeviceAddresses();
    boolean any = false;
    try {
      for (final NetworkInterface network :
          Collections.list(NetworkInterface.getNetworkInterfaces())) {
        if (network.isUp() && !network.isLoopback()) {
          for (final InetAddress host : Collections.list(network.getInetAddresses())) {
            found.tryAddress(host);
          }
        }
      }
      any = !found.addresses.isEmpty();
      if (!any) {
        throw new IOException("no address of this host leads to an RDMA device");
      }
      return found;
    } finally {
      if (!any) {
        found.close();
      }
    }
  }

  private void tryAddress(InetAddress host) throws IOException {
    if (host.isLinkLocalAddress() || addresses.size() == OfferDescriptor.MAX_ADDRESSES) {
      return;
    }
    final ByteBuffer address = Request.direct(AddressLayout.SIZE);
    AddressLayout.encode(new InetSocketAddress(host, 0), address);
    final RdmaCmId id = Disni.createId(channel);
    ids.add(id);
    try {
      ConnectionManager.bind(Disni.handle(id), Regions.address(address));
    } catch (IOException e) {
      return; // no device there, which is what this wants to know
    }
    final IbvContext context = id.getVerbs();
    if (context == null) {
      return;
    }
    contexts.put(Disni.handle(id), Disni.handle(context));
    OpenDevices.enter(Disni.handle(context));
    final ByteBuffer port = Request.direct(PortLayout.SIZE);
    try {
      Devices.queryPort(
          Disni.handle(context), ConnectionManager.port(Disni.handle(id)), Regions.address(port));
      addresses.add(new DeviceAddress(host, port.get(PortLayout.LINK_LAYER), context));
    } catch (IOException e) {
      LOGGER.log(Level.DEBUG, "a device that does not answer, or is being removed", e);
    }
  }

  /** How many there are. */
  int size() {
    return addresses.size();
  }

  /** Keeps them open for one more {@link #close}. The caller already holds them. */
  DeviceAddresses hold() {
    holders.incrementAndGet();
    return this;
  }

  /** Descriptor that is readable when a device was removed. */
  int eventDescriptor() {
    return ConnectionManager.channelDescriptor(Disni.handle(channel));
  }

  /** Whether a device was removed since the last call. At most one thread at a time. */
  boolean takeRemoval() {
    boolean removed = false;
    while (ConnectionManager.nextEvent(Disni.handle(channel), Regions.address(event), 0) > 0) {
      final Long context = contexts.get(event.getLong(EventLayout.ID));
      if (context != null && event.getInt(EventLayout.TYPE) == EventLayout.DEVICE_REMOVED) {
        OpenDevices.remove(context);
        removed = true;
      }
    }
    return removed;
  }

  /** The description that a peer gets. */
  byte[] hint() {
    final ByteBuffer out = ByteBuffer.allocate(2 + addresses.size() * 18);
    out.put(VERSION).put((byte) addresses.size());
    for (final DeviceAddress address : addresses) {
      final byte[] bytes = address.host().getAddress();
      out.put((byte) address.linkLayer()).put((byte) bytes.length).put(bytes);
    }
    final byte[] hint = new byte[out.position()];
    out.get(0, hint);
    return hint;
  }

  private static List<DeviceAddress> decode(byte[] hint) throws IOException {
    final ByteBuffer in = ByteBuffer.wrap(hint);
    final List<DeviceAddress> peers = new ArrayList<>();
    try {
      if (in.get() != VERSION) {
        throw new IOException("the peer's hint is of another version");
      }
      for (int left = in.get(); left > 0; left--) {
        final int linkLayer = in.get();
        peers.add(new DeviceAddress(OfferDescriptor.address(in), linkLayer, null));
      }
      return peers;
    } catch (BufferUnderflowException e) {
      throw new IOException("the peer's hint is malformed: bytes=" + hint.length, e);
    }
  }

  /**
   * Addresses at which a peer may reach this host, the nearest first, all of one device.
   *
   * @throws IOException when there are none.
   */
  List<DeviceAddress> towards(byte[] hint) throws IOException {
    final List<DeviceAddress> peers = decode(hint);
    final List<DeviceAddress> reachable =
        addresses.stream()
            .filter(own -> own.distance(peers) < DeviceAddress.UNREACHABLE)
            .sorted(Comparator.comparingInt(own -> own.distance(peers)))
            .toList();
    if (reachable.isEmpty()) {
      throw new IOException("the peer has no RDMA device, or none of the kind that is here");
    }
    return of(Disni.handle(reachable.get(0).context()), reachable);
  }

  /** The first device that was found, and all of its addresses. */
  List<DeviceAddress> first() {
    return of(Disni.handle(addresses.get(0).context()), addresses);
  }

  private static List<DeviceAddress> of(long context, List<DeviceAddress> all) {
    return all.stream().filter(own -> Disni.handle(own.context()) == context).toList();
  }

  /**
   * Checks that a peer may reach one of some addresses.
   *
   * @throws IOException when it does not.
   */
  static void checkReached(List<DeviceAddress> addresses, byte[] hint) throws IOException {
    final List<DeviceAddress> peers = decode(hint);
    if (addresses.stream().allMatch(own -> own.distance(peers) == DeviceAddress.UNREACHABLE)) {
      throw new IOException("the peer has no RDMA device that reaches the one of the memory");
    }
  }

  /** Releases the addresses and devices, unless another holder remains. */
  @Override
  public void close() {
    if (holders.decrementAndGet() > 0) {
      return;
    }
    contexts.values().forEach(OpenDevices::leave);
    ids.forEach(id -> Disni.giveBack(id, RdmaCmId::destroyId));
    Disni.giveBack(channel, RdmaEventChannel::destroyEventChannel);
  }

  @Override
  public String toString() {
    return addresses.stream().map(own -> own.host().getHostAddress()).toList().toString();
  }
}
