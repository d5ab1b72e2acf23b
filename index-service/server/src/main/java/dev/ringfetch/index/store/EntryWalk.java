package dev.ringfetch.index.store;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.Entry;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * A walk over the entries of a partition. The owner advances it in bounded steps, and writes
 * between the steps. Each key that has an entry during the whole walk comes at least once, with a
 * version that it had at some moment of the walk; it may come again.
 *
 * <p>The position of a walk over a hash index is a slot. A key keeps its slot until a split moves
 * it to a group behind all others. So the walk visits groups in ascending order, including new
 * ones. The position of a walk over an ordered index is a key.
 *
 * <p>The owner advances it; its user reads the entries and clears them between two steps.
 */
public final class EntryWalk {
  /** Length of a position in bytes. */
  public static final int POSITION_LENGTH = 4 * Integer.BYTES;

  /** Bytes of entries that end a step, the last entry included. */
  static final int STEP_BYTES = 32 << 10;

  /** Groups that end a step, even if they have few entries. */
  static final int STEP_GROUPS = 256;

  /** Leaves that end a step, even if they have few entries. */
  static final int STEP_LEAVES = 64;

  /** Approximate bytes of an entry besides key and value. */
  private static final int OVERHEAD = 64;

  private final List<Entry> entries = new ArrayList<>();
  private int bytes;
  private boolean done;
  private int limit = Integer.MAX_VALUE;
  private Predicate<Entry> filter = entry -> true;

  /** The begin of the next step in an ordered index. */
  ByteString key = ByteString.EMPTY;

  // The begin of the next step in a hash index.
  int table;
  int group;
  int ordinal;
  int slot;

  /** Begins a walk. */
  public EntryWalk() {}

  /** Limits each next step to this number of entries, at least 1. */
  public void limit(int entriesOfStep) {
    limit = entriesOfStep;
  }

  /** Takes these entries alone; the others count as bytes of a step. */
  public void filter(Predicate<Entry> accepted) {
    filter = accepted;
  }

  /** Writes the position of a walk over a hash index, in {@link #POSITION_LENGTH} bytes. */
  public void tell(ByteBuffer to) {
    to.putInt(table).putInt(group).putInt(ordinal).putInt(slot);
  }

  /** Reads a position of the same store at any time; returns false if it can be none. */
  public boolean seek(ByteBuffer from) {
    table = from.getInt();
    group = from.getInt();
    ordinal = from.getInt();
    slot = from.getInt();
    return (table == 0 || table == 1) && group >= 0 && ordinal >= 0 && slot >= 0;
  }

  /** The entries of the last step, in no order. */
  public List<Entry> entries() {
    return entries;
  }

  /** Whether the walk is at its end. */
  public boolean isDone() {
    return done;
  }

  /** Forgets the entries of the last step. */
  public void clear() {
    entries.clear();
    bytes = 0;
  }

  /** Adds an entry, if it is of the filter; returns whether the step continues. */
  boolean add(Entry entry) {
    if (filter.test(entry)) {
      entries.add(entry);
    }
    bytes += entry.getKey().size() + entry.getValue().size() + OVERHEAD;
    return bytes < STEP_BYTES && entries.size() < limit;
  }

  /** Ends the walk. */
  void end() {
    done = true;
  }
}
