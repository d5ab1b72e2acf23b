package dev.ringfetch.index.store;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.Entry;
import java.util.ArrayList;
import java.util.List;

/**
 * A walk over the entries of a partition, which its owner takes on in bounded steps while it goes
 * on to write between them. Each key that has an entry from the begin of the walk to its end comes
 * at least once, with a version that it had at some moment of the walk; it may come again.
 *
 * <p>The place of a walk over a hash index is a slot. A key keeps its slot until a split moves it,
 * and then to a group behind all others: so groups are visited in ascending order, those included
 * that came since the begin. The place of a walk over an ordered index is a key.
 *
 * <p>The owner steps it; its user reads the entries and clears them between two steps.
 */
public final class EntryWalk {
  /** Bytes of entries after which a step ends; the entry that reaches them is in it. */
  static final int STEP_BYTES = 32 << 10;

  /** Groups after which a step ends, however few entries they have. */
  static final int STEP_GROUPS = 256;

  /** Leaves after which a step ends, however few entries they have. */
  static final int STEP_LEAVES = 64;

  /** Bytes of an entry besides key and value, about. */
  private static final int OVERHEAD = 64;

  private final List<Entry> entries = new ArrayList<>();
  private int bytes;
  private boolean done;

  /** Where the next step begins, in an ordered index. */
  ByteString key = ByteString.EMPTY;

  // Where it begins in a hash index.
  int table;
  int group;
  int ordinal;
  int slot;

  /** Begins a walk. */
  public EntryWalk() {}

  /** The entries of the last step, in no order. */
  public List<Entry> entries() {
    return entries;
  }

  /** Whether no entry is left for another step. */
  public boolean isDone() {
    return done;
  }

  /** Forgets the entries of the last step. */
  public void clear() {
    entries.clear();
    bytes = 0;
  }

  /** Adds an entry; returns whether the step goes on. */
  boolean add(Entry entry) {
    entries.add(entry);
    bytes += entry.getKey().size() + entry.getValue().size() + OVERHEAD;
    return bytes < STEP_BYTES;
  }

  /** Ends the walk. */
  void end() {
    done = true;
  }
}
