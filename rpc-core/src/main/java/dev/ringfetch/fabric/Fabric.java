package dev.ringfetch.fabric;

import java.io.IOException;

/**
 * An opened fabric: offers memory to peers and connects to memory that peers offer.
 *
 * <p>All methods may be called from any thread. Closing a fabric closes what it still holds; queue
 * pairs and doorbells are closed by their owners first.
 */
public interface Fabric extends AutoCloseable {
  /** Name of the provider. */
  String name();

  /** What rings on this fabric may rely on. */
  FabricCapabilities capabilities();

  /**
   * A few bytes that let a server tell, before it spends memory, whether this process could reach
   * it. Opaque to everything but the same fabric at the peer, and never a proof.
   */
  byte[] hint();

  /** Opens a doorbell for one poller, which becomes its owner. */
  Doorbell openDoorbell() throws IOException;

  /**
   * Registers zeroed memory and offers it to the one peer that presents the token.
   *
   * @param doorbell where the arrival of the peer, and later its rings, are told.
   * @param peerHint the peer's {@link #hint()}.
   * @param length of the memory in bytes, a multiple of 64.
   * @param token 16 bytes that the peer presents, once.
   * @param listener told, in the thread that owns the doorbell, when the peer has connected.
   * @throws IOException when the memory is not to be had or the peer cannot reach it, with the
   *     reason as its message.
   */
  Offer offer(Doorbell doorbell, byte[] peerHint, int length, byte[] token, OfferListener listener)
      throws IOException;

  /**
   * Connects to memory that a peer offers. Blocks for as long as the deadline lets it.
   *
   * @param doorbell where the peer's rings are told.
   * @param descriptor the offer's {@link Offer#descriptor()}.
   * @param token the offer's token.
   * @param timeoutNs how long it may take, in nanoseconds.
   * @param datagrams whether the peer may send datagrams. Where it cannot, the connection is one
   *     without: its {@link FabricCapabilities#maxDatagram()} is 0.
   * @throws IOException when the memory cannot be reached, with the reason as its message.
   */
  QueuePair connect(
      Doorbell doorbell, byte[] descriptor, byte[] token, long timeoutNs, boolean datagrams)
      throws IOException;

  /** Connects as the other one does, without datagrams. */
  default QueuePair connect(Doorbell doorbell, byte[] descriptor, byte[] token, long timeoutNs)
      throws IOException {
    return connect(doorbell, descriptor, token, timeoutNs, false);
  }

  @Override
  void close();

  /** Memory on offer to one peer. */
  interface Offer extends AutoCloseable {
    /** Where the memory is, for the peer's {@link Fabric#connect}. */
    byte[] descriptor();

    /** The memory, zeroed, as this side reaches it. */
    MemoryRegion memory();

    /**
     * Withdraws the offer. Frees the memory if no peer has connected, so the caller's threads are
     * out of it; without effect later.
     */
    @Override
    void close();
  }

  /** Told of the peer that takes an offer. */
  @FunctionalInterface
  interface OfferListener {
    /**
     * The peer has connected and presented the token. Called at most once, in the thread that owns
     * the doorbell. The receiver owns the queue pair from here on.
     */
    void onConnected(QueuePair queuePair);
  }
}
