package dev.ringfetch.session;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.ring.BulkDescriptor;
import dev.ringfetch.ring.ControlFlyweight;
import java.util.List;

/**
 * What the peer has named in its registered memory and this side has not read yet. A frame only
 * puts its read in line; reads are done in their order, some bytes a round, so that the frames of
 * other calls, which come behind it in the ring, need not wait for them. How many were done stands
 * in the control line: that memory is the peer's again. Belongs to the owner of the session.
 */
final class Reads {
  private final Session session;
  private final ControlFlyweight ownControl;
  private final ArrayPool arrays;
  private final int quantum; // what is copied a round, in bytes

  private long released;

  // The line, linked: one that had to grow might be left half changed for want of memory.
  private Read first;
  private Read last; // also when it is done

  private static final class Read {
    final MemoryRegion region;
    final int offset;
    final int length;
    Stream stream; // null: nobody wants it
    UnitBuffer unit;
    int generation;
    int position;
    int done;
    Read next;

    Read(MemoryRegion region, int offset, int length) {
      this.region = region;
      this.offset = offset;
      this.length = length;
    }

    boolean isWanted() {
      return stream != null && unit.generation() == generation;
    }
  }

  Reads(Session session, RingPair rings, SessionContext context) {
    this.quantum = context.bulkSegmentLength();
    this.arrays = context.bulkQuota().arrays();
    this.session = session;
    this.ownControl = rings.ownControl();
  }

  /**
   * Puts the read in line that a frame asks for.
   *
   * @param regions of the peer, by number.
   * @return false when there is no such memory.
   */
  boolean add(List<MemoryRegion> regions, MemoryRegion frame, int payload, int payloadLength) {
    if (payloadLength != BulkDescriptor.DESCRIPTOR_LENGTH) {
      return false;
    }
    final int number = frame.getInt(payload + BulkDescriptor.REGION_OFFSET);
    final int length = frame.getInt(payload + BulkDescriptor.LENGTH_OFFSET);
    final long offset = frame.getLong(payload + BulkDescriptor.OFFSET_OFFSET);
    if (number < 0 || number >= regions.size() || length <= 0) {
      return false;
    }
    final MemoryRegion region = regions.get(number);
    if (offset < 0 || offset > region.length() - length) {
      return false;
    }
    final Read added = new Read(region, (int) offset, length);
    if (first == null) {
      first = added;
    } else {
      last.next = added;
    }
    last = added;
    return true;
  }

  /** Length of what the last frame has asked for. */
  int lastLength() {
    return last.length;
  }

  /** What the last frame has asked for stands here in the unit that comes in. */
  void lastInto(Stream stream, int position) {
    last.stream = stream;
    last.unit = stream.inbound();
    last.generation = last.unit.generation();
    last.position = position;
    last.unit.beginRead();
  }

  /** Where long arrays come from. */
  ArrayPool arrays() {
    return arrays;
  }

  /** True when nothing is in line. */
  boolean isEmpty() {
    return first == null;
  }

  /**
   * Does what fits in a round.
   *
   * @return how much was done.
   */
  int poll() {
    return poll(quantum);
  }

  /** Does everything that is in line: the session ends. */
  void drain() {
    while (poll(Integer.MAX_VALUE) > 0) {}
  }

  /** Calls whose last unit will not be read have nothing else that tells them of the end. */
  void distrust(News news) {
    for (Read read = first; read != null; read = read.next) {
      if (read.stream != null && read.stream.flow != null) {
        read.stream.flow.distrust();
        news.addFlow(read.stream);
      }
    }
  }

  /** Drops what is in line. */
  void clear() {
    first = null;
    last = null;
  }

  private int poll(int limit) {
    final long before = released;
    int left = limit;
    int rounds = 0;
    Read read;
    while ((read = first) != null) { // what nobody wants costs nothing
      rounds++;
      if (read.isWanted()) {
        left -= copy(read, Math.min(left, read.length - read.done));
        if (read.done < read.length) {
          break;
        }
      }
      first = read.next;
      released++;
      if (read.isWanted() && read.unit.endRead()) {
        session.onRead(read.stream);
      }
    }
    if (released != before) {
      ownControl.released(released);
    }
    return rounds;
  }

  private int copy(Read read, int length) {
    read.region.getBytes(
        read.offset + read.done, read.unit.array(), read.position + read.done, length);
    read.done += length;
    session.tally.add(Counter.SESSION_BULK_RECEIVED, length);
    return length;
  }
}
