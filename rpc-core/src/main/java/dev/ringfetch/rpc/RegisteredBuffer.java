package dev.ringfetch.rpc;

import dev.ringfetch.session.bulk.Lease;
import dev.ringfetch.session.bulk.Segment;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;

/**
 * Memory for a message, or the long part of one ({@link RegisteredMessage}), out of which a peer on
 * the ring reads it: it is sent without a copy on this side. Where there is no such memory, this is
 * ordinary memory, and the message is sent as any other.
 *
 * <p>Who has it: its maker, until {@link #close}. The bytes must not change, and it must not be
 * closed, before they are on their way: that is when the call has ended; on a stream also as soon
 * as the server has answered to it, or {@code isReady()} has returned true after the message was
 * sent. (Of {@code isReady()} that holds as long as nobody sets an {@code onReadyThreshold} above
 * its default of 32 KiB, which is true while as many bytes still wait.) After that the ring has a
 * share of its own, until the peer has read. A closed one must not be touched any more: {@link
 * #buffer} refuses, but a view that was kept leads to what is another message's by then. The system
 * property {@code ringfetch.poison=true} helps to find who does that: memory that nobody has is
 * filled with 0xDE, and what was written to it is logged as a warning when it is given out again.
 *
 * <p>A buffer that is dropped without being closed is lost until its session ends: the collector
 * cannot give it back, since a view of it may live on that somebody writes into. Once the collector
 * has found it, the next long message of its session counts it ({@code session.buffers.leaked}) and
 * logs a warning: of the first in a session; with the system property {@code ringfetch.leaks=true},
 * of each, with the stack trace of its allocation.
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
   * The memory, to be filled; its content is anything at first. Position and limit are the
   * application's: what is sent is all of it.
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

  /** True when a peer on the ring reads it; false of ordinary memory. */
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
        Reference.reachabilityFence(this); // not dropped as long as it is being closed
      }
    }
  }
}
