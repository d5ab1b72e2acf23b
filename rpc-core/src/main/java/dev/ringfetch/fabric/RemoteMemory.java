package dev.ringfetch.fabric;

/**
 * Memory at the peer that this side's queue pair may reach. Opaque above the rings: only the fabric
 * that created it can interpret address and key.
 *
 * @param address of the first byte, in the peer's terms.
 * @param length in bytes.
 * @param rkey key that the peer gave out for it.
 */
public record RemoteMemory(long address, long length, int rkey) {
  /** Leaves the key out: a reader of a log must not be able to reach the memory. */
  @Override
  public String toString() {
    return "RemoteMemory[length=" + length + "]";
  }
}
