package dev.ringfetch.fabric;

import java.io.IOException;

/**
 * An opened fabric: offers memory to peers and connects to memory that peers offer.
 *
 * <p>All methods may be called from any thread. Closing a fabric closes its remaining resources;
 * the owners of queue pairs and doorbells close these first.
 */
public interface Fabric extends AutoCloseable {
  /** Name of the provider. */
  String name();

  /** The guarantees that rings on this fabric may rely on. */
  FabricCapabilities capabilities();

  /**
   * A few bytes from which a server can tell, before it spends memory, whether this process could
   * reach that memory. Opaque to everything but the same fabric at the peer, and never a proof.
   */
  byte[] hint();

  /** Opens a doorbell for one poller, which becomes its owner. */
  Doorbell openDoorbell() throws IOException;

  /**
   * Registers zeroed memory and offers it to the one peer that presents the token.
   *
   * @param doorbell reports the arrival of the peer, and later its rings.
   * @param peerHint the peer's {@link #hint()}.
   * @param length of the memory in bytes, a multiple of 64.
   * @param token 16 bytes that the peer presents, once.
   * @param listener called, on the thread that owns the doorbell, when the peer has connected.
   * @throws IOException when the memory is not available or the peer cannot reach it, with the
   *     reason as its message.
   */
  Offer offer(Doorbell doorbell, byte[] peerHint, int length, byte[] token, OfferListener listener)
      throws IOException;

  /**
   * Connects to memory that a peer offers. Blocks until the timeout at most.
   *
   * @param doorbell reports the peer's rings.
   * @param descriptor the offer's {@link Offer#descriptor()}.
   * @param token the offer's token.
   * @param timeoutNs how long it may take, in nanoseconds.
   * @param datagrams whether the peer may send datagrams. Where it cannot, the connection has none:
   *     its {@link FabricCapabilities#maxDatagram()} is 0.
   * @throws IOException when the memory cannot be reached, with the reason as its message.
   */
  QueuePair connect(
      Doorbell doorbell, byte[] descriptor, byte[] token, long timeoutNs, boolean datagrams)
      throws IOException;

  /** Connects without datagrams. */
  default QueuePair connect(Doorbell doorbell, byte[] descriptor, byte[] token, long timeoutNs)
      throws IOException {
    return connect(doorbell, descriptor, token, timeoutNs, false);
  }

  /**
   * Opens a domain without segments.
   *
   * @throws IOException when this fabric has no domains, or the memory is not available.
   */
  default Domain openDomain(DomainContext context) throws IOException {
    throw new IOException("no domains: fabric=" + name());
  }

  /**
   * Connects to a domain of a peer that has admitted this process. Blocks until the timeout at
   * most.
   *
   * @param descriptor the domain's {@link Domain#descriptor()}, not verified.
   * @param token the admission's token, 16 bytes.
   * @param timeoutNs how long it may take, in nanoseconds.
   * @throws IOException when the domain cannot be reached or the token is not accepted, with the
   *     reason as its message.
   */
  default RemoteDomain connectDomain(byte[] descriptor, byte[] token, long timeoutNs)
      throws IOException {
    throw new IOException("no domains: fabric=" + name());
  }

  /**
   * Removes the memory of dead processes of this host whose gate has moved on, or that had none. To
   * be called by a successor after it has moved the gate; without effect where memory ends with its
   * process.
   */
  default void sweep() {}

  @Override
  void close();

  /** Memory on offer to one peer. */
  interface Offer extends AutoCloseable {
    /** Address of the memory, for the peer's {@link Fabric#connect}. */
    byte[] descriptor();

    /** The memory, zeroed, as this side reaches it. */
    MemoryRegion memory();

    /**
     * Withdraws the offer. Frees the memory if no peer has connected, so the caller's threads must
     * not use it any more; without effect later.
     */
    @Override
    void close();
  }

  /** Listener for the peer that takes an offer. */
  @FunctionalInterface
  interface OfferListener {
    /**
     * Called when the peer has connected and presented the token: at most once, on the thread that
     * owns the doorbell. The receiver owns the queue pair from here on.
     */
    void onConnected(QueuePair queuePair);
  }
}
