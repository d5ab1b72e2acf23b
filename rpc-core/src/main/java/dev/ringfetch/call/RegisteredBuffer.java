package dev.ringfetch.call;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import dev.ringfetch.session.BulkPool;
import dev.ringfetch.session.Segment;
import java.nio.ByteBuffer;

/**
 * Memory for the bytes of a message, out of which a peer on the ring reads them: the message is
 * sent without a copy on this side. Where there is no such memory, this is ordinary memory, and the
 * message is sent as any other.
 *
 * <p>Who has it: its maker, until {@link #close}. The bytes must not change, and it must not be
 * closed, before they are on their way: that is when the call has ended, whatever transport carries
 * it; on a stream over a ring, when {@code onNext} (or {@code sendMessage}) has returned. After
 * that the ring has a share of its own, until the peer has read. A buffer that is never closed is
 * lost until its session ends.
 *
 * <p>Not thread-safe, but may be passed from thread to thread.
 */
public final class RegisteredBuffer implements AutoCloseable {
  private final BulkPool pool; // null: ordinary memory
  private final Segment segment;
  private final ByteBuffer buffer;
  private final ByteString bytes;
  private boolean closed;

  private RegisteredBuffer(BulkPool pool, Segment segment, ByteBuffer buffer) {
    this.pool = pool;
    this.segment = segment;
    this.buffer = buffer;
    this.bytes = UnsafeByteOperations.unsafeWrap(buffer.duplicate());
  }

  static RegisteredBuffer ofHeap(int length) {
    return new RegisteredBuffer(null, null, ByteBuffer.allocate(length));
  }

  static RegisteredBuffer of(BulkPool pool, Segment segment) {
    final RegisteredBuffer made = new RegisteredBuffer(pool, segment, segment.buffer());
    pool.name(made.bytes, segment);
    return made;
  }

  /** The memory, to be filled; its content is anything at first. */
  public ByteBuffer buffer() {
    checkOpen();
    return buffer;
  }

  /**
   * All of the memory as protobuf has bytes: not a copy. Sent without one as the value of a field
   * of the message itself (not of one within it), neither repeated nor cut or joined before.
   */
  public ByteString bytes() {
    checkOpen();
    return bytes;
  }

  /** True when a peer on the ring reads it; false of ordinary memory. */
  public boolean isRegistered() {
    return segment != null;
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("closed: length=" + buffer.capacity());
    }
  }

  /** Gives the memory up. Idempotent. */
  @Override
  public void close() {
    if (!closed) {
      closed = true;
      if (segment != null) {
        pool.forget(bytes);
        segment.release();
      }
    }
  }
}
