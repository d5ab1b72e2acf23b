package dev.ringfetch.rdma.natives;

import java.io.IOException;

/**
 * Unreliable datagrams: queue pairs without a connection, and handles of the addresses that they
 * send to. Posting and completions are those of {@link QueuePairs} and {@link CompletionQueues}; a
 * receive begins with {@link CompletionLayout#ROUTE_HEADER} bytes before the datagram.
 */
public final class Datagrams {
  private Datagrams() {}

  /**
   * Creates a queue pair, which is not ready yet.
   *
   * @param capacity as for {@link QueuePairs#create}.
   */
  public static native long create(long domain, long sendQueue, long receiveQueue, long capacity)
      throws IOException;

  /**
   * Makes a new queue pair ready to receive and to send.
   *
   * @param port of the device.
   * @param partition index of the partition key, 0 for the default one.
   * @param queueKey that senders must present.
   */
  public static native void activate(long queuePair, int port, int partition, int queueKey)
      throws IOException;

  /** Destroys a queue pair. */
  public static native void destroy(long queuePair) throws IOException;

  /**
   * Creates a handle from an address.
   *
   * @param port of the local device.
   * @param gidIndex of the local address to come from.
   * @param gid address of the peer's 16 bytes, or 0 where the local identifier suffices.
   * @param lid the peer's local identifier, 0 on Ethernet.
   */
  public static native long createHandle(
      long domain, int port, int gidIndex, long gid, int lid, int serviceLevel, int hopLimit)
      throws IOException;

  /** Creates a handle of the host at the other end of a connected queue pair. */
  public static native long createHandleOfPeer(long domain, long queuePair) throws IOException;

  /**
   * Creates a handle of a received datagram's sender.
   *
   * @param completion address of its completion.
   * @param routeHeader address of the first bytes of its receive.
   */
  public static native long createHandleOfSender(
      long domain, long completion, long routeHeader, int port) throws IOException;

  /** Destroys a handle that no posted request uses. */
  public static native void destroyHandle(long handle) throws IOException;
}
