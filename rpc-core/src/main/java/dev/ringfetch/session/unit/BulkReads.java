package dev.ringfetch.session.unit;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Tally;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.ring.BulkDescriptor;
import dev.ringfetch.ring.ControlFlyweight;
import dev.ringfetch.session.bulk.ArrayPool;
import java.util.List;
import java.util.function.Consumer;

/**
 * What the peer has named in its registered memory and this side has not read yet. A frame only
 * puts its read in line; reads are done in their order, some bytes a round, so that the frames of
 * other calls, which come behind it in the ring, need not wait for them. How many were done stands
 * in the control line: that memory is the peer's again. Belongs to the owner of the session.
 *
 * @param <R> type of the readers.
 */
public final class BulkReads<R> {
  private final Listener<R> listener;
  private final Tally tally;
  private final ControlFlyweight ownControl;
  private final ArrayPool arrays;
  private final int quantum; // what is copied a round, in bytes

  private long released;

  // The line, linked: one that had to grow might be left half changed for want of memory.
  private Read<R> first;
  private Read<R> last; // also when it is done

  private static final class Read<R> {
    final MemoryRegion region;
    final int offset;
    final int length;
    R reader; // null: nobody wants it
    UnitBuffer unit;
    int generation;
    int position;
    int done;
    Read<R> next;

    Read(MemoryRegion region, int offset, int length) {
      this.region = region;
      this.offset = offset;
      this.length = length;
    }

    boolean isWanted() {
      return reader != null && unit.generation() == generation;
    }
  }

  /**
   * Creates an empty line.
   *
   * @param listener told when the last read of a unit is done.
   * @param ownControl line that tells the peer how many reads were done.
   * @param arrays for units that are long.
   * @param quantum bytes that are copied in a round.
   */
  public BulkReads(
      Listener<R> listener,
      Tally tally,
      ControlFlyweight ownControl,
      ArrayPool arrays,
      int quantum) {
    this.listener = listener;
    this.tally = tally;
    this.ownControl = ownControl;
    this.arrays = arrays;
    this.quantum = quantum;
  }

  /**
   * Puts the read in line that a frame asks for.
   *
   * @param regions of the peer, by number.
   * @return false when there is no such memory.
   */
  public boolean add(
      List<MemoryRegion> regions, MemoryRegion frame, int payload, int payloadLength) {
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
    final Read<R> added = new Read<>(region, (int) offset, length);
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
  void lastInto(R reader, UnitBuffer unit, int position) {
    last.reader = reader;
    last.unit = unit;
    last.generation = last.unit.generation();
    last.position = position;
    last.unit.beginRead();
  }

  /** Where long arrays come from. */
  ArrayPool arrays() {
    return arrays;
  }

  /** True when nothing is in line. */
  public boolean isEmpty() {
    return first == null;
  }

  /**
   * Does what fits in a round.
   *
   * @return how much was done.
   */
  public int poll() {
    return poll(quantum);
  }

  /** Does everything that is in line: the session ends. */
  public void drain() {
    while (poll(Integer.MAX_VALUE) > 0) {}
  }

  /** Hands each reader in line to an action. */
  public void forEachReader(Consumer<R> action) {
    for (Read<R> read = first; read != null; read = read.next) {
      if (read.reader != null) {
        action.accept(read.reader);
      }
    }
  }

  /** Drops what is in line. */
  public void clear() {
    first = null;
    last = null;
  }

  private int poll(int limit) {
    final long before = released;
    int left = limit;
    int rounds = 0;
    Read<R> read;
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
        listener.onRead(read.reader);
      }
    }
    if (released != before) {
      ownControl.released(released);
    }
    return rounds;
  }

  private int copy(Read<R> read, int length) {
    read.region.getBytes(
        read.offset + read.done, read.unit.array(), read.position + read.done, length);
    read.done += length;
    tally.add(Counter.SESSION_BULK_RECEIVED, length);
    return length;
  }

  /** Told of reads that are done. */
  @FunctionalInterface
  public interface Listener<R> {
    /** The last read is done of those that a unit has waited for; owner. */
    void onRead(R reader);
  }
}
