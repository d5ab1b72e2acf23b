package dev.ringfetch.ring;

import static dev.ringfetch.ring.FrameDescriptor.ACK_OFFSET;
import static dev.ringfetch.ring.FrameDescriptor.COMMIT_LENGTH;
import static dev.ringfetch.ring.FrameDescriptor.LENGTH_OFFSET;
import static dev.ringfetch.ring.FrameDescriptor.PAD;
import static dev.ringfetch.ring.FrameDescriptor.PAYLOAD_OFFSET;
import static dev.ringfetch.ring.FrameDescriptor.SLOT_LENGTH;
import static dev.ringfetch.ring.FrameDescriptor.STREAM_ID_OFFSET;

import dev.ringfetch.fabric.MemoryRegion;

/**
 * The consuming end of a ring that this side can load from. One owner at a time.
 *
 * <p>Header words are loaded once, into locals, and checked before any address is computed from
 * them: the peer can change them at any time.
 */
public final class RingPoller {
  /** The peer wrote what no peer may write: the session must end. */
  public static final int PROTOCOL_VIOLATION = -1;

  private final MemoryRegion region;
  private final ControlFlyweight ownControl;
  private final int ringOffset;
  private final int ringSlots;
  private final long mask;
  private final long epoch;

  private long position;
  private int tag;
  private long told;

  /**
   * Creates the poller of a zeroed ring.
   *
   * @param ringOffset of the ring in the region.
   * @param ringLength in bytes, a power of two.
   * @param startPosition in slots.
   * @param ownControl the line in which this side tells what it consumed.
   */
  public RingPoller(
      MemoryRegion region,
      int ringOffset,
      int ringLength,
      long epoch,
      long startPosition,
      ControlFlyweight ownControl) {
    ArenaDescriptor.checkRingLength("ringLength", ringLength);
    this.region = region;
    this.ownControl = ownControl;
    this.ringOffset = ringOffset;
    this.ringSlots = ringLength / SLOT_LENGTH;
    this.mask = ringSlots - 1L;
    this.epoch = epoch;
    this.position = startPosition;
    this.tag = FrameDescriptor.tag(epoch, startPosition);
    this.told = startPosition;
  }

  /** Position up to which the ring is consumed, in slots. */
  public long position() {
    return position;
  }

  /** True when the next frame has begun to arrive. */
  public boolean hasNext() {
    final int frame = ringOffset + (int) (position & mask) * SLOT_LENGTH;
    return (int) (region.getLongAcquire(frame + LENGTH_OFFSET) >>> 32) == tag;
  }

  /**
   * Hands out the frames that have arrived. If the handler throws, its frame counts as consumed.
   *
   * @param limit in slots: no frame is taken after so many. It bounds the bytes as well, of a peer,
   *     too, that writes without credit as fast as it is read.
   * @return how many frames were consumed, or {@link #PROTOCOL_VIOLATION}.
   */
  public int poll(FrameHandler handler, int limit) {
    final long start = position;
    int frames = 0;
    while (position - start < limit) {
      final int index = (int) (position & mask);
      final int frame = ringOffset + index * SLOT_LENGTH;
      final long word0 = region.getLongAcquire(frame + LENGTH_OFFSET);
      if ((int) (word0 >>> 32) != tag) {
        break;
      }
      final int length = (int) word0;
      if (length < 0 || length > FrameDescriptor.maxPayload(ringSlots - index)) {
        return PROTOCOL_VIOLATION;
      }
      final int slots = FrameDescriptor.slots(length);
      final long commit = region.getLongAcquire(frame + slots * SLOT_LENGTH - COMMIT_LENGTH);
      if (commit != FrameDescriptor.commitWord(epoch, position)) {
        break; // placed in ascending order by a NIC: the rest is on its way
      }
      final long word1 = region.getLong(frame + STREAM_ID_OFFSET);
      final int ack = region.getInt(frame + ACK_OFFSET);
      position += slots;
      tag = FrameDescriptor.tag(epoch, position);
      frames++;
      final int flags = (int) (word1 >>> 32) & 0xFFFF;
      if ((flags & PAD) == 0
          && !handler.onFrame(
              (int) word1,
              flags,
              (int) (word1 >>> 48),
              ack,
              region,
              frame + PAYLOAD_OFFSET,
              length)) {
        return PROTOCOL_VIOLATION;
      }
    }
    return frames;
  }

  /** Slots consumed since the peer was told last. */
  public long untold() {
    return position - told;
  }

  /** Tells the peer, in the control line, how far this side has consumed. */
  public void tellConsumed() {
    if (told != position) {
      told = position;
      ownControl.consumed(position);
    }
  }

  /** Slots of the ring. */
  public int slots() {
    return ringSlots;
  }

  /** Receives frames. */
  @FunctionalInterface
  public interface FrameHandler {
    /**
     * A frame has arrived. The payload can change until this returns and is gone afterwards: copy
     * it first, then look at the copy.
     *
     * @param code method id or status; see {@link FrameDescriptor}.
     * @param ack for {@link RingWriter#onAck}.
     * @param region that holds the payload.
     * @param offset of the payload in the region.
     * @param length of the payload in bytes.
     * @return false when the frame is one that no peer may write.
     */
    boolean onFrame(
        int streamId, int flags, int code, int ack, MemoryRegion region, int offset, int length);
  }
}
