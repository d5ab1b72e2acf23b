package dev.ringfetch.fabric;

import java.nio.ByteBuffer;

/**
 * Zeroed memory of one side, beyond the session's own, that its peer reaches: for what is too long
 * for a ring. It lives as long as the connection that it was registered with.
 *
 * <p>May be used from any thread.
 */
public interface RegisteredMemory {
  /** The memory as this side reaches it. */
  MemoryRegion region();

  /** Where it is, for the peer's {@link QueuePair#attach}. */
  byte[] descriptor();

  /**
   * A part of the memory as the application sees it. What happens to it after the connection has
   * ended reaches nobody; a peer that takes the memory away makes accesses fail with {@link
   * InternalError}.
   */
  ByteBuffer buffer(int offset, int length);

  /** The peer has attached it, or never will: no descriptor leads here any more. Idempotent. */
  void settled();

  /**
   * Threads of the application may be inside when the connection closes: the memory is then given
   * back when nothing refers to it any more, instead of at once. Idempotent.
   */
  void keep();
}
