package dev.ringfetch.fabric.shm;

import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.RegisteredMemory;
import java.nio.ByteBuffer;

/**
 * Registered memory of shm: a file of this process that one peer maps. Its {@link Link} gives the
 * pages back.
 */
record ShmMemory(SessionFile file, SessionAddress address) implements RegisteredMemory {
  @Override
  public MemoryRegion region() {
    return file.region();
  }

  @Override
  public byte[] descriptor() {
    return address.encode();
  }

  @Override
  public ByteBuffer buffer(int offset, int length) {
    return file.region().slice(offset, length);
  }

  @Override
  public void settled() {
    file.unlink();
  }

  @Override
  public void keep() {
    file.keep();
  }

  @Override
  public String toString() {
    return "ShmMemory[" + address.name() + "]";
  }
}
