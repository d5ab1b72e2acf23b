package dev.ringfetch.index.store;

import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.index.layout.GroupDescriptor;

/**
 * A partition owner's private copy of a bucket or a spill. The owner trusts the copy only after it
 * has verified the checksum, which is on the heap. The first word is a header or a link, the others
 * are slots. Stores go to index memory, to the copy and into the checksum.
 *
 * <p>Used by the partition's owner alone.
 */
final class Bucket {
  /** Words of 64 bits of a bucket. */
  static final int BUCKET_WORDS = GroupDescriptor.BUCKET_LENGTH / Long.BYTES;

  /** A factor for each word. Odd, so that the term of a word is 0 only if the word is 0. */
  private static final long[] FACTORS = new long[GroupDescriptor.WORDS];

  static {
    for (int i = 0; i < FACTORS.length; i++) {
      FACTORS[i] = StoreMemory.mix(i + 1) | 1;
    }
  }

  private final long[] words = new long[GroupDescriptor.WORDS];
  private int length;
  private int ordinal;
  private MemoryRegion region;
  private int offset;
  private int[] sums;
  private int sumAt;

  /**
   * Copies a bucket or spill and verifies its checksum.
   *
   * @param ordinal its number in its group
   * @param sums has its checksum at {@code sumAt}; 0 stands for zeroed memory
   * @throws StoreDamagedException if they differ
   */
  void load(StoreMemory memory, long address, int ordinal, int[] sums, int sumAt) {
    this.ordinal = ordinal;
    length = ordinal < GroupDescriptor.BUCKETS ? BUCKET_WORDS : GroupDescriptor.WORDS;
    this.sums = sums;
    this.sumAt = sumAt;
    region = memory.region(address);
    offset = memory.offset(address);
    int sum = 0;
    for (int i = 0; i < length; i++) {
      final long word = region.getLong(offset + i * Long.BYTES);
      words[i] = word;
      sum += term(word, i);
    }
    if (sum != sums[sumAt]) {
      throw new StoreDamagedException("not as it was written: bucket=" + address);
    }
  }

  private static int term(long word, int number) {
    final long product = word * FACTORS[number];
    return (int) (product ^ (product >>> 32));
  }

  /** Number of words, the first one included. */
  int length() {
    return length;
  }

  /**
   * Its number in its group: main 0, overflow, main 1, then spills, those of both sides in turn.
   */
  int ordinal() {
    return ordinal;
  }

  /** A word, as loaded or as stored since. */
  long word(int number) {
    return words[number];
  }

  /** Number of the next slot with a fingerprint, after a number; 0 if there is none. */
  int next(int fingerprint, int after) {
    for (int i = after + 1; i < length; i++) {
      if (words[i] != 0 && GroupDescriptor.fingerprint(words[i]) == fingerprint) {
        return i;
      }
    }
    return 0;
  }

  /** Number of a free slot, or 0. */
  int freeSlot() {
    for (int i = 1; i < length; i++) {
      if (words[i] == 0) {
        return i;
      }
    }
    return 0;
  }

  /** Number of free slots. */
  int freeSlots() {
    int free = 0;
    for (int i = 1; i < length; i++) {
      free += words[i] == 0 ? 1 : 0;
    }
    return free;
  }

  /** Stores a word that no reader can reach yet. */
  void put(int number, long word) {
    note(number, word);
    region.putLong(offset + number * Long.BYTES, word);
  }

  /** Stores a word after all earlier stores. */
  void putRelease(int number, long word) {
    note(number, word);
    region.putLongRelease(offset + number * Long.BYTES, word);
  }

  private void note(int number, long word) {
    sums[sumAt] += term(word, number) - term(words[number], number);
    words[number] = word;
  }
}
