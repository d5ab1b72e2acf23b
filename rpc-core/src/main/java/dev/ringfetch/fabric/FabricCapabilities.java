package dev.ringfetch.fabric;

/**
 * What the frames of a ring may rely on. Everything above the fabric is written against these,
 * never against the name of a provider.
 *
 * @param writeOrder order in which the bytes of one write become visible to the remote CPU.
 * @param readAtomicity what a one-sided read of memory that is being written returns.
 * @param loadStore true when the staging view is the peer's memory itself, so that a peer's ring
 *     can be polled in place and a store needs no work request.
 * @param maxInline longest write in bytes that leaves the staging view reusable at return.
 */
public record FabricCapabilities(
    WriteOrder writeOrder, ReadAtomicity readAtomicity, boolean loadStore, int maxInline) {

  /** Order in which the bytes of one write become visible to the remote CPU. */
  public enum WriteOrder {
    /** From the lowest address to the highest. */
    ASCENDING,
    /** In any order: frames carry a checksum. */
    NONE
  }

  /** What a one-sided read of memory that is being written returns. */
  public enum ReadAtomicity {
    /** A 64-byte line arrives as it was at one moment. */
    LINE,
    /** Any mixture of old and new bytes: only a checksum or a second read proves freshness. */
    NONE
  }
}
