package dev.ringfetch.ring;

import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;

/**
 * The receiver of the datagrams of a {@link HintSender}: takes frames out of them. A datagram
 * counts when it begins with the frame at the head of the ring, as epoch, position and checksum
 * prove; any other is dropped: late, early, of a former session, damaged, or foreign. A datagram
 * can end the session only by the content of a proved frame.
 *
 * <p>One owner at a time, together with the poller that takes the frames.
 */
public final class HintReceiver {
  private final QueuePair queuePair;
  private final RingPoller head;
  private final QueuePair.DatagramHandler onDatagram = this::onDatagram; // allocated once

  private RingPoller.FrameHandler handler; // of this call
  private int frames; // of this call, or a violation
  private int begun; // length of the frame that a datagram had only the beginning of
  private long begunAt;
  private boolean broken;
  private long taken;
  private long dropped;
  private long late;
  private long fetchedAt; // position

  /**
   * Creates the receiver of a ring's hints.
   *
   * @param queuePair with datagrams.
   * @param head that takes the frames, and may take others elsewhere.
   */
  public HintReceiver(QueuePair queuePair, RingPoller head) {
    this.queuePair = queuePair;
    this.head = head;
    this.fetchedAt = head.position() - 1; // where nothing has been
  }

  /**
   * Hands out the frames of datagrams that have come, as {@link RingPoller#poll} does.
   *
   * @param limit of datagrams.
   * @return how many frames were consumed, or {@link RingPoller#PROTOCOL_VIOLATION}.
   */
  public int take(RingPoller.FrameHandler handler, int limit) {
    this.handler = handler;
    frames = 0;
    broken = queuePair.pollDatagrams(onDatagram, limit) == QueuePair.CLOSED;
    this.handler = null;
    return frames;
  }

  private void onDatagram(MemoryRegion region, int offset, int length) {
    if (frames == RingPoller.PROTOCOL_VIOLATION) {
      return;
    }
    final long before = head.position();
    final int found = head.pollHint(region, offset, length, handler);
    frames = found == RingPoller.PROTOCOL_VIOLATION ? found : frames + found;
    final int used = (int) (head.position() - before) * FrameDescriptor.SLOT_LENGTH;
    final int next = used < length ? head.fetchedLength(region, offset + used) : 0;
    if (next > length - used) {
      begun = next;
      begunAt = head.position();
    }
    if (used > 0 || next > length) {
      taken++;
    } else {
      dropped++;
      if (length >= FrameDescriptor.SLOT_LENGTH && head.isOf(fetchedAt, region, offset)) {
        late++;
      }
    }
  }

  /** A read has brought the frame at this position, of which no datagram had come. */
  public void fetched(long position) {
    fetchedAt = position;
  }

  /** Datagrams that came after what they bring was {@linkplain #fetched fetched}. */
  public long late() {
    return late;
  }

  /**
   * Length in bytes of the frame at the head, if a datagram has brought the beginning of it and
   * there is more to be read; otherwise 0. Not verified: the frame may be damaged.
   */
  public int begun() {
    return begunAt == head.position() ? begun : 0;
  }

  /** True when no datagram will come any more. */
  public boolean isBroken() {
    return broken;
  }

  /** A read looks for the rest of what has {@link #begun}. */
  public void read() {
    begun = 0;
  }

  /** Datagrams that came in time. */
  public long taken() {
    return taken;
  }

  /** Datagrams that were of no use. */
  public long dropped() {
    return dropped;
  }
}
