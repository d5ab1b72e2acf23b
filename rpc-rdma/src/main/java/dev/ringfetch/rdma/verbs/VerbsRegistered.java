package dev.ringfetch.rdma.verbs;

import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.RegisteredMemory;
import dev.ringfetch.fabric.RemoteMemory;
import java.nio.ByteBuffer;

/**
 * Memory of this side that its peer may READ. The registration ends with the connection; the memory
 * stays as long as an object refers to it.
 */
final class VerbsRegistered implements RegisteredMemory {
  private final VerbsMemory memory;
  private final byte[] descriptor;

  /**
   * Describes memory.
   *
   * @param memory that is registered for the peer's READs.
   * @param owner this side's copy of the session's memory.
   * @param number of the memory at this side.
   */
  VerbsRegistered(VerbsMemory memory, RemoteMemory owner, int number) {
    this.memory = memory;
    this.descriptor = new RegisteredDescriptor(owner, number, memory.named()).encode();
  }

  @Override
  public MemoryRegion region() {
    return memory;
  }

  @Override
  public byte[] descriptor() {
    return descriptor.clone();
  }

  @Override
  public ByteBuffer buffer(int offset, int length) {
    return memory.slice(offset, length);
  }

  /** Without effect: the peer takes a descriptor once, and nothing is kept for it here. */
  @Override
  public void settled() {}

  /** Without effect: an application's buffer refers to the memory. */
  @Override
  public void keep() {}
}
