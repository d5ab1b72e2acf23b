package dev.ringfetch.rdma.natives;

/**
 * Completions, {@code ibv_wc}, as {@link CompletionQueues#poll} writes them: offsets in bytes and
 * values. After an error only {@link #ID} and {@link #STATUS}, and by the manual {@link
 * #QUEUE_PAIR} and {@link #VENDOR_ERROR}, are set.
 */
public final class CompletionLayout {
  /** Bytes of a completion. */
  public static final int SIZE = 48;

  /** 8 bytes: the request's. */
  public static final int ID = 0;

  /** 4 bytes. */
  public static final int STATUS = 8;

  /** 4 bytes. */
  public static final int OPCODE = 12;

  /** 4 bytes. */
  public static final int VENDOR_ERROR = 16;

  /** 4 bytes: of what was received or READ; a datagram's with its route header. */
  public static final int LENGTH = 20;

  /** 4 bytes, network order. */
  public static final int IMMEDIATE = 24;

  /** 4 bytes: number of the local queue pair. */
  public static final int QUEUE_PAIR = 28;

  /** 4 bytes: number of a datagram's sender. */
  public static final int SOURCE_QUEUE_PAIR = 32;

  /** 4 bytes. */
  public static final int FLAGS = 36;

  /** Bytes before a datagram in its receive. */
  public static final int ROUTE_HEADER = 40;

  /** Status. */
  public static final int SUCCESS = 0;

  /** Status: local memory is not registered for this. */
  public static final int LOCAL_PROTECTION_ERROR = 4;

  /** Status: not executed, because the queue pair is in error. */
  public static final int FLUSHED = 5;

  /** Status: the peer's device refused the access. */
  public static final int REMOTE_ACCESS_ERROR = 10;

  /** Status: the peer does not acknowledge. */
  public static final int RETRIES_EXCEEDED = 12;

  /** Status: the peer had no receive. */
  public static final int RNR_RETRIES_EXCEEDED = 13;

  /** Opcode. */
  public static final int SEND = 0;

  /** Opcode. */
  public static final int WRITE = 1;

  /** Opcode. */
  public static final int READ = 2;

  /** Opcode. */
  public static final int COMPARE_AND_SWAP = 3;

  /** Opcode. */
  public static final int FETCH_AND_ADD = 4;

  /** Opcode. */
  public static final int BIND_WINDOW = 5;

  /** Opcode. */
  public static final int LOCAL_INVALIDATE = 6;

  /** Opcode; its bit is set in all that take a receive. */
  public static final int RECEIVE = 128;

  /** Opcode. */
  public static final int RECEIVE_WRITE_WITH_IMMEDIATE = 129;

  /** Flag. */
  public static final int HAS_ROUTE_HEADER = 1;

  /** Flag. */
  public static final int HAS_IMMEDIATE = 2;

  private CompletionLayout() {}
}
