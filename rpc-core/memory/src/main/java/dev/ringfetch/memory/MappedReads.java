package dev.ringfetch.memory;

import dev.ringfetch.fabric.MemoryFaults;
import dev.ringfetch.fabric.MemoryRegion;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.function.BooleanSupplier;

/** Reads of memory that is mapped, the owner's own included. */
final class MappedReads implements RegionReads {
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

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
    for (int i = 0; i < length; i += Long.BYTES) {
      LONG.set(target, i, memory.getLongAcquire(offset + i));
    }
  }

  @Override
  public boolean isAscending() {
    return true;
  }

  @Override
  public void absorb(InternalError fault) {
    MemoryFaults.absorb(memory, fault);
  }

  @Override
  public void verify() throws LostMemoryException {
    memory.verify();
    if (!granted.getAsBoolean()) {
      throw new LostMemoryException();
    }
  }
}
