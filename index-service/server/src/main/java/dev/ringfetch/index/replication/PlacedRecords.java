package dev.ringfetch.index.replication;

import dev.ringfetch.fabric.GatePage;
import dev.ringfetch.fabric.MemoryFaults;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.log.RecordLog;
import dev.ringfetch.index.onesided.LogMemoryDescriptor;
import dev.ringfetch.index.onesided.MemberMemory;
import dev.ringfetch.index.v1.FabricHint;
import dev.ringfetch.index.v1.LogOffer;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The records that a leader has placed in this replica's memory, on their way into its log, and the
 * gate by which the leader sees that they count.
 *
 * <p>The gate names an epoch only from the offer of its log memory until the replica obeys another
 * one, or gives its records up. What was placed before that is in the log then: a leader that has
 * placed a record, and has seen the gate after that, knows that the replica has it.
 *
 * <p>The replica's owner only.
 */
final class PlacedRecords {
  private static final Logger LOGGER = System.getLogger(PlacedRecords.class.getName());

  /** Bytes that are taken at once, but for a longer record; less of a short ring. */
  private static final int BATCH_LENGTH = 64 << 10;

  private static final int UNKNOWN = -1;

  private final ReplicaContext context;
  private final JournalRecord view = new JournalRecord();
  private @Nullable MemberMemory memory;
  private boolean opened;
  private @Nullable MemoryRegion region; // null: nothing is offered
  private @Nullable GatePage gate; // of what was offered last; null: nothing was
  private int ring; // its length
  private long taken; // bytes
  private long position; // of the last record that was taken
  private long commit;
  private byte[] bytes = {};
  private int batch; // most bytes that are taken at once
  private long damaged;

  PlacedRecords(ReplicaContext context) {
    this.context = context;
  }

  /** Position up to which the leader has committed, as it wrote; 0 if it did not. */
  long commit() {
    return commit;
  }

  /** Number of times that what was placed could not be, or the memory was taken away. */
  long damaged() {
    return damaged;
  }

  /**
   * Offers log memory for the epoch of the replica's gate, which the leader sees from then on.
   *
   * @param hints of its leader
   * @return null if there is none
   */
  @Nullable LogOffer offer(List<FabricHint> hints, long epoch) {
    if (hints.isEmpty() || region != null) {
      return null;
    }
    if (!opened) {
      opened = true;
      memory = context.peers().memory().open();
    }
    if (memory == null) {
      return null;
    }
    final MemberMemory.Offered offered;
    try {
      offered = memory.offer(hints, context.limits().memory());
    } catch (IOException e) { // messages do as well
      LOGGER.log(Level.INFO, "no memory for the leader's records: " + e.getMessage());
      return null;
    }
    if (offered == null) {
      return null;
    }
    region = offered.region();
    gate = offered.gate();
    ring = region.length() - LogMemoryDescriptor.RING_OFFSET;
    taken = 0;
    position = UNKNOWN;
    commit = 0;
    batch = Math.min(BATCH_LENGTH, RecordDescriptor.aligned(ring / 4));
    region.putLong(LogMemoryDescriptor.MAGIC_OFFSET, LogMemoryDescriptor.MAGIC);
    region.putLongRelease(LogMemoryDescriptor.EPOCH_OFFSET, epoch);
    gate.move(epoch);
    return offered.offer();
  }

  /** Closes the gate: no record counts that is placed from now on. */
  void closeGate() {
    if (gate != null) {
      gate.close();
    }
  }

  /**
   * Takes all that was placed before the gate was closed, and gives the memory back. What comes
   * meanwhile does not count: a leader that goes on placing does not prolong this.
   */
  void scan(RecordLog log) {
    if (region != null) {
      takeSome(log, true);
    }
    withdraw();
  }

  /** Closes the gate, and takes what was placed before that. */
  void takeLast(RecordLog log) {
    closeGate();
    scan(log);
  }

  /** Gives what was placed up, and the memory back; the gate is closed before. */
  void withdraw() {
    region = null;
    if (memory != null) {
      memory.withdraw();
    }
  }

  /** Gives all memory back. */
  void close() {
    region = null;
    gate = null;
    if (memory != null) {
      memory.close();
      memory = null;
    }
  }

  /** Takes records that were placed, some at a time; returns whether there are more. */
  boolean take(RecordLog log) {
    final ReplicaContext.Limits limits = context.limits();
    return region != null
        && log.bytes() <= 4L * limits.waiting() + limits.tail() // as a leader keeps no more
        && takeSome(log, false);
  }

  /**
   * Takes records up to where they end now.
   *
   * @param isLast whether all of them, and not as many as are taken at once
   * @return whether there are more
   */
  private boolean takeSome(RecordLog log, boolean isLast) {
    final MemoryRegion from = region;
    try {
      final long committed = from.getLongAcquire(LogMemoryDescriptor.COMMIT_OFFSET);
      final long end = from.getLongAcquire(LogMemoryDescriptor.END_OFFSET);
      boolean again;
      do {
        again = takeUpTo(end, from, log);
      } while (again && isLast);
      if (region != null) {
        commit = Math.max(commit, committed);
      }
      return again;
    } catch (InternalError e) { // the memory was taken away
      MemoryFaults.absorb(from, e);
      return refuse();
    }
  }

  private boolean takeUpTo(long end, MemoryRegion from, RecordLog log) {
    final long begin = from.getLongAcquire(LogMemoryDescriptor.BEGIN_OFFSET);
    final long there = end - taken;
    if (there == 0) {
      return false;
    }
    if (there < 0 || there > ring) {
      return refuse();
    }
    if (position == UNKNOWN) {
      position = begin;
    }
    final int length = copy(from, (int) Math.min(there, batch));
    from.verify();
    final int used = add(log, length);
    if (used < 0 || (used == 0 && (length == there || length > RecordDescriptor.LENGTH_LIMIT))) {
      context.unknown().look(context.group(), bytes, 0, length);
      return refuse();
    }
    if (used == 0) {
      batch *= 2; // for a longer record
      return true;
    }
    taken += used;
    from.putLongRelease(LogMemoryDescriptor.CONSUMED_OFFSET, taken);
    return taken < end;
  }

  /** Copies what is next out of the ring, into this replica's own memory. */
  private int copy(MemoryRegion from, int length) {
    if (bytes.length < length) {
      bytes = new byte[Math.max(length, Math.min(batch, 2 * bytes.length))];
    }
    final int at = (int) (taken % ring);
    final int first = Math.min(length, ring - at);
    from.getBytes(LogMemoryDescriptor.RING_OFFSET + at, bytes, 0, first);
    from.getBytes(LogMemoryDescriptor.RING_OFFSET, bytes, first, length - first);
    return length;
  }

  /**
   * Appends the whole records of what was copied, but for those that came by messages.
   *
   * @return their bytes; negative if there is none that can follow
   */
  private int add(RecordLog log, int limit) {
    int offset = 0;
    while (offset < limit && view.wrap(bytes, offset, limit)) {
      final int length = RecordDescriptor.aligned(view.length());
      if (!RecordLog.allows(view, context.group())
          || position > log.end()
          || length > limit - offset) {
        return UNKNOWN;
      }
      if (position == log.end()) {
        log.add(bytes, offset, length);
      }
      position++;
      offset += length;
    }
    return offset;
  }

  /**
   * Refuses impossible or lost memory: the leader sees the gate closed. The leader may have counted
   * records that this replica does not have, so this replica is no longer complete.
   */
  private boolean refuse() {
    damaged++;
    closeGate();
    withdraw();
    return false;
  }
}
