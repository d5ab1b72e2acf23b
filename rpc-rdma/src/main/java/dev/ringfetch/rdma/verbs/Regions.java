package dev.ringfetch.rdma.verbs;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Protection domains, memory regions and windows.
 *
 * <p>What a peer may do to memory ends in one of three ways: {@link #deregister}, which every
 * device has and which needs nothing but that no own request uses the region; {@link
 * #changeAccess}, where the device can re-register; invalidation of a window ({@code
 * IBV_WR_LOCAL_INV}), which executes in order with other requests. Nothing keeps a registered
 * buffer alive but the caller.
 */
final class Regions {
  private Regions() {}

  /** Address of a direct buffer's first byte, whatever its position; 0 if it is not direct. */
  static native long address(ByteBuffer buffer);

  /** Allocates a protection domain: what is not of one domain cannot be used together. */
  static native long allocateDomain(long context) throws IOException;

  /** Frees a protection domain in which nothing is left. */
  static native void deallocateDomain(long domain) throws IOException;

  /**
   * Registers memory.
   *
   * @param length in bytes, of any size that the device takes.
   * @param access flags of {@link RegionLayout}.
   * @return the region.
   * @throws IOException with the limit on locked memory in its message where that is the reason.
   */
  static native long register(long domain, long address, long length, int access)
      throws IOException;

  /** Key by which own requests name a region. */
  static native int localKey(long region);

  /** Key by which the peer names a region. */
  static native int remoteKey(long region);

  /** Changes what may be done to a region, where the device can; on failure deregister it. */
  static native void changeAccess(long region, int access) throws IOException;

  /** Ends a registration: the keys lead nowhere when this returns. */
  static native void deregister(long region) throws IOException;

  /** Allocates a window of type 2, which a {@code IBV_WR_BIND_MW} request binds to a region. */
  static native long allocateWindow(long domain) throws IOException;

  /** Key of a new window; the low byte is the caller's to count at each bind. */
  static native int windowKey(long window);

  /** Frees a window; its key leads nowhere. */
  static native void freeWindow(long window) throws IOException;
}
