package dev.ringfetch.ring;

import static dev.ringfetch.ring.FrameDescriptor.SLOT_LENGTH;

import dev.ringfetch.fabric.QueuePair;

/**
 * The sender of datagrams with frames of this side's ring, so that the peer need not read them. A
 * datagram is a run of whole slots as they stand in the ring, and begins with a frame: it has no
 * header of its own, since a frame's words and checksum say of which session and position it is. It
 * may be lost, and no thread waits for it.
 *
 * <pre>
 *   0                                64        datagram
 *  +-------------------------------+-----------------------+----
 *  | word 0 | header | payload .. commit | word 0 | ...    |      one frame or several, whole
 *  +-------------------------------+-----------------------+----
 *
 *  +-------------------------------+-----------------------+
 *  | word 0 | header | payload ...                         |      of a longer one, the beginning
 *  +-------------------------------+-----------------------+
 * </pre>
 *
 * <p>Of a frame that is longer than a datagram it is the beginning, by which the peer knows that
 * there is something to read. The card takes the slots when it sends them: where the peer has read
 * them meanwhile, they may hold parts of later frames by then, which the checksum tells.
 *
 * <p>One owner at a time, together with the ring's writer.
 */
public final class HintSender {
  private final QueuePair queuePair;
  private final ControlFlyweight peerControl;
  private final int ringOffset;
  private final long mask;
  private final int maxSlots;

  private long start; // of the run that has not gone out
  private int slots; // of it
  private long sent;
  private long unsent;

  /**
   * Creates the sender of a ring's hints.
   *
   * @param queuePair with datagrams.
   * @param ringOffset of the ring in its memory.
   * @param ringLength in bytes, a power of two.
   * @param peerControl the line in which the peer says whether it fetches: else hints are for
   *     nothing.
   */
  public HintSender(
      QueuePair queuePair, int ringOffset, int ringLength, ControlFlyweight peerControl) {
    this.queuePair = queuePair;
    this.peerControl = peerControl;
    this.ringOffset = ringOffset;
    this.mask = ringLength / SLOT_LENGTH - 1L;
    this.maxSlots = queuePair.capabilities().maxDatagram() / SLOT_LENGTH;
  }

  /**
   * Adds a frame that was written. Sends those before it, where it has no room in their datagram.
   */
  void append(long position, int frameSlots) {
    if (slots + frameSlots > maxSlots || (position & mask) == 0) {
      flush();
    }
    if (slots == 0) {
      start = position;
    }
    slots += frameSlots;
  }

  /** Sends what was written since the last time, while the peer fetches and if there is room. */
  public void flush() {
    if (slots > 0 && peerControl.fetching()) {
      final int offset = ringOffset + (int) (start & mask) * SLOT_LENGTH;
      final int length = Math.min(slots, maxSlots) * SLOT_LENGTH;
      if (queuePair.sendDatagram(offset, length) == QueuePair.POSTED) {
        sent++;
      } else {
        unsent++;
      }
    }
    slots = 0;
  }

  /** What was written since the last time gets to the peer in another way. */
  public void drop() {
    slots = 0;
  }

  /** Datagrams that went out. */
  public long sent() {
    return sent;
  }

  /** Datagrams for which there was no room. */
  public long unsent() {
    return unsent;
  }
}
