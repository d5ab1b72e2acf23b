package dev.ringfetch.fabric;

import java.nio.ByteBuffer;

/**
 * Zeroed memory of one side, beside the session's own, that its peer reaches: for messages that are
 * too long for a ring. It lives as long as the connection that it was registered with.
 *
 * <p>May be used from any thread.
 */
public interface RegisteredMemory {
  /** The memory as this side reaches it. */
  MemoryRegion region();

  /** Its address, for the peer's {@link QueuePair#attach}. */
  byte[] descriptor();

  /**
   * A part of the memory as the application sees it. Stores after the end of the connection reach
   * no peer; a peer that takes the memory away makes accesses fail with {@link InternalError}.
   */
  ByteBuffer buffer(int offset, int length);

  /**
   * Called when the peer has attached the memory, or never will: descriptors become invalid.
   * Idempotent.
   */
  void settled();

  /**
   * Keeps the memory beyond the connection, because threads of the application may be using it
   * then: it is given back when nothing refers to it any more, instead of at once. Idempotent.
   */
  void keep();
}
