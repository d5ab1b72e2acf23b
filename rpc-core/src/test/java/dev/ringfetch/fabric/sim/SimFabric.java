package dev.ringfetch.fabric.sim;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.Domain;
import dev.ringfetch.fabric.DomainContext;
import dev.ringfetch.fabric.Doorbell;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricCapabilities;
import dev.ringfetch.fabric.GatePage;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.RemoteDomain;
import dev.ringfetch.fabric.WorkRequests;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** One process of a simulated network. It can be killed, and what its side does can be held up. */
public final class SimFabric implements Fabric {
  /** Name of the fabric. */
  public static final String NAME = "sim";

  private static final byte[] HINT = "sim".getBytes(UTF_8);
  private static final int TOKEN_LENGTH = 16;

  private final SimNetwork network;
  private final Nic nic;
  private final List<SimDoorbell> doorbells = new ArrayList<>();
  private final List<SimQueuePair> queuePairs = new ArrayList<>();
  private final List<SimDomain> domains = new ArrayList<>();
  private final List<SimRemoteDomain> remoteDomains = new ArrayList<>();
  private boolean dead;
  private boolean closed;
  private long ringsHeldUntilNs;
  private long writesHeldUntilNs;
  private int refusals;

  SimFabric(SimNetwork network) {
    this.network = network;
    this.nic = new Nic(network.context().nic(), network.timeline());
  }

  SimNetwork network() {
    return network;
  }

  Nic nic() {
    return nic;
  }

  /** How often this process's card found the state of a connection not at hand. */
  public long misses() {
    return nic.misses();
  }

  /** True after {@link #kill}. */
  public boolean isDead() {
    return dead;
  }

  /**
   * The process ends here and now, wherever it was; what it does is without effect from here on.
   * Its peers learn of it later.
   *
   * @param keepStores true when what its CPU had stored becomes visible still: a process was
   *     killed; false when it is lost: a machine was.
   */
  public void kill(boolean keepStores) {
    dead = true;
    network.offers().values().removeIf(offer -> offer.process() == this);
    for (final SimQueuePair queuePair : queuePairs) {
      queuePair.kill(keepStores);
    }
    synchronized (network) {
      domains.forEach(domain -> domain.kill(keepStores));
      remoteDomains.forEach(domain -> domain.kill(keepStores));
    }
  }

  /** Rings and ends on their way to this process wait until then. */
  public void holdRingsUntil(long timeNs) {
    ringsHeldUntilNs = timeNs;
  }

  /** What this process has written, and is not visible yet, stays so until then. */
  public void holdWritesUntil(long timeNs) {
    writesHeldUntilNs = timeNs;
  }

  /** How much longer what this process has written is held. */
  long writeDelayNs() {
    return Math.max(0, writesHeldUntilNs - network.timeline().nowNs());
  }

  /** How long a ring or an end takes to this process. */
  long ringDelayNs() {
    return Math.max(0, ringsHeldUntilNs - network.timeline().nowNs()) + network.delayNs();
  }

  /** The next connects of this process fail. */
  public void refuse(int connects) {
    refusals = connects;
  }

  /** Breaks the connections of this process underneath both sides. */
  public void breakConnections() {
    for (final SimQueuePair queuePair : List.copyOf(queuePairs)) {
      queuePair.breakDown("the fabric broke");
    }
    synchronized (network) {
      remoteDomains.forEach(SimRemoteDomain::endNow);
    }
  }

  void remove(SimQueuePair queuePair) {
    if (queuePairs.remove(queuePair)) {
      nic.disconnect(queuePair.connection());
    }
  }

  private void add(SimQueuePair queuePair) {
    queuePairs.add(queuePair);
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public FabricCapabilities capabilities() {
    return network.capabilities(false);
  }

  @Override
  public byte[] hint() {
    return HINT.clone();
  }

  @Override
  public Doorbell openDoorbell() {
    synchronized (network) {
      final SimDoorbell doorbell = new SimDoorbell(network);
      doorbells.add(doorbell);
      return doorbell;
    }
  }

  @Override
  public Offer offer(
      Doorbell doorbell, byte[] peerHint, int length, byte[] token, OfferListener listener)
      throws IOException {
    WorkRequests.checkLength(length);
    checkToken(token);
    checkHint(peerHint);
    synchronized (network) {
      final SimDoorbell bell = own(doorbell);
      final SimRegion memory = new SimRegion(this, new DirectRegion(length));
      network.regions().add(memory);
      final SimOffer offer = new SimOffer(this, bell, memory, token, listener, network.nextId());
      if (!dead) {
        network.offers().put(offer.id(), offer);
      }
      return offer;
    }
  }

  @Override
  public QueuePair connect(
      Doorbell doorbell, byte[] descriptor, byte[] token, long timeoutNs, boolean datagrams)
      throws IOException {
    checkToken(token);
    if (descriptor.length != Long.BYTES) {
      throw new IOException("malformed descriptor: length=" + descriptor.length);
    }
    synchronized (network) {
      final SimDoorbell bell = own(doorbell);
      final SimOffer offer = network.offers().get(ByteBuffer.wrap(descriptor).getLong());
      if (offer == null || !offer.isToken(token) || dead || refusals-- > 0) {
        throw new IOException("no such offer");
      }
      network.offers().remove(offer.id());
      final SimQueuePair client =
          pair(offer, bell, datagrams && network.context().maxDatagram() > 0);
      if (!network.await(offer::isAccepted, timeoutNs) && !network.isDriven()) {
        client.close();
        throw new IOException("the peer did not answer in time: timeoutNs=" + timeoutNs);
      }
      return client;
    }
  }

  private SimQueuePair pair(SimOffer offer, SimDoorbell bell, boolean withDatagrams) {
    final DirectRegion memory = offer.memory().memory();
    final SimRegion view;
    if (network.context().loadStore()) {
      view = new SimRegion(this, memory);
    } else { // registered memory of its own
      view = new SimRegion(this, new DirectRegion(memory.length()));
    }
    network.regions().add(view);
    final int rkey = network.timeline().random().nextInt();
    final SimQueuePair client = new SimQueuePair(this, bell, view, rkey, "sim server");
    final SimFabric owner = offer.process();
    final SimQueuePair server =
        new SimQueuePair(owner, offer.doorbell(), offer.memory(), rkey, "sim client");
    final SimDatagrams datagrams = withDatagrams ? new SimDatagrams(network, server, client) : null;
    client.connectTo(server, datagrams);
    server.connectTo(client, datagrams);
    add(client);
    owner.add(server);
    network
        .timeline()
        .after(owner.ringDelayNs(), "arrival", () -> offer.doorbell().arrived(offer, server));
    network.changed();
    return client;
  }

  private SimDoorbell own(Doorbell doorbell) throws IOException {
    if (!(doorbell instanceof SimDoorbell bell) || !doorbells.contains(bell)) {
      throw new IllegalArgumentException("not of this fabric: doorbell=" + doorbell);
    }
    if (closed || bell.isClosed()) {
      throw new IOException("closed");
    }
    return bell;
  }

  /**
   * The gate of a page that outlives processes, as a file does: each owner in turn opens it anew.
   */
  public GatePage openGate(DirectRegion page) {
    synchronized (network) {
      final SimRegion view = new SimRegion(this, page);
      final GatePage gate = GatePage.in(view);
      view.drain();
      return gate;
    }
  }

  @Override
  public Domain openDomain(DomainContext context) throws IOException {
    synchronized (network) {
      checkOpen();
      final SimDomain domain = new SimDomain(this, context);
      domains.add(domain);
      network.domains().put(domain.id(), domain);
      return domain;
    }
  }

  @Override
  public RemoteDomain connectDomain(byte[] descriptor, byte[] token, long timeoutNs)
      throws IOException {
    checkToken(token);
    final long id = SimDomain.id(descriptor);
    synchronized (network) {
      checkOpen();
      final SimDomain domain = network.domains().get(id);
      if (domain == null || (refusals > 0 && refusals-- > 0)) {
        throw new IOException("no such domain");
      }
      final SimRemoteDomain remote = domain.connect(this, descriptor, token);
      remoteDomains.add(remote);
      return remote;
    }
  }

  private void checkOpen() throws IOException {
    if (closed || dead) {
      throw new IOException("closed");
    }
  }

  void forget(SimDomain domain) {
    domains.remove(domain);
  }

  void forget(SimRemoteDomain domain) {
    remoteDomains.remove(domain);
  }

  static void checkHint(byte[] peerHint) throws IOException {
    if (!Arrays.equals(HINT, peerHint)) {
      throw new IOException("the peer is not of this network");
    }
  }

  static void checkToken(byte[] token) {
    if (token.length != TOKEN_LENGTH) {
      throw new IllegalArgumentException("not 16 bytes: token.length=" + token.length);
    }
  }

  @Override
  public void close() {
    synchronized (network) {
      closed = true;
      doorbells.forEach(SimDoorbell::close);
      List.copyOf(queuePairs).forEach(SimQueuePair::close);
      List.copyOf(domains).forEach(SimDomain::close);
      List.copyOf(remoteDomains).forEach(SimRemoteDomain::close);
      network.offers().values().removeIf(offer -> offer.process() == this);
    }
  }
}
