package dev.ringfetch.rdma.natives;

/**
 * Receive requests, {@code ibv_recv_wr}, as {@link QueuePairs#postReceive} takes them: offsets in
 * bytes.
 */
public final class ReceiveLayout {
  /** Bytes of a request. */
  public static final int SIZE = 32;

  /** 8 bytes: comes back in the completion. */
  public static final int ID = 0;

  /** 8 bytes: address of the next request, or 0. */
  public static final int NEXT = 8;

  /** 8 bytes: address of the first {@link ScatterLayout} entry. */
  public static final int SCATTER = 16;

  /** 4 bytes. */
  public static final int SCATTER_COUNT = 24;

  private ReceiveLayout() {}
}
