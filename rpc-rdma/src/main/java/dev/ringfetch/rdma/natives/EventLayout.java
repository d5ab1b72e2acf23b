package dev.ringfetch.rdma.natives;

/**
 * Events of the connection manager, as {@link ConnectionManager#nextEvent} writes them: offsets in
 * bytes and values.
 */
public final class EventLayout {
  /** Bytes of an event. */
  public static final int SIZE = 304;

  /** 4 bytes. */
  public static final int TYPE = 0;

  /**
   * 4 bytes: 0 or a negative errno; of a rejection the reason, 28 where the peer's program
   * rejected.
   */
  public static final int STATUS = 4;

  /** 8 bytes; the new one of a connect request. */
  public static final int ID = 8;

  /** 8 bytes, of a connect request; otherwise 0. */
  public static final int LISTEN_ID = 16;

  /** 4 bytes: the peer's queue pair. */
  public static final int PEER_NUMBER = 24;

  /** 4 bytes: READs and atomics that may be outstanding from the peer. */
  public static final int RESPONDER_DEPTH = 28;

  /** 4 bytes: READs and atomics that may be outstanding to the peer. */
  public static final int INITIATOR_DEPTH = 32;

  /** 4 bytes. */
  public static final int RETRIES = 36;

  /** 4 bytes. */
  public static final int RNR_RETRIES = 40;

  /** 4 bytes: of the private data, which the transport may have padded with zeros. */
  public static final int PRIVATE_LENGTH = 44;

  /** 256 bytes, of which the length is set. */
  public static final int PRIVATE_DATA = 48;

  /** Type. */
  public static final int ADDRESS_RESOLVED = 0;

  /** Type. */
  public static final int ADDRESS_ERROR = 1;

  /** Type. */
  public static final int ROUTE_RESOLVED = 2;

  /** Type. */
  public static final int ROUTE_ERROR = 3;

  /** Type. */
  public static final int CONNECT_REQUEST = 4;

  /** Type. */
  public static final int CONNECT_ERROR = 6;

  /** Type. */
  public static final int UNREACHABLE = 7;

  /** Type; also where nobody listens. */
  public static final int REJECTED = 8;

  /** Type. */
  public static final int ESTABLISHED = 9;

  /** Type. */
  public static final int DISCONNECTED = 10;

  /** Type: everything of this id is to be destroyed. */
  public static final int DEVICE_REMOVED = 11;

  /** Type. */
  public static final int ADDRESS_CHANGED = 14;

  /** Type. */
  public static final int TIMEWAIT_EXIT = 15;

  private EventLayout() {}
}
