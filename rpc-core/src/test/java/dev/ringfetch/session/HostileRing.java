package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.ACK_OFFSET;
import static dev.ringfetch.ring.FrameDescriptor.COMMIT_LENGTH;
import static dev.ringfetch.ring.FrameDescriptor.LENGTH_OFFSET;
import static dev.ringfetch.ring.FrameDescriptor.PAD;
import static dev.ringfetch.ring.FrameDescriptor.PAYLOAD_OFFSET;
import static dev.ringfetch.ring.FrameDescriptor.SLOT_LENGTH;
import static dev.ringfetch.ring.FrameDescriptor.STREAM_ID_OFFSET;

import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.ring.FrameDescriptor;

/** The writing end of a ring without any of its rules: it asks for no credit and checks nothing. */
public final class HostileRing {
  private final MemoryRegion region;
  private final int offset;
  private final int slots;
  private final long epoch;
  private final boolean checked;
  private long position;

  /** Creates the end of a ring whose next frame is at this position. */
  public HostileRing(MemoryRegion region, int offset, int length, long epoch, long position) {
    this(region, offset, length, epoch, position, false);
  }

  /**
   * Creates the end of a ring.
   *
   * @param checked whether frames carry the checksum that they ought to.
   */
  HostileRing(
      MemoryRegion region, int offset, int length, long epoch, long position, boolean checked) {
    this.region = region;
    this.offset = offset;
    this.slots = length / SLOT_LENGTH;
    this.epoch = epoch;
    this.position = position;
    this.checked = checked;
  }

  /** Of the next frame, in slots. */
  public long position() {
    return position;
  }

  /** Goes on from here, over whatever is there. */
  public void position(long position) {
    this.position = position;
  }

  /** Longest payload that a frame can have. */
  public int maxPayload() {
    return FrameDescriptor.maxPayload(slots);
  }

  /** Slots that a frame takes from here, with the padding before it. */
  public int needed(int length) {
    final int untilEnd = untilEnd();
    final int needed = FrameDescriptor.slots(length);
    return needed <= untilEnd ? needed : untilEnd + needed;
  }

  private int untilEnd() {
    return slots - slot();
  }

  private int slot() {
    return (int) (position & (slots - 1L));
  }

  private int at() {
    return offset + slot() * SLOT_LENGTH;
  }

  /** Writes a frame as it ought to be written, whatever is in it. */
  public void write(int streamId, int flags, int code, int ack, byte[] payload) {
    final int needed = FrameDescriptor.slots(payload.length);
    if (needed > untilEnd()) {
      put(0, PAD, 0, ack, null, FrameDescriptor.maxPayload(untilEnd()), untilEnd());
    }
    put(streamId, flags, code, ack, payload, payload.length, needed);
  }

  private void put(
      int streamId, int flags, int code, int ack, byte[] payload, int length, int taken) {
    final int frame = at();
    final long word0 = FrameDescriptor.word0(FrameDescriptor.tag(epoch, position), length);
    final long word1 = FrameDescriptor.word1(streamId, flags, code);
    final long sum = checked ? FrameRules.checksum(epoch, position, word0, word1, ack, payload) : 0;
    region.putLong(frame + STREAM_ID_OFFSET, word1);
    region.putLong(frame + ACK_OFFSET, (ack & 0xFFFF_FFFFL) | sum << 32);
    if (payload != null && length > 0) {
      region.putBytes(frame + PAYLOAD_OFFSET, payload, 0, length);
    }
    commit(taken);
    announce(length);
    position += taken;
  }

  /** Writes word 0 alone: a frame of this length, right or wrong, whose rest is what is there. */
  public void announce(int length) {
    region.putLongRelease(
        at() + LENGTH_OFFSET, FrameDescriptor.word0(FrameDescriptor.tag(epoch, position), length));
  }

  /** Writes the commit word alone, where a frame of so many slots has it. */
  public void commit(int taken) {
    final int index = at() + Math.max(1, Math.min(taken, untilEnd())) * SLOT_LENGTH;
    region.putLongRelease(index - COMMIT_LENGTH, FrameDescriptor.commitWord(epoch, position));
  }

  /** Writes the slot of this many slots ago again, as it was, or as if it were new. */
  public void replay(int slotsAgo, boolean fresh) {
    final byte[] old = new byte[SLOT_LENGTH];
    region.getBytes(
        offset + (int) ((position - slotsAgo) & (slots - 1L)) * SLOT_LENGTH, old, 0, SLOT_LENGTH);
    region.putBytes(at(), old, 0, SLOT_LENGTH);
    if (fresh) {
      commit(1);
      announce(region.getInt(at() + LENGTH_OFFSET));
      position++;
    }
  }
}
