package dev.ringfetch.rdma.verbs;

import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.rdma.natives.Disni;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;

/**
 * An attempt to take an offer. Belongs to the thread that connects, which is not the one that owns
 * the doorbell.
 */
final class VerbsConnectAttempt {
  private static final Logger LOGGER = System.getLogger(VerbsConnectAttempt.class.getName());

  private static final long NS_PER_MS = TimeUnit.MILLISECONDS.toNanos(1);

  private final VerbsDoorbell doorbell;
  private final DeviceAddresses devices;
  private final OfferDescriptor offer;
  private final Introduction.Token token;
  private final boolean datagrams;
  private final Dialing dialing;
  private RdmaEventChannel channel; // of the address that is tried

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
    this.datagrams = datagrams;
    this.dialing = new Dialing(doorbell::checkOpen, timeoutNs);
  }

  /** Connects, or throws with the reason; the doorbell's owner then frees what was created. */
  QueuePair connect() throws IOException {
    return dialing.tryAll(offer.addresses(), offer.port(), this::tryAddress);
  }

  private QueuePair tryAddress() throws IOException {
    channel = dialing.begin();
    RdmaCmId id = null;
    Endpoint endpoint = null;
    boolean connected = false;
    try {
      id = Disni.createId(channel);
      dialing.resolve(id);
      final IbvContext context = id.getVerbs();
      endpoint = Endpoint.mirroring(devices, context, offer.length());
      endpoint.open(id, doorbell.completions());
      final ReceiveQueue receiveQueue = new ReceiveQueue(endpoint);
      DatagramReceiver receiver = datagrams ? datagramReceiver(endpoint) : null;
      final Introduction.Side peer = present(id, endpoint);
      if (receiver != null && peer.datagrams() == 0) {
        receiver = null;
        endpoint.closeDatagrams();
      } else if (receiver != null) {
        receiver.listenTo(peer.datagrams());
      }
      final boolean isOver = awaitGreeting(receiveQueue);
      final VerbsQueuePair queuePair =
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
    final RdmaEventChannel own = channel;
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

  /** Presents the token, and reads from the answer where the peer's memory is. */
  private Introduction.Side present(RdmaCmId id, Endpoint endpoint) throws IOException {
    final ByteBuffer data = new Introduction(offer.offer(), token, endpoint.side()).encode();
    final Introduction.Side peer = Introduction.decodeAccept(dialing.present(id, data));
    if (peer.memory().length() != offer.length()) {
      throw new Dialing.RefusedException(
          "the peer's memory is not the one on offer: " + peer.memory());
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
        throw new Dialing.RefusedException(dialing.address() + " has ended the connection at once");
      }
      isOver = dialing.nextEvent(NS_PER_MS); // after which the greeting is there, or never will be
    }
    return isOver;
  }
}
