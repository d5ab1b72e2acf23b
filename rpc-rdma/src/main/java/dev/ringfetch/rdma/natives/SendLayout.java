package dev.ringfetch.rdma.natives;

/**
 * Send requests, {@code ibv_send_wr}, as {@link QueuePairs#postSend} takes them: offsets in bytes,
 * opcodes and flags. A list is linked by addresses; what an opcode does not use is not read.
 * Immediate data is in network order.
 */
public final class SendLayout {
  /** Bytes of a request. */
  public static final int SIZE = 128;

  /** 8 bytes: comes back in the completion. */
  public static final int ID = 0;

  /** 8 bytes: address of the next request, or 0. */
  public static final int NEXT = 8;

  /** 8 bytes: address of the first {@link ScatterLayout} entry. */
  public static final int SCATTER = 16;

  /** 4 bytes. */
  public static final int SCATTER_COUNT = 24;

  /** 4 bytes. */
  public static final int OPCODE = 28;

  /** 4 bytes. */
  public static final int FLAGS = 32;

  /** 4 bytes, network order. */
  public static final int IMMEDIATE = 36;

  /** 4 bytes, of {@link #LOCAL_INVALIDATE}. */
  public static final int INVALIDATED_KEY = 36;

  /** 8 bytes, of WRITE, READ and atomics. */
  public static final int REMOTE_ADDRESS = 40;

  /** 4 bytes, of WRITE and READ. */
  public static final int REMOTE_KEY = 48;

  /** 8 bytes: the value to compare with, or to add. */
  public static final int ATOMIC_OPERAND = 48;

  /** 8 bytes: the value that is swapped in. */
  public static final int ATOMIC_SWAP = 56;

  /** 4 bytes: an atomic's remote key, elsewhere than a WRITE's. */
  public static final int ATOMIC_KEY = 64;

  /** 8 bytes: address handle. */
  public static final int DATAGRAM_HANDLE = 40;

  /** 4 bytes: number of the peer's queue pair. */
  public static final int DATAGRAM_QUEUE_PAIR = 48;

  /** 4 bytes. */
  public static final int DATAGRAM_QUEUE_KEY = 52;

  /** 8 bytes, of {@link #BIND_WINDOW}: the window. */
  public static final int WINDOW = 80;

  /** 4 bytes: the key that the window gets. */
  public static final int WINDOW_KEY = 88;

  /** 8 bytes: the region that it opens. */
  public static final int WINDOW_REGION = 96;

  /** 8 bytes. */
  public static final int WINDOW_ADDRESS = 104;

  /** 8 bytes. */
  public static final int WINDOW_LENGTH = 112;

  /** 4 bytes: flags of {@link RegionLayout}. */
  public static final int WINDOW_ACCESS = 120;

  /** Opcode. */
  public static final int WRITE = 0;

  /** Opcode. */
  public static final int WRITE_WITH_IMMEDIATE = 1;

  /** Opcode. */
  public static final int SEND = 2;

  /** Opcode. */
  public static final int SEND_WITH_IMMEDIATE = 3;

  /** Opcode. */
  public static final int READ = 4;

  /** Opcode. */
  public static final int COMPARE_AND_SWAP = 5;

  /** Opcode. */
  public static final int FETCH_AND_ADD = 6;

  /** Opcode. */
  public static final int LOCAL_INVALIDATE = 7;

  /** Opcode. */
  public static final int BIND_WINDOW = 8;

  /** Flag: starts after all READs and atomics before it. */
  public static final int FENCE = 1;

  /** Flag: completes in the queue. */
  public static final int SIGNALED = 2;

  /** Flag: wakes the peer even where only solicited events count. */
  public static final int SOLICITED = 4;

  /** Flag: the data is copied within the post. */
  public static final int INLINE = 8;

  private SendLayout() {}
}
