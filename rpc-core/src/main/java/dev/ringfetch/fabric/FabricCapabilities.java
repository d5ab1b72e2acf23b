package dev.ringfetch.fabric;

/**
 * The guarantees of a fabric that the frames of a ring may rely on. All layers above the fabric
 * depend on these, never on the name of a provider.
 *
 * @param writeOrder order in which the bytes of one write become visible to the remote CPU.
 * @param readAtomicity result of a one-sided read of memory that is being written.
 * @param loadStore true when the staging view is the peer's memory itself, so that a peer's ring
 *     can be polled in place and a store needs no work request.
 * @param maxInline longest write in bytes that leaves the staging view reusable at return, or at
 *     {@link QueuePair#uncork} while corked.
 * @param maxDatagram longest {@linkplain QueuePair#sendDatagram datagram} in bytes; 0 for none.
 * @param readAfterWrite true when a READ on the same connection returns memory in which every WRITE
 *     posted before it was placed.
 * @param readAfterRead true when a READ on the same connection loads after every READ posted before
 *     it.
 */
public record FabricCapabilities(
    WriteOrder writeOrder,
    ReadAtomicity readAtomicity,
    boolean loadStore,
    int maxInline,
    int maxDatagram,
    boolean readAfterWrite,
    boolean readAfterRead) {

  /** Capabilities of a fabric that grants no order between work requests and a later READ. */
  public FabricCapabilities(
      WriteOrder writeOrder,
      ReadAtomicity readAtomicity,
      boolean loadStore,
      int maxInline,
      int maxDatagram) {
    this(writeOrder, readAtomicity, loadStore, maxInline, maxDatagram, false, false);
  }

  /** Capabilities of a fabric without datagrams. */
  public FabricCapabilities(
      WriteOrder writeOrder, ReadAtomicity readAtomicity, boolean loadStore, int maxInline) {
    this(writeOrder, readAtomicity, loadStore, maxInline, 0);
  }

  /** The same capabilities, with these orders. */
  public FabricCapabilities ordered(boolean readAfterWrite, boolean readAfterRead) {
    return new FabricCapabilities(
        writeOrder,
        readAtomicity,
        loadStore,
        maxInline,
        maxDatagram,
        readAfterWrite,
        readAfterRead);
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

  /** The result of a one-sided read of memory that is being written. */
  public enum ReadAtomicity {
    /**
     * The words of a 64-byte line arrive whole and in the order that {@link QueuePair#read} asks
     * for, so that a reader that sees the commit word of a frame sees the whole frame. Otherwise
     * the words of a line may be of different times: if a line is stored to meanwhile, a read may
     * return some words from before and some from after.
     */
    LINE,
    /** Any mixture of old and new bytes: only a checksum or a second read proves freshness. */
    NONE
  }
}
