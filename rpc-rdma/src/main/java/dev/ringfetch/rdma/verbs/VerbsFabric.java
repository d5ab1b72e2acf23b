package dev.ringfetch.rdma.verbs;

import com.ibm.disni.verbs.IbvContext;
import dev.ringfetch.fabric.Doorbell;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricCapabilities;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.WorkRequests;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Registered memory of each side's own, and reliable connections between the two through the RDMA
 * devices that this host had when the fabric was opened.
 */
final class VerbsFabric implements Fabric {
  private final SecureRandom random = new SecureRandom();
  private final DeviceAddresses addresses;
  private final Set<VerbsDoorbell> doorbells = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  VerbsFabric() throws IOException {
    addresses = DeviceAddresses.find();
  }

  /**
   * What rings may rely on.
   *
   * <p>{@code ASCENDING} is what devices do that place a WRITE by increasing address, as all in
   * common use are set up to (relaxed ordering is never asked for); no specification promises it.
   * Frames on this fabric carry a checksum beside it. {@code NONE}: a READ is executed while the
   * CPU stores, in pieces that the device chooses.
   */
  static FabricCapabilities capabilities(int maxInline, int maxDatagram) {
    return new FabricCapabilities(
        FabricCapabilities.WriteOrder.ASCENDING,
        FabricCapabilities.ReadAtomicity.NONE,
        false,
        maxInline,
        maxDatagram);
  }

  @Override
  public String name() {
    return VerbsProvider.NAME;
  }

  /** Which data is inline, and datagrams, each device grants at each connection. */
  @Override
  public FabricCapabilities capabilities() {
    return capabilities(0, 0);
  }

  @Override
  public byte[] hint() {
    return addresses.hint();
  }

  @Override
  public Doorbell openDoorbell() throws IOException {
    VerbsDoorbell doorbell = new VerbsDoorbell(this);
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
    VerbsDoorbell bell = own(doorbell);
    Introduction.Token secret = Introduction.Token.of(token);
    WorkRequests.checkLength(length);
    bell.checkOpen();
    List<DeviceAddress> reachable = addresses.towards(peerHint);
    Arrivals arrivals = bell.arrivals();
    OfferDescriptor descriptor =
        new OfferDescriptor(
            random.nextLong(),
            length,
            arrivals.port(),
            reachable.stream().map(DeviceAddress::host).toList());
    IbvContext context = reachable.get(0).context();
    Endpoint endpoint = Endpoint.offering(context, length);
    VerbsOffer offer = new VerbsOffer(arrivals, descriptor, secret, endpoint, context, listener);
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

  @Override
  public QueuePair connect(
      Doorbell doorbell, byte[] descriptor, byte[] token, long timeoutNs, boolean datagrams)
      throws IOException {
    VerbsDoorbell bell = own(doorbell);
    Introduction.Token secret = Introduction.Token.of(token);
    return new Connector(bell, OfferDescriptor.decode(descriptor), secret, timeoutNs, datagrams)
        .connect();
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
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    doorbells.forEach(VerbsDoorbell::close);
    addresses.close();
  }

  @Override
  public String toString() {
    return "VerbsFabric" + addresses;
  }
}
