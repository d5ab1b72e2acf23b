package dev.ringfetch.ring;

import static dev.ringfetch.ring.FrameDescriptor.ACK_OFFSET;
import static dev.ringfetch.ring.FrameDescriptor.COMMIT_LENGTH;
import static dev.ringfetch.ring.FrameDescriptor.LENGTH_OFFSET;
import static dev.ringfetch.ring.FrameDescriptor.PAD;
import static dev.ringfetch.ring.FrameDescriptor.PAYLOAD_OFFSET;
import static dev.ringfetch.ring.FrameDescriptor.SLOT_LENGTH;
import static dev.ringfetch.ring.FrameDescriptor.STREAM_ID_OFFSET;
import static dev.ringfetch.ring.FrameDescriptor.TAG_OFFSET;

import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;

/**
 * The consuming end of a ring: of the ring itself where this side can load from it, or of what a
 * card has placed in a copy of it ({@link #poll}) or fetched from it ({@link #pollFetched}). One
 * owner at a time.
 *
 * <p>Header words are loaded once, into locals, and checked before any address is computed from
 * them: the peer can change them at any time.
 *
 * <p>Where frames carry a checksum, a payload is copied to private memory first, and the copy is
 * checked and handed out. A frame is torn when its two words match, but its checksum does not: it
 * is not complete yet, and is checked again later.
 */
public final class RingPoller {
  /** The peer wrote what no peer may write: the session must end. */
  public static final int PROTOCOL_VIOLATION = -1;

  /** Slots behind the head in which {@link #isHeadImpossible} looks for a later frame. */
  private static final int LOOK_LIMIT = 4096;

  private final MemoryRegion region;
  private final ControlFlyweight ownControl;
  private final int ringOffset;
  private final int ringSlots;
  private final long mask;
  private final long epoch;
  private final FrameChecksum checksum; // null: frames carry none
  private final FrameCopy copy;

  private long position;
  private int tag;
  private long told;
  private long torn;

  /**
   * Creates the poller of a zeroed ring.
   *
   * @param ringOffset of the ring in the queue pair's memory.
   * @param ringLength in bytes, a power of two.
   * @param startPosition in slots.
   * @param ownControl the line in which this side tells what it consumed.
   */
  public RingPoller(
      QueuePair queuePair,
      int ringOffset,
      int ringLength,
      long epoch,
      long startPosition,
      ControlFlyweight ownControl) {
    ArenaDescriptor.checkRingLength("ringLength", ringLength);
    this.region = queuePair.memory();
    this.ownControl = ownControl;
    this.ringOffset = ringOffset;
    this.ringSlots = ringLength / SLOT_LENGTH;
    this.mask = ringSlots - 1L;
    this.epoch = epoch;
    final boolean checked = queuePair.capabilities().needChecksums();
    this.checksum = checked ? new FrameChecksum(epoch) : null;
    this.copy = checked ? new FrameCopy() : null;
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
   * True when a frame has begun to arrive, but its end is missing. Where both sides load and store
   * one memory, no writer leaves that behind, because it stores word 0 last.
   */
  public boolean isHeadTorn() {
    final int index = (int) (position & mask);
    final long word0 = region.getLongAcquire(ringOffset + index * SLOT_LENGTH + LENGTH_OFFSET);
    return (int) (word0 >>> 32) == tag && !isCommitted(position, (int) word0);
  }

  /**
   * True when the words at the head, which are not a frame, cannot come from a writer that stores
   * one frame after the other, and word 0 last, wherever it was stopped: the frame at the head is
   * there by half, or a later one is there before it. Only where both sides load and store one
   * memory. Looks at many slots: not for frequent calls.
   */
  public boolean isHeadImpossible() {
    if (hasNext()) {
      return isHeadTorn();
    }
    final int limit = Math.min(ringSlots, LOOK_LIMIT);
    for (int i = 1; i < limit; i++) {
      final long later = position + i;
      final int frame = ringOffset + (int) (later & mask) * SLOT_LENGTH;
      final long word0 = region.getLongAcquire(frame + LENGTH_OFFSET);
      if ((int) (word0 >>> 32) == FrameDescriptor.tag(epoch, later)
          && isCommitted(later, (int) word0)) {
        return !hasNext(); // behind that load: both may have come since the first look
      }
    }
    return false;
  }

  /** True when a frame at a position is of a length that can be, and its commit word is there. */
  private boolean isCommitted(long at, int length) {
    final int index = (int) (at & mask);
    if (length < 0 || length > FrameDescriptor.maxPayload(ringSlots - index)) {
      return false;
    }
    final int end = ringOffset + (index + FrameDescriptor.slots(length)) * SLOT_LENGTH;
    return region.getLongAcquire(end - COMMIT_LENGTH) == FrameDescriptor.commitWord(epoch, at);
  }

  /**
   * Hands out the frames that have arrived. If the handler throws, its frame counts as consumed.
   *
   * @param limit in slots: no frame is taken after so many. It bounds the bytes as well, of a peer,
   *     too, that writes without credit as fast as it is read.
   * @return how many frames were consumed, or {@link #PROTOCOL_VIOLATION}.
   */
  public int poll(FrameHandler handler, int limit) {
    if (checksum != null) {
      return pollChecked(region, ringOffset, ringSlots, handler, limit);
    }
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
      final int flags = (int) (word1 >>> 32) & 0xFFFF;
      if ((flags & PAD) == 0
          && !handler.mayTake((int) word1, flags, region, frame + PAYLOAD_OFFSET, length)) {
        break;
      }
      position += slots;
      tag = FrameDescriptor.tag(epoch, position);
      frames++;
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

  /**
   * Hands out frames with checksums.
   *
   * @param offset of the ring's first slot in the source, if that holds all of the ring.
   * @param end index of the slot behind the last one that the source holds.
   */
  private int pollChecked(
      MemoryRegion source, int offset, int end, FrameHandler handler, int limit) {
    final long start = position;
    int frames = 0;
    while (position - start < limit) {
      final int index = (int) (position & mask);
      final int taken = takeChecked(source, offset + index * SLOT_LENGTH, end - index, handler);
      if (taken == PROTOCOL_VIOLATION) {
        return PROTOCOL_VIOLATION;
      }
      if (taken == 0) {
        break;
      }
      frames++;
    }
    return frames;
  }

  /**
   * Hands out the frames of an image of the ring, as {@link #poll} does those of the ring itself.
   * Only where frames carry checksums. Nothing may be stored to the image meanwhile.
   *
   * @param image that a read of the ring has filled.
   * @param offset of the slot at {@link #position()} in the image.
   * @param length of the image from there on, in bytes: whole slots, not around the ring's end.
   * @param limit in slots, as of {@link #poll}.
   * @return how many frames were consumed, or {@link #PROTOCOL_VIOLATION}.
   */
  int pollFetched(MemoryRegion image, int offset, int length, FrameHandler handler, int limit) {
    final int index = (int) (position & mask);
    final int available = length / SLOT_LENGTH;
    return pollChecked(
        image,
        offset - index * SLOT_LENGTH,
        index + available,
        handler,
        Math.min(limit, available));
  }

  /**
   * Hands out the frames at the beginning of an image that may be of anything: it counts from the
   * frame at the head on, as far as frames are whole. Otherwise as {@link #pollFetched}.
   */
  int pollHint(MemoryRegion image, int offset, int length, FrameHandler handler) {
    int frames = 0;
    for (int at = 0; length - at >= SLOT_LENGTH; frames++) {
      final int frame = fetchedLength(image, offset + at);
      if (frame <= 0 || frame > length - at) {
        break; // also what no frame may say: nothing is proved yet
      }
      final int taken = takeChecked(image, offset + at, frame / SLOT_LENGTH, handler);
      if (taken == PROTOCOL_VIOLATION) {
        return PROTOCOL_VIOLATION;
      }
      if (taken == 0) {
        break;
      }
      at += frame;
    }
    return frames;
  }

  /**
   * Length of the frame at the head, in bytes, as its word 0 in an image of the ring says.
   *
   * @param offset of the slot at {@link #position()} in the image.
   * @return 0 when none has begun there, {@link #PROTOCOL_VIOLATION} when none can be so long.
   */
  int fetchedLength(MemoryRegion image, int offset) {
    final long word0 = image.getLong(offset + LENGTH_OFFSET);
    if ((int) (word0 >>> 32) != tag) {
      return 0;
    }
    final int length = (int) word0;
    return isPossible(length) ? FrameDescriptor.slots(length) * SLOT_LENGTH : PROTOCOL_VIOLATION;
  }

  /**
   * True when an image begins as the frame of this position does: not proved by more than its tag.
   */
  boolean isOf(long position, MemoryRegion image, int offset) {
    return image.getInt(offset + TAG_OFFSET) == FrameDescriptor.tag(epoch, position);
  }

  private boolean isPossible(int length) {
    return length >= 0 && length <= FrameDescriptor.maxPayload(ringSlots - (int) (position & mask));
  }

  /**
   * Takes the frame at the head out of these slots: 1, 0 when it is not whole or the handler does
   * not take it now, or a violation.
   */
  private int takeChecked(MemoryRegion source, int frame, int available, FrameHandler handler) {
    final long word0 = source.getLongAcquire(frame + LENGTH_OFFSET);
    if ((int) (word0 >>> 32) != tag) {
      return 0;
    }
    final int length = (int) word0;
    if (!isPossible(length)) {
      return PROTOCOL_VIOLATION;
    }
    final int slots = FrameDescriptor.slots(length);
    if (slots > available
        || source.getLongAcquire(frame + slots * SLOT_LENGTH - COMMIT_LENGTH)
            != FrameDescriptor.commitWord(epoch, position)) {
      return 0;
    }
    final long word1 = source.getLong(frame + STREAM_ID_OFFSET);
    final long word2 = source.getLong(frame + ACK_OFFSET);
    final int flags = (int) (word1 >>> 32) & 0xFFFF;
    final boolean pad = (flags & PAD) != 0;
    final byte[] payload = pad ? null : copy.take(source, frame + PAYLOAD_OFFSET, length);
    if (checksum.of(position, word0, word1, (int) word2, payload, 0, length)
        != (int) (word2 >>> 32)) {
      torn++;
      return 0;
    }
    if (!pad && !handler.mayTake((int) word1, flags, copy, 0, length)) {
      return 0;
    }
    position += slots;
    tag = FrameDescriptor.tag(epoch, position);
    if (!pad
        && !handler.onFrame(
            (int) word1, flags, (int) (word1 >>> 48), (int) word2, copy, 0, length)) {
      return PROTOCOL_VIOLATION;
    }
    return 1;
  }

  /** How often the frame at the head was found torn. */
  public long torn() {
    return torn;
  }

  /** Slots consumed since the peer was told last. */
  public long untold() {
    return position - told;
  }

  /**
   * Tells the peer, in the control line, how far this side has consumed. The caller publishes the
   * line.
   */
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
     * Whether the frame at the head may be taken now. If not, it stays, with all frames behind it,
     * and the next poll asks again. The arguments are those of {@link #onFrame}; a peer may change
     * the payload before that.
     */
    default boolean mayTake(int streamId, int flags, MemoryRegion region, int offset, int length) {
      return true;
    }

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
