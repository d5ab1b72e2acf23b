package dev.ringfetch.rdma.natives;

import java.io.IOException;

/**
 * Native operations of rdma_cm that DiSNI lacks: addresses of both families, private data, events.
 *
 * <p>Channels and ids are DiSNI's objects, passed as {@link Disni#handle handles}. No call waits
 * for a peer: {@link #nextEvent} reports the result. Calls on one id belong to one thread at a
 * time.
 */
public final class ConnectionManager {
  /** As depths of READs and atomics: as many as the device, and on accept also the peer, can do. */
  public static final int ALL = 255;

  /** Longest private data of connect, in bytes. */
  public static final int CONNECT_DATA = 56;

  /** Longest private data of accept, in bytes. */
  public static final int ACCEPT_DATA = 196;

  /** Longest private data of reject, in bytes. */
  public static final int REJECT_DATA = 148;

  private ConnectionManager() {}

  /** Descriptor that is readable when a channel has events. */
  public static native int channelDescriptor(long channel);

  /**
   * Takes a channel's next event, acknowledged already, in the layout of {@link EventLayout}. For a
   * connect request the new id belongs to the caller: {@link Disni#requested}.
   *
   * @param out address of {@link EventLayout#SIZE} bytes.
   * @param timeoutMs in milliseconds; 0 only looks, a negative one waits without end.
   * @return 1, 0 on timeout, or a negative errno.
   */
  public static native int nextEvent(long channel, long out, int timeoutMs);

  /** Moves an id's events to another channel; waits until no event of it is being taken. */
  public static native void migrate(long id, long channel) throws IOException;

  /** Lets an id bind to a port that another connection has not quite left. */
  public static native void setReuseAddress(long id, boolean reuse) throws IOException;

  /**
   * Sets how long the queue pair waits for an acknowledgement before it sends again: 4.096
   * microseconds times two to the power of the exponent. Before the connection is made.
   */
  public static native void setAckTimeout(long id, int exponent) throws IOException;

  /** Sets the type of service of the packets. Before the route is resolved. */
  public static native void setTypeOfService(long id, int typeOfService) throws IOException;

  /** Binds an id to a local address in a layout of {@link AddressLayout}. */
  public static native void bind(long id, long address) throws IOException;

  /**
   * Begins to resolve a peer's address to a device.
   *
   * @param source address of the local address to come from, or 0 for any.
   * @param destination address of the peer's address.
   * @param timeoutMs of the resolution, in milliseconds.
   */
  public static native void resolveAddress(long id, long source, long destination, int timeoutMs)
      throws IOException;

  /**
   * Begins to connect.
   *
   * @param depths how many READs and atomics may be outstanding each way, or {@link #ALL}.
   * @param retries of a lost packet, at most 7.
   * @param rnrRetries of a SEND without a receive at the peer; 7 is without end.
   * @param data address of private data.
   * @param length of it, at most {@link #CONNECT_DATA}.
   */
  public static native void connect(
      long id, int depths, int retries, int rnrRetries, long data, int length) throws IOException;

  /** Accepts a connect request, with private data of at most {@link #ACCEPT_DATA} bytes. */
  public static native void accept(long id, int depths, int rnrRetries, long data, int length)
      throws IOException;

  /** Rejects a connect request, with private data of at most {@link #REJECT_DATA} bytes. */
  public static native void reject(long id, long data, int length) throws IOException;

  /** Device context that an id is bound to, or 0. It belongs to the connection manager. */
  public static native long context(long id);

  /** Port of the device that an id is bound to. */
  public static native int port(long id);

  /** Copies an id's local address: {@link AddressLayout#SIZE} bytes, family 0 if it has none. */
  public static native void localAddress(long id, long out);

  /** Copies an id's peer's address: {@link AddressLayout#SIZE} bytes, family 0 if it has none. */
  public static native void peerAddress(long id, long out);
}
