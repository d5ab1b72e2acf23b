package dev.ringfetch.rdma.natives;

/**
 * Capacity of a queue pair, {@code ibv_qp_cap}, and its attributes, {@code ibv_qp_attr}, as {@link
 * QueuePairs#query} writes them: offsets in bytes and values.
 */
public final class QueuePairLayout {
  /** Bytes of a capacity. */
  public static final int CAPACITY_SIZE = 20;

  /** 4 bytes, within the capacity: send requests outstanding. */
  public static final int MAX_SENDS = 0;

  /** 4 bytes, within the capacity: receive requests outstanding. */
  public static final int MAX_RECEIVES = 4;

  /** 4 bytes, within the capacity. */
  public static final int MAX_SEND_SCATTERS = 8;

  /** 4 bytes, within the capacity. */
  public static final int MAX_RECEIVE_SCATTERS = 12;

  /** 4 bytes, within the capacity. */
  public static final int MAX_INLINE = 16;

  /** Bytes of the attributes. */
  public static final int SIZE = 144;

  /** 4 bytes. */
  public static final int STATE = 0;

  /** 4 bytes: 1 is 256 bytes, each next one twice as much. */
  public static final int PATH_MTU = 8;

  /** 4 bytes. */
  public static final int PEER_NUMBER = 28;

  /** 4 bytes: flags of {@link RegionLayout}. */
  public static final int ACCESS = 32;

  /** The capacity. */
  public static final int CAPACITY = 36;

  /** 2 bytes: index of the partition in the port's table. */
  public static final int PARTITION = 120;

  /** 1 byte: own READs and atomics outstanding. */
  public static final int MAX_READS = 126;

  /** 1 byte: the peer's READs and atomics outstanding. */
  public static final int MAX_PEER_READS = 127;

  /** 1 byte. */
  public static final int MIN_RNR_TIMER = 128;

  /** 1 byte. */
  public static final int PORT = 129;

  /** 1 byte: exponent. */
  public static final int ACK_TIMEOUT = 130;

  /** 1 byte. */
  public static final int RETRIES = 131;

  /** 1 byte. */
  public static final int RNR_RETRIES = 132;

  /** State. */
  public static final int READY_TO_SEND = 3;

  /** State. */
  public static final int ERROR = 6;

  private QueuePairLayout() {}
}
