package dev.ringfetch.rdma.natives;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Native operations on access to memory regions, and on windows; the regions are DiSNI's ({@code
 * IbvPd.regMr}), passed as {@link Disni#handle handles}.
 *
 * <p>A peer's access to memory ends in one of three ways: {@code IbvMr.deregMr}, which every device
 * has and which needs nothing but that no own request uses the region; {@link #changeAccess}, where
 * the device can re-register; invalidation of a window ({@code IBV_WR_LOCAL_INV}), which executes
 * in order with other requests. Nothing keeps a registered buffer alive but the caller.
 */
public final class Regions {
  private Regions() {}

  /** Address of a direct buffer's first byte, whatever its position; 0 if it is not direct. */
  public static native long address(ByteBuffer buffer);

  /** Changes the access flags of a region, where the device can; on failure deregister it. */
  public static native void changeAccess(long region, int access) throws IOException;

  /** Allocates a window of type 2, which a {@code IBV_WR_BIND_MW} request binds to a region. */
  public static native long allocateWindow(long domain) throws IOException;

  /** Key of a new window; the low byte is the caller's to count at each bind. */
  public static native int windowKey(long window);

  /** Frees a window; its key leads nowhere. */
  public static native void freeWindow(long window) throws IOException;
}
