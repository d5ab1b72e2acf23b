package dev.ringfetch.index.replay;

import dev.ringfetch.fabric.MemoryFaults;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.store.EntryStore;
import dev.ringfetch.index.store.StoreDamagedException;
import dev.ringfetch.index.store.StoreFullException;
import java.io.IOException;
import java.util.Arrays;
import java.util.Map;

/**
 * Copies of records that change entries, with the stores that they change, which are carried out
 * together: in their order; or by keys, those of one key in their order, so that a tree is changed
 * leaf by leaf.
 *
 * <p>Used by one thread at a time.
 */
final class ReplayChunk {
  /** Bytes of records after which a chunk is full: little waits for the first one. */
  private static final int LENGTH = 1 << 20;

  /**
   * The same by keys: each leaf of a tree of a million entries gets several of them. Less where the
   * heap is small: there may be eight chunks, and an array may be twice as long.
   */
  private static final int SORTED_LENGTH =
      (int) Math.max(LENGTH, Math.min(16 << 20, Runtime.getRuntime().maxMemory() / 64));

  private final boolean sorts;
  private byte[] bytes = new byte[LENGTH];
  private int length;
  private int[] starts = new int[LENGTH / RecordDescriptor.KEY_OFFSET];
  private EntryStore[] stores = new EntryStore[starts.length];
  private int count;

  /**
   * Creates an empty chunk.
   *
   * @param sorts whether records are carried out by keys
   */
  ReplayChunk(boolean sorts) {
    this.sorts = sorts;
  }

  /** Adds a record. */
  void add(EntryStore store, JournalRecord record) {
    final int end = length + record.length();
    if (end > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(end, 2 * bytes.length));
    }
    if (count + 1 >= starts.length) {
      starts = Arrays.copyOf(starts, 2 * count + 2);
      stores = Arrays.copyOf(stores, starts.length);
    }
    record.copyTo(bytes, length);
    starts[count] = length;
    stores[count] = store;
    count++;
    length = end;
    starts[count] = end;
  }

  boolean isEmpty() {
    return count == 0;
  }

  boolean isFull() {
    return length >= (sorts ? SORTED_LENGTH : LENGTH);
  }

  /**
   * Carries all records out, and forgets them.
   *
   * @param failures of stores, which take no more records; gets more of them
   */
  void apply(Map<EntryStore, Exception> failures) {
    final JournalRecord record = new JournalRecord();
    final int[] order = sorts ? sorted() : null;
    for (int i = 0; i < count; i++) {
      final int number = order == null ? i : order[i];
      view(record, number);
      if (failures.isEmpty() || !failures.containsKey(stores[number])) {
        try {
          EntryReplay.apply(stores[number], record);
        } catch (IOException | StoreFullException e) {
          failures.put(stores[number], e);
        } catch (StoreDamagedException e) {
          MemoryFaults.absorb(stores[number]::verify, e); // it may be of a page that is gone
          failures.put(stores[number], e);
        }
      }
    }
    Arrays.fill(stores, 0, count, null);
    count = 0;
    length = 0;
  }

  private void view(JournalRecord record, int number) {
    record.view(bytes, starts[number], starts[number + 1] - starts[number]);
  }

  /** Numbers of the records by their keys; those of equal keys in ascending order. */
  private int[] sorted() {
    final JournalRecord first = new JournalRecord();
    final JournalRecord second = new JournalRecord();
    final long[] heads = heads(first, second);
    int[] from = new int[count];
    int[] to = new int[count];
    for (int i = 0; i < count; i++) {
      from[i] = i;
    }
    for (int run = 1; run < count; run *= 2) {
      for (int begin = 0; begin < count; begin += 2 * run) {
        final int middle = Math.min(begin + run, count);
        final int end = Math.min(middle + run, count);
        int left = begin;
        int right = middle;
        for (int i = begin; i < end; i++) {
          final boolean takesLeft;
          if (left == middle || right == end) {
            takesLeft = right == end;
          } else {
            final int order = Long.compareUnsigned(heads[from[left]], heads[from[right]]);
            takesLeft =
                order < 0 || (order == 0 && isInOrder(first, from[left], second, from[right]));
          }
          to[i] = takesLeft ? from[left++] : from[right++];
        }
      }
      final int[] sorted = to;
      to = from;
      from = sorted;
    }
    return from;
  }

  private boolean isInOrder(JournalRecord first, int left, JournalRecord second, int right) {
    view(first, left);
    view(second, right);
    return first.compareKey(second) <= 0;
  }

  /** Of each key, eight bytes behind those with which all begin. */
  private long[] heads(JournalRecord first, JournalRecord other) {
    view(first, 0);
    int prefix = Integer.MAX_VALUE;
    for (int i = 0; i < count; i++) {
      view(other, i);
      prefix = Math.min(prefix, first.commonPrefix(other));
    }
    final long[] heads = new long[count];
    for (int i = 0; i < count; i++) {
      view(other, i);
      heads[i] = other.keyHead(prefix);
    }
    return heads;
  }
}
