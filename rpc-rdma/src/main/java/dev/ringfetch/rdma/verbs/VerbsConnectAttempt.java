package dev.ringfetch.rdma.verbs;

import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.rdma.natives.AddressLayout;
import dev.ringfetch.rdma.natives.ConnectionManager;
import dev.ringfetch.rdma.natives.Disni;
import dev.ringfetch.rdma.natives.Errors;
import dev.ringfetch.rdma.natives.EventLayout;
import dev.ringfetch.rdma.natives.Regions;
import dev.ringfetch.rdma.natives.Request;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;

/**
 * An attempt to take an offer, under one deadline: tries the addresses one after the other, each
 * with its share of the remaining time, until a host answers at one. Belongs to the thread that
 * connects, which is not the one that owns the doorbell, and takes events from a channel of its
 * own.
 */
final class VerbsConnectAttempt {
  private static final Logger LOGGER = System.getLogger(VerbsConnectAttempt.class.getName());

  /** How long one wait takes at the most, after which an interrupt is noticed. */
  private static final long SLICE_NS = TimeUnit.MILLISECONDS.toNanos(50);

  private static final long NS_PER_MS = TimeUnit.MILLISECONDS.toNanos(1);

  /** Status of a rejection by the peer's program. */
  private static final int BY_THE_PEER = 28;

  private final VerbsDoorbell doorbell;
  private final DeviceAddresses devices;
  private final OfferDescriptor offer;
  private final Introduction.Token token;
  private final long timeoutNs;
  private final boolean datagrams;
  private final long startNs = System.nanoTime();
  private final ByteBuffer event = Request.direct(EventLayout.SIZE);

  // Of the address that is tried.
  private InetSocketAddress address;
  private RdmaEventChannel channel;
  private long limitNs;

  /** Creates an attempt, with this host's devices, which the caller holds. */
  VerbsConnectAttempt(
      VerbsDoorbell doorbell,
      DeviceAddresses devices,
      OfferDescriptor offer,
      Introduction.Token token,
      long timeoutNs,
      boolean datagrams) {
    this.doorbell = doorbell;
    this.devices = devices;
    this.offer = offer;
    this.token = token;
    this.timeoutNs = timeoutNs;
    this.datagrams = datagrams;
  }

  /** Thrown when the peer has rejected; it would reject at its other addresses, too. */
  private static final class RefusedException extends IOException {
    private static final long serialVersionUID = 1L;

    RefusedException(String message) {
      super(message);
    }
  }

  /** Connects, or throws with the reason; the doorbell's owner then frees what was created. */
  QueuePair connect() throws IOException {
    IOException first = null;
    int left = offer.addresses().size();
    for (InetAddress host : offer.addresses()) {
      address = new InetSocketAddress(host, offer.port());
      long passedNs = System.nanoTime() - startNs;
      limitNs = passedNs + (timeoutNs - passedNs) / left--;
      try {
        return tryAddress();
      } catch (RefusedException | InterruptedIOException e) {
        throw e;
      } catch (IOException e) {
        IOException failed =
            new IOException("cannot connect to " + address + ": " + e.getMessage(), e);
        if (first == null) {
          first = failed;
        } else {
          first.addSuppressed(failed);
        }
      }
    }
    throw first;
  }

  private QueuePair tryAddress() throws IOException {
    channel = RdmaEventChannel.createEventChannel();
    RdmaCmId id = null;
    Endpoint endpoint = null;
    boolean connected = false;
    try {
      id = Disni.createId(channel);
      resolve(id);
      IbvContext context = id.getVerbs();
      endpoint = Endpoint.mirroring(devices, context, offer.length());
      endpoint.open(id, doorbell.completions());
      ReceiveQueue receiveQueue = new ReceiveQueue(endpoint);
      DatagramReceiver receiver = datagrams ? datagramReceiver(endpoint) : null;
      Introduction.Side peer = present(id, endpoint);
      if (receiver != null && peer.datagrams() == 0) {
        receiver = null;
        endpoint.closeDatagrams();
      } else if (receiver != null) {
        receiver.listenTo(peer.datagrams());
      }
      boolean isOver = awaitGreeting(receiveQueue);
      VerbsQueuePair queuePair =
          new VerbsQueuePair(
              doorbell,
              endpoint,
              receiveQueue,
              null,
              receiver,
              peer,
              WorkRequestTally.CLIENTS,
              Endpoint.peerAddress(id));
      doorbell.add(queuePair, true);
      connected = true;
      if (isOver) {
        queuePair.end(VerbsDoorbell.PEER_ENDED);
      }
      return queuePair;
    } finally {
      if (connected) {
        Disni.giveBack(channel, RdmaEventChannel::destroyEventChannel);
      } else {
        giveBack(id, endpoint);
      }
    }
  }

  /**
   * Leaves the freeing to the doorbell's owner, which may be polling the endpoint's completions.
   */
  private void giveBack(RdmaCmId id, Endpoint endpoint) {
    RdmaEventChannel own = channel;
    doorbell.giveBack(
        () -> {
          if (endpoint != null) {
            endpoint.release();
          }
          if (endpoint == null || endpoint.id() == null) {
            Disni.giveBack(id, RdmaCmId::destroyId);
          }
          Disni.giveBack(own, RdmaEventChannel::destroyEventChannel);
        });
  }

  /** Null where the device has no datagrams, or this side no memory for them. */
  private DatagramReceiver datagramReceiver(Endpoint endpoint) {
    if (!endpoint.openDatagrams(token.queueKey(), 1, DatagramReceiver.DEPTH)) {
      return null;
    }
    try {
      return new DatagramReceiver(endpoint);
    } catch (IOException e) {
      LOGGER.log(Level.DEBUG, "no datagrams", e);
      endpoint.closeDatagrams();
      return null;
    }
  }

  private void resolve(RdmaCmId id) throws IOException {
    ByteBuffer destination = Request.direct(AddressLayout.SIZE);
    AddressLayout.encode(address, destination);
    ConnectionManager.resolveAddress(Disni.handle(id), 0, Regions.address(destination), leftMs());
    await(EventLayout.ADDRESS_RESOLVED);
    Endpoint.setTimeouts(id);
    id.resolveRoute(leftMs());
    await(EventLayout.ROUTE_RESOLVED);
    // There is a host. A request that it answers late has taken the offer, so no other is tried.
    limitNs = timeoutNs;
  }

  /** Presents the token, and reads from the answer where the peer's memory is. */
  private Introduction.Side present(RdmaCmId id, Endpoint endpoint) throws IOException {
    ByteBuffer data = new Introduction(offer.offer(), token, endpoint.side()).encode();
    ConnectionManager.connect(
        Disni.handle(id),
        ConnectionManager.ALL,
        Endpoint.RETRIES,
        Endpoint.RNR_RETRIES,
        Regions.address(data),
        data.capacity());
    await(EventLayout.ESTABLISHED);
    Introduction.Side peer = Introduction.decodeAccept(Arrivals.privateData(event));
    if (peer.memory().length() != offer.length()) {
      throw new RefusedException("the peer's memory is not the one on offer: " + peer.memory());
    }
    return peer;
  }

  /**
   * Waits until the peer's program knows of the connection. Until then only its kernel does:
   * requests posted to a peer that has died in between would reach nobody.
   *
   * @return whether the peer has ended the connection since.
   */
  private boolean awaitGreeting(ReceiveQueue receiveQueue) throws IOException {
    boolean isOver = false;
    while (!receiveQueue.takeGreeting()) {
      if (isOver) {
        throw new RefusedException(address + " has ended the connection at once");
      }
      isOver = nextEvent(NS_PER_MS); // after which the greeting is there, or never will be
    }
    return isOver;
  }

  private void await(int wanted) throws IOException {
    boolean any;
    do {
      any = nextEvent(SLICE_NS);
    } while (!any);
    if (event.getInt(EventLayout.TYPE) != wanted) {
      throw failed();
    }
  }

  /** Waits for an event for a while. */
  private boolean nextEvent(long sliceNs) throws IOException {
    int sliceMs = (int) Math.min(sliceNs / NS_PER_MS, leftMs());
    int count = ConnectionManager.nextEvent(Disni.handle(channel), Regions.address(event), sliceMs);
    if (Thread.currentThread().isInterrupted()) {
      throw new InterruptedIOException("interrupted while connecting");
    }
    doorbell.checkOpen();
    if (count < 0) {
      throw new IOException("no events: " + Errors.errnoText(count));
    }
    return count > 0;
  }

  private IOException failed() {
    int type = event.getInt(EventLayout.TYPE);
    int status = event.getInt(EventLayout.STATUS);
    if (type == EventLayout.REJECTED && status == BY_THE_PEER) {
      return new RefusedException(
          address + " refused: " + Introduction.decodeReason(Arrivals.privateData(event)));
    }
    if (type == EventLayout.REJECTED) {
      return new IOException("nobody listens there: status=" + status);
    }
    String why = status < 0 ? Errors.errnoText(status) : "status=" + status;
    return new IOException(Errors.connectionEventText(type) + ": " + why);
  }

  /** Time that is left for this address, in milliseconds, rounded up; never 0. */
  private int leftMs() throws IOException {
    long leftNs = limitNs - (System.nanoTime() - startNs);
    if (leftNs <= 0) {
      throw new IOException("no answer in time: timeoutNs=" + timeoutNs);
    }
    return (int) Math.min(Integer.MAX_VALUE, leftNs / NS_PER_MS + 1);
  }
}
