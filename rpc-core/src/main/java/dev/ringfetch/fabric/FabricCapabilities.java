package dev.ringfetch.fabric;

/**
 * What the frames of a ring may rely on. Everything above the fabric is written against these,
 * never against the name of a provider.
 *
 * @param writeOrder order in which the bytes of one write become visible to the remote CPU.
 * @param readAtomicity what a one-sided read of memory that is being written returns.
 * @param loadStore true when the staging view is the peer's memory itself, so that a peer's ring
 *     can be polled in place and a store needs no work request.
 * @param maxInline longest write in bytes that leaves the staging view reusable at return, or at
 *     {@link QueuePair#uncork} while corked.
 * @param maxDatagram longest {@linkplain QueuePair#sendDatagram datagram} in bytes; 0 where there
 *     are none.
 */
public record FabricCapabilities(
    WriteOrder writeOrder,
    ReadAtomicity readAtomicity,
    boolean loadStore,
    int maxInline,
    int maxDatagram) {

  /** Without datagrams. */
  public FabricCapabilities(
      WriteOrder writeOrder, ReadAtomicity readAtomicity, boolean loadStore, int maxInline) {
    this(writeOrder, readAtomicity, loadStore, maxInline, 0);
  }

  /** True when frames carry a checksum: a card stands between what is stored and what is loaded. */
  public boolean needChecksums() {
    return !loadStore;
  }

  /** Order in which the bytes of one write become visible to the remote CPU. */
  public enum WriteOrder {
    /** From the lowest address to the highest. */
    ASCENDING,
    /** In any order: only a checksum proves that a frame is whole. */
    NONE
  }

  /** What a one-sided read of memory that is being written returns. */
  public enum ReadAtomicity {
    /**
     * The words of a 64-byte line arrive whole and in the order that {@link QueuePair#read} asks
     * for, so that a frame whose commit word was seen is seen entire. The line need not be of one
     * moment otherwise: of a line that is stored to meanwhile, a read may return some words from
     * before and some from after.
     */
    LINE,
    /** Any mixture of old and new bytes: only a checksum or a second read proves freshness. */
    NONE
  }
}
