package dev.ringfetch.rdma.verbs;

/**
 * Receive requests, {@code ibv_recv_wr}, as {@link QueuePairs#postReceive} takes them: offsets in
 * bytes.
 */
final class ReceiveLayout {
  /** Bytes of a request. */
  static final int SIZE = 32;

  /** 8 bytes: comes back in the completion. */
  static final int ID = 0;

  /** 8 bytes: address of the next request, or 0. */
  static final int NEXT = 8;

  /** 8 bytes: address of the first {@link ScatterLayout} entry. */
  static final int SCATTER = 16;

  /** 4 bytes. */
  static final int SCATTER_COUNT = 24;

  private ReceiveLayout() {}
}
