package dev.ringfetch.rdma.verbs;

import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.MappedRegion;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.RemoteMemory;
import dev.ringfetch.rdma.natives.RegionLayout;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Zeroed memory of this process that is registered in one connection's protection domain. The
 * registration ends with {@link #deregister}; the memory itself stays as long as an object refers
 * to it, so that a late access of a thread does no harm.
 */
final class VerbsMemory extends DirectRegion {
  private static final int LINE = 64;

  private final IbvPd domain;
  private final IbvMr region;

  private VerbsMemory(ByteBuffer buffer, IbvPd domain, int access) throws IOException {
    super(buffer); // keeps the buffer, which DiSNI does not
    this.domain = domain;
    this.region = domain.regMr(buffer, access).execute().free().getMr();
  }

  /**
   * Allocates and registers.
   *
   * @param length in bytes, a multiple of 8.
   * @param access flags of {@link RegionLayout}.
   * @throws IOException when there is not enough memory, or the limit on locked memory is too low.
   */
  static VerbsMemory register(IbvPd domain, int length, int access) throws IOException {
    try {
      final ByteBuffer buffer = ByteBuffer.allocateDirect(Math.addExact(length, LINE));
      return new VerbsMemory(buffer.alignedSlice(LINE).slice(0, length), domain, access);
    } catch (OutOfMemoryError | ArithmeticException e) {
      throw new IOException("no direct memory of " + length + " bytes: " + e.getMessage(), e);
    }
  }

  /**
   * Registers memory that is there already, and that its owner keeps until the registration ends.
   *
   * @throws IOException also when it is memory of the heap.
   */
  static VerbsMemory adopt(IbvPd domain, MemoryRegion memory, int access) throws IOException {
    final ByteBuffer buffer;
    if (memory instanceof MappedRegion mapped) {
      buffer = mapped.slice(0, mapped.length());
    } else if (memory instanceof DirectRegion direct) {
      buffer = direct.slice(0, direct.length());
    } else {
      throw new IOException("no device reaches memory of this kind: memory=" + memory);
    }
    return new VerbsMemory(buffer, domain, access);
  }

  /** Whether it is registered in this protection domain. */
  boolean isOf(IbvPd domain) {
    return this.domain == domain;
  }

  /** Of the first byte. */
  long address() {
    return region.getAddr();
  }

  int localKey() {
    return region.getLkey();
  }

  /** The same memory as the peer names it. */
  RemoteMemory named() {
    return new RemoteMemory(address(), length(), region.getRkey());
  }

  /** Ends the registration, once: the keys lead nowhere when this returns. */
  void deregister() throws IOException {
    region.deregMr().execute().free();
  }
}
