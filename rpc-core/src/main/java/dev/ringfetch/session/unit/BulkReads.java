package dev.ringfetch.session.unit;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Tally;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.ring.BulkDescriptor;
import dev.ringfetch.ring.ControlFlyweight;
import dev.ringfetch.session.bulk.ArrayPool;
import dev.ringfetch.session.owner.OwnedBy;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The queue of reads of the peer's registered memory. A frame only queues its read; reads are done
 * in their order, some bytes a round, so that the frames of other calls, which come behind it in
 * the ring, need not wait for them. The control line has the number of completed reads: that memory
 * belongs to the peer again.
 *
 * @param <R> type of the readers.
 */
@OwnedBy("session")
public final class BulkReads<R> {
  private final Listener<R> listener;
  private final Tally tally;
  private final ControlFlyweight ownControl;
  private final ArrayPool arrays;
  private final int quantum; // what is copied a round, in bytes

  private long released;

  // The queue, linked: one that had to grow might be left half changed for lack of memory.
  private Read<R> first;
  private Read<R> last; // also when it is done

  private static final class Read<R> {
    final MemoryRegion region;
    final int offset;
    final int length;
    @Nullable R reader; // null: the data is not wanted
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
   * Creates an empty queue.
   *
   * @param listener called when the last read of a unit is done.
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
   * Queues the read that a frame requests.
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

  /** Length of the read that the last frame has requested. */
  int lastLength() {
    return last.length;
  }

  /** Sets the position, in the inbound unit, of the read that the last frame has requested. */
  void lastInto(R reader, UnitBuffer unit, int position) {
    last.reader = reader;
    last.unit = unit;
    last.generation = last.unit.generation();
    last.position = position;
    last.unit.beginRead();
  }

  /** The pool of long arrays. */
  ArrayPool arrays() {
    return arrays;
  }

  /** True when no read is queued. */
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

  /** Does all queued reads, because the session ends. */
  public void drain() {
    while (poll(Integer.MAX_VALUE) > 0) {}
  }

  /** Passes each queued reader to an action. */
  public void forEachReader(Consumer<R> action) {
    for (Read<R> read = first; read != null; read = read.next) {
      if (read.reader != null) {
        action.accept(read.reader);
      }
    }
  }

  /** Drops the queued reads. */
  public void clear() {
    first = null;
    last = null;
  }

  private int poll(int limit) {
    final long before = released;
    int left = limit;
    int rounds = 0;
    Read<R> read;
    while ((read = first) != null) { // unwanted data costs nothing
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

  /** Listener for completed reads. */
  @FunctionalInterface
  public interface Listener<R> {
    /** Called when all reads that a unit has waited for are done. */
    @OwnedBy("session")
    void onRead(R reader);
  }
}
