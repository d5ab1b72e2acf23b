package dev.ringfetch.ring;

import static dev.ringfetch.ring.FrameDescriptor.ACK_OFFSET;
import static dev.ringfetch.ring.FrameDescriptor.COMMIT_LENGTH;
import static dev.ringfetch.ring.FrameDescriptor.CRC32C_OFFSET;
import static dev.ringfetch.ring.FrameDescriptor.LENGTH_OFFSET;
import static dev.ringfetch.ring.FrameDescriptor.PAD;
import static dev.ringfetch.ring.FrameDescriptor.PAYLOAD_OFFSET;
import static dev.ringfetch.ring.FrameDescriptor.SESSION_STREAM_ID;
import static dev.ringfetch.ring.FrameDescriptor.SLOT_LENGTH;
import static dev.ringfetch.ring.FrameDescriptor.STREAM_ID_OFFSET;

import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;

/**
 * The writing end of a ring. One owner at a time.
 *
 * <p>A frame is stored body first, then the commit word, then word 0, each of the two with release,
 * so that it can be polled in place and fetched by a READ alike; {@link #publish} hands what was
 * written since the last time to the fabric in at most two work requests. Where the peer fetches,
 * nothing need be published: what it has consumed meanwhile never is.
 *
 * <p>Credit is the peer's consumed position: from its control line, as it stands in this side's
 * memory or as it was fetched, or earlier from the acks in its frames.
 */
public final class RingWriter {
  /** The frame is in the ring. */
  public static final int WRITTEN = 1;

  /**
   * The ring has no room: wait for credit, then write again. The frame was not written; the end of
   * the ring may have been padded, which is to be published.
   */
  public static final int INSUFFICIENT_CREDIT = -1;

  /** The peer claims to have consumed slots that were never written: the session must end. */
  public static final int PROTOCOL_VIOLATION = -2;

  private final QueuePair queuePair;
  private final MemoryRegion region;
  private final ControlFlyweight peerControl;
  private final int ringOffset;
  private final int ringSlots;
  private final long mask;
  private final long epoch;
  private final FrameChecksum checksum; // null: frames carry none
  private HintSender hints; // null: none are sent

  private long position;
  private long published;
  private long acked;
  private long told;
  private long fetched;
  private long consumed;

  /**
   * Creates the writer of a zeroed ring.
   *
   * @param ringOffset of the ring in the queue pair's memory.
   * @param ringLength in bytes, a power of two.
   * @param startPosition in slots.
   * @param peerControl the line in which the peer tells what it consumed, at the start {@code
   *     startPosition}.
   */
  public RingWriter(
      QueuePair queuePair,
      int ringOffset,
      int ringLength,
      long epoch,
      long startPosition,
      ControlFlyweight peerControl) {
    ArenaDescriptor.checkRingLength("ringLength", ringLength);
    this.queuePair = queuePair;
    this.region = queuePair.memory();
    this.peerControl = peerControl;
    this.ringOffset = ringOffset;
    this.ringSlots = ringLength / SLOT_LENGTH;
    this.mask = ringSlots - 1L;
    this.epoch = epoch;
    this.checksum = queuePair.capabilities().needChecksums() ? new FrameChecksum(epoch) : null;
    this.position = startPosition;
    this.published = startPosition;
    this.acked = startPosition;
    this.told = startPosition;
    this.fetched = startPosition;
    this.consumed = startPosition;
  }

  /** Sends frames as hints from now on, too. */
  public void hints(HintSender sender) {
    this.hints = sender;
  }

  /** Position of the next frame, in slots. */
  public long position() {
    return position;
  }

  /**
   * Writes one frame.
   *
   * @param ack low 32 bits of the position consumed in the opposite ring.
   * @param payload its bytes are copied; null where length is 0.
   * @return {@link #WRITTEN}, {@link #INSUFFICIENT_CREDIT} or {@link #PROTOCOL_VIOLATION}.
   */
  public int write(
      int streamId, int flags, int code, int ack, byte[] payload, int offset, int length) {
    final int slots = FrameDescriptor.slots(length);
    if (slots > ringSlots) {
      throw new IllegalArgumentException(
          "frame is longer than the ring: length=" + length + " ringSlots=" + ringSlots);
    }
    final int untilEnd = ringSlots - (int) (position & mask);
    int credit = ensureCredit(Math.min(slots, untilEnd));
    if (credit != WRITTEN) {
      return credit;
    }
    if (slots > untilEnd) {
      put(SESSION_STREAM_ID, PAD, 0, ack, null, 0, FrameDescriptor.maxPayload(untilEnd), untilEnd);
      credit = ensureCredit(slots);
      if (credit != WRITTEN) {
        return credit;
      }
    }
    put(streamId, flags, code, ack, payload, offset, length, slots);
    return WRITTEN;
  }

  private void put(
      int streamId,
      int flags,
      int code,
      int ack,
      byte[] payload,
      int offset,
      int length,
      int slots) {
    final MemoryRegion memory = region;
    final int frame = ringOffset + (int) (position & mask) * SLOT_LENGTH;
    final long word1 = FrameDescriptor.word1(streamId, flags, code);
    memory.putLong(frame + STREAM_ID_OFFSET, word1);
    memory.putLong(frame + ACK_OFFSET, ack & 0xFFFF_FFFFL);
    if (payload != null) {
      memory.putBytes(frame + PAYLOAD_OFFSET, payload, offset, length);
    }
    final long word0 = FrameDescriptor.word0(FrameDescriptor.tag(epoch, position), length);
    if (checksum != null) {
      memory.putInt(
          frame + CRC32C_OFFSET, checksum.of(position, word0, word1, ack, payload, offset, length));
    }
    memory.putLongRelease(
        frame + slots * SLOT_LENGTH - COMMIT_LENGTH, FrameDescriptor.commitWord(epoch, position));
    memory.putLongRelease(frame + LENGTH_OFFSET, word0);
    position += slots;
    if (hints != null) {
      hints.append(position - slots, slots);
    }
  }

  private int ensureCredit(int slots) {
    if (position + slots - consumed <= ringSlots) {
      return WRITTEN;
    }
    if (!refreshCredit()) {
      return PROTOCOL_VIOLATION;
    }
    return position + slots - consumed <= ringSlots ? WRITTEN : INSUFFICIENT_CREDIT;
  }

  /** Slots that the peer has not consumed, as far as it tells. */
  public long unconsumed() {
    refreshCredit();
    return position - consumed;
  }

  /** Reads the peer's control line. False when the peer claims what cannot be. */
  private boolean refreshCredit() {
    final long line = peerControl.consumed();
    if (line - told < 0 || line - position > 0) {
      return false;
    }
    told = line;
    credit(line);
    return true;
  }

  /**
   * Takes the consumed position out of the peer's control line as it was fetched. It may be behind
   * what else the peer has told, but never goes back.
   *
   * @return false when the peer claims what cannot be: the session must end.
   */
  public boolean onConsumed(long line) {
    if (line - fetched < 0 || line - position > 0) {
      return false;
    }
    fetched = line;
    credit(line);
    return true;
  }

  private void credit(long consumedPosition) {
    if (consumedPosition - consumed > 0) { // otherwise another way was quicker
      consumed = consumedPosition;
    }
  }

  /**
   * Takes the ack out of a frame of the peer.
   *
   * @return false when it lies outside of what can have been consumed: the session must end.
   */
  public boolean onAck(int ack) {
    final long position64 = acked + (ack - (int) acked);
    if (position64 - acked < 0 || position64 - position > 0) {
      return false;
    }
    acked = position64;
    credit(position64);
    return true;
  }

  /** Slots that were written, are not known to be consumed, and were not published. */
  public long unpublished() {
    return position - (consumed - published > 0 ? consumed : published);
  }

  /**
   * Hands the frames since the last call to the fabric, but for those that the peer has fetched and
   * consumed since: their slots may hold later frames.
   *
   * @return {@link QueuePair#POSTED}, or {@link QueuePair#SEND_QUEUE_FULL} or {@link
   *     QueuePair#CLOSED} with the rest unpublished.
   */
  public int publish() {
    if (consumed - published > 0) {
      published = consumed;
    }
    while (published != position) {
      final int index = (int) (published & mask);
      final int slots = (int) Math.min(position - published, ringSlots - index);
      final int posted = queuePair.write(ringOffset + index * SLOT_LENGTH, slots * SLOT_LENGTH);
      if (posted != QueuePair.POSTED) {
        return posted;
      }
      published += slots;
    }
    return QueuePair.POSTED;
  }
}
