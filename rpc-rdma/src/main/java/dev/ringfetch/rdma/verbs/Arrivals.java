package dev.ringfetch.rdma.verbs;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import dev.ringfetch.rdma.natives.ConnectionManager;
import dev.ringfetch.rdma.natives.Disni;
import dev.ringfetch.rdma.natives.Regions;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The listener of a doorbell: accepts peers at all addresses of all devices, at a port of the
 * system's choice, from the first offer on. It accepts a peer that names an offer and presents its
 * token; before that the peer learns nothing and can reach nothing.
 *
 * <p>{@link #onRequest}, {@link #onEstablished}, {@link #onFailed} and {@link #forget} belong to
 * the thread that owns the doorbell, everything else may be called from any thread.
 */
final class Arrivals {
  private static final Logger LOGGER = System.getLogger(Arrivals.class.getName());

  /**
   * One text for a wrong id and a wrong token, so that a peer cannot find out which offers there
   * are.
   */
  private static final String REFUSAL = "no such offer, or the token is wrong";

  private final VerbsDoorbell doorbell;
  private final RdmaEventChannel channel;
  private final Map<Long, VerbsOffer> offers = new ConcurrentHashMap<>();

  /** Accepted, and not connected yet; belongs to the owner. */
  private final Map<VerbsQueuePair, VerbsOffer> accepted = new HashMap<>();

  @GuardedBy("this")
  private ListeningId listening;

  @GuardedBy("this")
  private boolean closed;

  Arrivals(VerbsDoorbell doorbell, RdmaEventChannel channel) {
    this.doorbell = doorbell;
    this.channel = channel;
  }

  /** The port to connect to; listens there from the first call on. */
  synchronized int port() throws IOException {
    checkOpen();
    if (listening == null) {
      listening = ListeningId.open(channel);
    }
    return listening.port();
  }

  @GuardedBy("this")
  private void checkOpen() throws IOException {
    if (closed) {
      throw new IOException("the doorbell is closed");
    }
  }

  synchronized void add(VerbsOffer offer) throws IOException {
    checkOpen();
    offers.put(offer.id(), offer);
  }

  /** Makes the caller the owner of the offer's endpoint, unless another thread is. */
  boolean take(VerbsOffer offer) {
    return offers.remove(offer.id(), offer);
  }

  /** Handles a peer's connect request: accepts it, or rejects it with the reason. */
  void onRequest(RdmaCmId id, ByteBuffer event) {
    Endpoint endpoint = null;
    boolean let = false;
    try {
      final Introduction said = Introduction.decode(Dialing.privateData(event));
      final VerbsOffer offer = offers.get(said.offer());
      if (offer == null || !offer.token().matches(said.token()) || !take(offer)) {
        throw new IOException(REFUSAL);
      }
      endpoint = offer.endpoint();
      accept(id, offer, said);
      let = true;
    } catch (IOException e) {
      LOGGER.log(Level.DEBUG, "a peer is not let in", e);
      reject(id, e.getMessage());
    } finally {
      if (!let && endpoint != null) {
        endpoint.release();
      }
      if (!let && (endpoint == null || endpoint.id() == null)) {
        Disni.giveBack(id, RdmaCmId::destroyId);
      }
    }
  }

  private void accept(RdmaCmId id, VerbsOffer offer, Introduction said) throws IOException {
    final Endpoint endpoint = offer.endpoint();
    if (said.side().memory().length() != endpoint.memory().length()) {
      throw new IOException("the peer's copy has another length: " + said.side().memory());
    }
    endpoint.open(id, doorbell.completions());
    final ReceiveQueue receiveQueue = new ReceiveQueue(endpoint);
    DatagramSender sender = null;
    if (said.side().datagrams() != 0
        && endpoint.openDatagrams(said.token().queueKey(), DatagramSender.DEPTH, 1)) {
      sender = new DatagramSender(endpoint, said.side().datagrams());
    }
    final VerbsQueuePair queuePair =
        new VerbsQueuePair(
            doorbell,
            endpoint,
            receiveQueue,
            sender,
            null,
            said.side(),
            WorkRequestTally.SERVERS,
            Endpoint.peerAddress(id));
    Endpoint.setTimeouts(id);
    final ByteBuffer answer = Introduction.encodeAccept(endpoint.side());
    ConnectionManager.accept(
        Disni.handle(id),
        ConnectionManager.ALL,
        Endpoint.RNR_RETRIES,
        Regions.address(answer),
        answer.capacity());
    doorbell.add(queuePair, false);
    accepted.put(queuePair, offer);
    offer.letIn(queuePair);
  }

  /** Rejects a connect request, with a reason for the peer. */
  static void reject(RdmaCmId id, String reason) {
    final ByteBuffer data = Introduction.encodeReason(reason);
    try {
      ConnectionManager.reject(Disni.handle(id), Regions.address(data), data.capacity());
    } catch (IOException e) {
      LOGGER.log(Level.DEBUG, "the peer has gone again", e);
    }
  }

  /** Handles the connection of an accepted peer. Returns how many events were delivered. */
  int onEstablished(VerbsQueuePair queuePair) {
    final VerbsOffer offer = accepted.remove(queuePair);
    if (offer == null || !offer.isConnected()) {
      return 0;
    }
    queuePair.ringDoorbell(); // the greeting, which the other side's connect waits for
    try {
      offer.listener().onConnected(queuePair);
    } catch (Throwable e) {
      VerbsDoorbell.report(e);
      queuePair.close();
    }
    return 1;
  }

  /**
   * Handles a failed connection. Returns whether it was that of an accepted peer, whose offer is
   * then freed.
   */
  boolean onFailed(VerbsQueuePair queuePair) {
    final boolean isArriving = accepted.remove(queuePair) != null;
    if (isArriving) {
      queuePair.close();
    }
    return isArriving;
  }

  /**
   * Forgets a queue pair that is being freed; its peer may have been accepted and never connected.
   */
  void forget(VerbsQueuePair queuePair) {
    accepted.remove(queuePair);
  }

  /** Withdraws all offers, and listens no more. */
  synchronized void close() {
    closed = true;
    offers.values().forEach(VerbsOffer::close);
    if (listening != null) {
      listening.close();
      listening = null;
    }
  }
}
