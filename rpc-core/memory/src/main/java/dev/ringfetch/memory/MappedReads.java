package dev.ringfetch.memory;

import dev.ringfetch.fabric.MemoryFaults;
import dev.ringfetch.fabric.MemoryRegion;
import java.lang.invoke.VarHandle;
import java.util.function.BooleanSupplier;

/** Reads of memory that is mapped, the owner's own included. */
final class MappedReads implements RegionReads {
  private final MemoryRegion memory;
  private final BooleanSupplier granted;

  /**
   * Creates reads.
   *
   * @param granted whether the loads before are granted.
   */
  MappedReads(MemoryRegion memory, BooleanSupplier granted) {
    this.memory = memory;
    this.granted = granted;
  }

  @Override
  public long load(int offset) {
    return memory.getLongAcquire(offset);
  }

  @Override
  public void copy(int offset, int length, byte[] target) {
    memory.getBytes(offset, target, 0, length);
    VarHandle.loadLoadFence();
  }

  @Override
  public boolean isMapped() {
    return true;
  }

  @Override
  public void absorb(InternalError fault) {
    MemoryFaults.absorb(memory, fault);
  }

  @Override
  public void verify() throws LostMemoryException {
    final boolean isGranted = granted.getAsBoolean();
    memory.verify(); // last: the page that says what is granted may be gone, too
    if (!isGranted) {
      throw new LostMemoryException();
    }
  }
}
