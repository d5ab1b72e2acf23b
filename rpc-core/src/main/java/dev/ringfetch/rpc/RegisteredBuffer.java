package dev.ringfetch.rpc;

import dev.ringfetch.session.bulk.Lease;
import dev.ringfetch.session.bulk.Segment;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;

/**
 * A buffer for a message, or for the long part of one ({@link RegisteredMessage}), that the peer on
 * a ring reads directly: the message is sent without a copy on this side. Where there is no
 * registered memory, the buffer is ordinary memory, and the message is sent as any other.
 *
 * <p>The allocating code owns the buffer until {@link #close}. It must not change the bytes, nor
 * close the buffer, before the bytes are on their way: that is when the call has ended; on a stream
 * also as soon as the server has answered to it, or {@code isReady()} has returned true after the
 * message was sent. (For {@code isReady()} this holds as long as no {@code onReadyThreshold} above
 * the default of 32 KiB is set, because {@code isReady()} is true while up to that many bytes still
 * wait.) After that the ring has a reference of its own, until the peer has read. A closed buffer
 * must not be touched any more: {@link #buffer} throws, but a view that was kept leads to memory
 * that belongs to another message by then. The system property {@code ringfetch.poison=true} helps
 * to find such code: it fills free memory with 0xDE, and logs a warning when memory that was
 * written to while it was free is given out again.
 *
 * <p>A buffer that is dropped without being closed is lost until its session ends: the garbage
 * collector cannot give it back, since the application may still write through a view of it. Once
 * the collector has found it, the next long message of its session counts it ({@code
 * session.buffers.leaked}) and logs a warning: for the first in a session; with the system property
 * {@code ringfetch.leaks=true}, for each, with the stack trace of its allocation.
 *
 * <p>Not thread-safe, but may be passed from thread to thread.
 */
public final class RegisteredBuffer implements AutoCloseable {
  private final Lease lease; // null: ordinary memory
  private final ByteBuffer buffer;
  private boolean closed;

  private RegisteredBuffer(Segment segment, ByteBuffer buffer) {
    this.lease = segment == null ? null : segment.lease(this);
    this.buffer = buffer;
  }

  static RegisteredBuffer of(Segment segment) {
    return new RegisteredBuffer(segment, segment.buffer());
  }

  static RegisteredBuffer ofHeap(int length) {
    return new RegisteredBuffer(null, ByteBuffer.allocate(length));
  }

  /**
   * Returns the memory, to be filled; its initial content is undefined. Position and limit are for
   * the application's use: the whole buffer is sent.
   */
  public ByteBuffer buffer() {
    if (closed) {
      throw new IllegalStateException("closed: length=" + length());
    }
    return buffer;
  }

  /** Length in bytes. */
  public int length() {
    return buffer.capacity();
  }

  /** True if the peer on the ring reads it directly; false for ordinary memory. */
  public boolean isRegistered() {
    return lease != null;
  }

  Segment segment() {
    return lease == null ? null : lease.segment();
  }

  /** Gives the memory up. Idempotent. */
  @Override
  public void close() {
    if (!closed) {
      closed = true;
      try {
        if (lease != null) {
          lease.close();
        }
      } finally {
        Reference.reachabilityFence(this); // not collected while it is being closed
      }
    }
  }
}
