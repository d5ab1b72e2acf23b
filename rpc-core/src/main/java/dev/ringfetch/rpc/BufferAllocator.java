package dev.ringfetch.rpc;

import dev.ringfetch.session.Flow;
import dev.ringfetch.session.Session;
import dev.ringfetch.session.bulk.Segment;
import io.grpc.Attributes;
import java.util.function.Supplier;

/**
 * The allocator of {@linkplain RegisteredBuffer buffers} for long messages that the peer reads
 * without a copy on this side. A channel has one, and so has every call on a ring, on both sides,
 * in its attributes. Any thread.
 */
public final class BufferAllocator {
  /** Attribute of a call on a ring: its allocator. */
  public static final Attributes.Key<BufferAllocator> ATTRIBUTE =
      Attributes.Key.create("dev.ringfetch.allocator");

  private final Supplier<? extends Session> session;

  /**
   * Creates an allocator.
   *
   * @param session supplies the session with the peer that reads the buffers, or null while there
   *     is none.
   */
  BufferAllocator(Supplier<? extends Session> session) {
    this.session = session;
  }

  /** Attributes of calls on a session: those of its connection, and the session's allocator. */
  static Attributes attributes(Attributes connection, Session session) {
    return connection.toBuilder().set(ATTRIBUTE, new BufferAllocator(() -> session)).build();
  }

  /**
   * Creates a buffer. Never waits: where there is no registered memory, the buffer is of ordinary
   * memory. So are the first buffers, since memory is registered on demand only, and those of up to
   * 32 KiB.
   *
   * @param length in bytes, at least 1.
   */
  public RegisteredBuffer allocate(int length) {
    if (length < 1) {
      throw new IllegalArgumentException("length=" + length);
    }
    final Session current = session.get();
    if (current != null && length > Math.max(current.bulk().threshold(), Flow.READY_LENGTH)) {
      final Segment segment = current.bulk().allocate(length);
      if (segment != null) {
        return RegisteredBuffer.of(segment);
      }
    }
    return RegisteredBuffer.ofHeap(length);
  }
}
