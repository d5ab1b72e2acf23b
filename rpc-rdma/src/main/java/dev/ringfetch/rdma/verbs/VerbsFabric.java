package dev.ringfetch.rdma.verbs;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.ibm.disni.verbs.IbvContext;
import dev.ringfetch.fabric.Domain;
import dev.ringfetch.fabric.DomainContext;
import dev.ringfetch.fabric.Doorbell;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricCapabilities;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.RemoteDomain;
import dev.ringfetch.fabric.WorkRequests;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.security.SecureRandom;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * The verbs fabric: registered memory of each side's own, and reliable connections between the two
 * sides through the RDMA devices that this host had when the fabric was opened, or had again after
 * one was removed.
 */
final class VerbsFabric implements Fabric {
  private static final Logger LOGGER = System.getLogger(VerbsFabric.class.getName());
  private static final int NO_DESCRIPTOR = -1;

  /** How often devices are looked for where there are fewer than there were. */
  private static final long LOOK_INTERVAL_NS = TimeUnit.SECONDS.toNanos(1);

  private final SecureRandom random = new SecureRandom();
  private final Set<VerbsDoorbell> doorbells = ConcurrentHashMap.newKeySet();

  @GuardedBy("this")
  private DeviceAddresses addresses; // null: there are none

  @GuardedBy("this")
  private int most; // addresses that there ever were

  @GuardedBy("this")
  private long lookedNs;

  @GuardedBy("this")
  private DomainConnections connections; // null: no domain yet

  private volatile int eventDescriptor = NO_DESCRIPTOR;
  private volatile boolean closed;

  VerbsFabric() throws IOException {
    look();
  }

  /**
   * The guarantees of this fabric for rings.
   *
   * <p>{@code ASCENDING}: all devices in common use place a WRITE by increasing address (relaxed
   * ordering is never requested); no specification promises it. Frames on this fabric carry a
   * checksum beside it. {@code NONE}: a READ is executed while the CPU stores, in pieces that the
   * device chooses. READ after WRITE is granted, in the order in which a reliable connection's
   * responder executes requests (InfiniBand specification, volume 1, 9.5), as no PCIe read passes a
   * posted write; READ after READ is not, as PCIe lets reads pass reads.
   */
  static FabricCapabilities capabilities(int maxInline, int maxDatagram) {
    return new FabricCapabilities(
            FabricCapabilities.WriteOrder.ASCENDING,
            FabricCapabilities.ReadAtomicity.NONE,
            false,
            maxInline,
            maxDatagram)
        .ordered(true, false);
  }

  @Override
  public String name() {
    return VerbsProvider.NAME;
  }

  /** Inline data and datagrams depend on the device, which grants them at each connection. */
  @Override
  public FabricCapabilities capabilities() {
    return capabilities(0, 0);
  }

  /** The addresses of the present devices, held for the caller. */
  private DeviceAddresses addresses() throws IOException {
    takeDeviceEvents();
    synchronized (this) {
      if (closed) {
        throw new IOException("the fabric is closed");
      }
      if ((addresses == null || addresses.size() < most)
          && System.nanoTime() - lookedNs >= LOOK_INTERVAL_NS) {
        lookAgain();
      }
      if (addresses == null) {
        throw new IOException("there is no RDMA device any more");
      }
      return addresses.hold();
    }
  }

  /** Looks for devices again; keeps some even though the search for others failed. */
  @GuardedBy("this")
  private void lookAgain() throws IOException {
    try {
      look();
    } catch (IOException e) {
      if (addresses == null) {
        throw e;
      }
      LOGGER.log(Level.DEBUG, "no more devices than before", e);
    }
  }

  /** Looks for the devices that there were before, or more. */
  @GuardedBy("this")
  private void look() throws IOException {
    lookedNs = System.nanoTime();
    final DeviceAddresses found = DeviceAddresses.find();
    if (addresses != null) {
      letGo();
    }
    addresses = found;
    most = Math.max(most, found.size());
    eventDescriptor = found.eventDescriptor();
    doorbells.forEach(VerbsDoorbell::wakeup); // so that they sleep on the other descriptor
  }

  /** Descriptor that is readable when {@link #takeDeviceEvents} should be called, or negative. */
  int eventDescriptor() {
    return eventDescriptor;
  }

  /**
   * Releases all devices after one was removed; that one is freed when its connections have ended,
   * too. The connections of the others stay.
   */
  void takeDeviceEvents() {
    String removed = null;
    synchronized (this) {
      if (addresses != null && addresses.takeRemoval()) {
        removed = addresses.toString();
        letGo();
      }
    }
    if (removed != null) { // a handler of the log may do anything
      LOGGER.log(Level.INFO, "an RDMA device was removed; they were at {0}", removed);
    }
  }

  @GuardedBy("this")
  private void letGo() {
    eventDescriptor = NO_DESCRIPTOR;
    addresses.close();
    addresses = null;
  }

  @Override
  public byte[] hint() {
    try (DeviceAddresses now = addresses()) {
      return now.hint();
    } catch (IOException e) {
      LOGGER.log(Level.DEBUG, "no hint", e);
      return DeviceAddresses.NO_HINT.clone();
    }
  }

  @Override
  public Doorbell openDoorbell() throws IOException {
    final VerbsDoorbell doorbell = new VerbsDoorbell(this);
    doorbells.add(doorbell);
    if (closed) {
      doorbell.close();
      throw new IOException("the fabric is closed");
    }
    return doorbell;
  }

  @Override
  public Offer offer(
      Doorbell doorbell, byte[] peerHint, int length, byte[] token, OfferListener listener)
      throws IOException {
    final VerbsDoorbell bell = own(doorbell);
    final Introduction.Token secret = Introduction.Token.of(token);
    WorkRequests.checkLength(length);
    bell.checkOpen();
    final Arrivals arrivals = bell.arrivals();
    try (DeviceAddresses now = addresses()) {
      final List<DeviceAddress> reachable = now.towards(peerHint);
      final OfferDescriptor descriptor =
          new OfferDescriptor(
              random.nextLong(),
              length,
              arrivals.port(),
              reachable.stream().map(DeviceAddress::host).toList());
      final IbvContext context = reachable.get(0).context();
      final Endpoint endpoint = Endpoint.offering(now, context, length);
      final VerbsOffer offer = new VerbsOffer(arrivals, descriptor, secret, endpoint, listener);
      boolean added = false;
      try {
        arrivals.add(offer);
        added = true;
        return offer;
      } finally {
        if (!added) {
          endpoint.release();
        }
      }
    }
  }

  @Override
  public QueuePair connect(
      Doorbell doorbell, byte[] descriptor, byte[] token, long timeoutNs, boolean datagrams)
      throws IOException {
    final VerbsDoorbell bell = own(doorbell);
    final Introduction.Token secret = Introduction.Token.of(token);
    final OfferDescriptor offer = OfferDescriptor.decode(descriptor);
    try (DeviceAddresses now = addresses()) {
      return new VerbsConnectAttempt(bell, now, offer, secret, timeoutNs, datagrams).connect();
    }
  }

  @Override
  public Domain openDomain(DomainContext context) throws IOException {
    try (DeviceAddresses now = addresses()) {
      return VerbsDomain.open(connections(), now, context);
    }
  }

  @Override
  public RemoteDomain connectDomain(byte[] descriptor, byte[] token, long timeoutNs)
      throws IOException {
    final Introduction.Token secret = Introduction.Token.of(token);
    final DomainDescriptor domain = DomainDescriptor.decode(descriptor);
    try (DeviceAddresses now = addresses()) {
      return VerbsRemoteDomain.connect(connections(), now, domain, secret, timeoutNs);
    }
  }

  private synchronized DomainConnections connections() throws IOException {
    if (closed) {
      throw new IOException("the fabric is closed");
    }
    if (connections == null) {
      connections = new DomainConnections();
    }
    return connections;
  }

  private VerbsDoorbell own(Doorbell doorbell) {
    if (doorbell instanceof VerbsDoorbell bell && bell.fabric() == this) {
      return bell;
    }
    throw new IllegalArgumentException("not of this fabric: doorbell=" + doorbell);
  }

  void remove(VerbsDoorbell doorbell) {
    doorbells.remove(doorbell);
  }

  @Override
  public void close() {
    final DomainConnections open;
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
      open = connections;
    }
    // Outside the lock, which the owners of what is closed take.
    doorbells.forEach(VerbsDoorbell::close);
    if (open != null) {
      open.close();
    }
    synchronized (this) {
      if (addresses != null) {
        letGo();
      }
    }
  }

  @Override
  public synchronized String toString() {
    return "VerbsFabric" + (addresses == null ? "[]" : addresses);
  }
}
