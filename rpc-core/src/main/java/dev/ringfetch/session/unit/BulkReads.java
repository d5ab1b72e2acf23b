package dev.ringfetch.session.unit;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Tally;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.ring.BulkDescriptor;
import dev.ringfetch.ring.ControlFlyweight;
import dev.ringfetch.session.bulk.ArrayPool;
import dev.ringfetch.session.bulk.AttachedMemory;
import dev.ringfetch.session.bulk.ReadWindow;
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
 * <p>Where the peer's memory is not loaded from, a read is cut into pieces, which a {@link
 * ReadWindow} brings. A read is done when its last piece has arrived. One that is not wanted any
 * more waits for the pieces that were posted, since the device still reads the peer's memory.
 *
 * @param <R> type of the readers.
 */
@OwnedBy("session")
public final class BulkReads<R> {
  private final Listener<R> listener;
  private final Tally tally;
  private final ControlFlyweight ownControl;
  private final ReadWindow window;
  private final ArrayPool arrays;
  private final int quantum; // what is copied a round, in bytes

  private long released;

  // The queue, linked: one that had to grow might be left half changed for lack of memory.
  private Read<R> first;
  private Read<R> last; // also when it is done
  private Read<R> posting; // the first with pieces to be posted

  private static final class Read<R> {
    final AttachedMemory memory;
    final int offset;
    final int length;
    @Nullable R reader; // null: the data is not wanted
    UnitBuffer unit;
    int generation;
    int position;
    int posted; // in bytes, where pieces are
    int done;
    Read<R> next;

    Read(AttachedMemory memory, int offset, int length) {
      this.memory = memory;
      this.offset = offset;
      this.length = length;
    }

    boolean isWanted() {
      return reader != null && unit.generation() == generation;
    }

    boolean isRemote() {
      return memory.remote() != null;
    }
  }

  /**
   * Creates an empty queue.
   *
   * @param listener called when the last read of a unit is done.
   * @param ownControl line that tells the peer how many reads were done.
   * @param window that brings what cannot be loaded.
   * @param arrays for units that are long.
   * @param quantum bytes that are copied in a round.
   */
  public BulkReads(
      Listener<R> listener,
      Tally tally,
      ControlFlyweight ownControl,
      ReadWindow window,
      ArrayPool arrays,
      int quantum) {
    this.listener = listener;
    this.tally = tally;
    this.ownControl = ownControl;
    this.window = window;
    this.arrays = arrays;
    this.quantum = quantum;
  }

  /**
   * Queues the read that a frame requests.
   *
   * @param attached memory of the peer, by number.
   * @return false when there is no such memory.
   */
  public boolean add(
      List<AttachedMemory> attached, MemoryRegion frame, int payload, int payloadLength) {
    if (payloadLength != BulkDescriptor.DESCRIPTOR_LENGTH) {
      return false;
    }
    final int number = frame.getInt(payload + BulkDescriptor.REGION_OFFSET);
    final int length = frame.getInt(payload + BulkDescriptor.LENGTH_OFFSET);
    final long offset = frame.getLong(payload + BulkDescriptor.OFFSET_OFFSET);
    if (number < 0 || number >= attached.size() || length <= 0) {
      return false;
    }
    final AttachedMemory memory = attached.get(number);
    if (offset < 0 || offset > memory.length() - length) {
      return false;
    }
    final Read<R> added = new Read<>(memory, (int) offset, length);
    if (first == null) {
      first = added;
    } else {
      last.next = added;
    }
    last = added;
    if (posting == null) {
      posting = added;
    }
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

  /** True when {@link #drain} does all queued reads: none of them waits for a device. */
  public boolean canDrain() {
    return first == null || !first.isRemote();
  }

  /**
   * Does what fits in a round.
   *
   * @return how much was done.
   */
  public int poll() {
    return first == null ? 0 : poll(quantum);
  }

  /** Posts reads to the device, as many as there is room for, behind the frames of the round. */
  public void post() {
    while (posting != null && posting.isRemote() && window.hasRoom()) {
      if (!posting.isWanted() || posting.posted == posting.length) {
        posting = posting.next;
        continue;
      }
      final int length = Math.min(ReadWindow.PIECE_LENGTH, posting.length - posting.posted);
      final int offset = posting.offset + posting.posted;
      if (window.post(posting.memory.remote(), offset, length) != QueuePair.POSTED) {
        return; // the next round tries again, or the connection has ended
      }
      posting.posted += length;
    }
  }

  /** Does the queued reads that can be done without waiting, because the session ends. */
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
    posting = null;
  }

  private int poll(int limit) {
    window.poll();
    final long before = released;
    int left = limit;
    Read<R> read;
    while ((read = first) != null) { // unwanted data costs nothing
      left -= read.isRemote() ? take(read, left) : copy(read, left);
      if (read.done < (read.isWanted() ? read.length : read.posted)) {
        break;
      }
      if (posting == read) {
        posting = read.next;
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
    return left != limit || released != before ? 1 : 0;
  }

  /** Loads as much of a read as is wanted and allowed; returns how many bytes that was. */
  private int copy(Read<R> read, int limit) {
    if (!read.isWanted()) {
      return 0;
    }
    final int length = Math.min(limit, read.length - read.done);
    read.memory
        .region()
        .getBytes(read.offset + read.done, read.unit.array(), read.position + read.done, length);
    read.done += length;
    tally.add(Counter.SESSION_BULK_RECEIVED, length);
    return length;
  }

  /** Empties pieces of a read that have arrived; returns how many bytes it has copied. */
  private int take(Read<R> read, int limit) {
    int copied = 0;
    while (read.done < read.posted && copied < limit && window.hasArrived()) {
      final int piece = window.length();
      if (read.isWanted()) {
        window.copy(read.unit.array(), read.position + read.done);
        tally.add(Counter.SESSION_BULK_RECEIVED, piece);
        copied += piece;
      }
      window.free();
      read.done += piece;
    }
    return copied;
  }

  /** Listener for completed reads. */
  @FunctionalInterface
  public interface Listener<R> {
    /** Called when all reads that a unit has waited for are done. */
    @OwnedBy("session")
    void onRead(R reader);
  }
}
