package dev.ringfetch.index.store;

import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.index.layout.Reads;
import dev.ringfetch.index.layout.SegmentReads.Segments;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * Reads as a card makes them: copies, each word at a moment of its own, the reads of a batch in any
 * order, mixed with each other.
 */
final class PostedReads implements Reads {
  private static final int RESULT_LENGTH = 1 << 17;

  private final Random random;
  private final Segments segments;
  private final int shift;
  private final MemoryRegion gate;
  private final MemoryRegion results = new DirectRegion(RESULT_LENGTH);
  private final List<int[]> words = new ArrayList<>();
  private final List<MemoryRegion> sources = new ArrayList<>();
  private final List<Integer> offsets = new ArrayList<>();
  private int used;
  private boolean unknown;

  PostedReads(Random random, Segments segments, int shift, MemoryRegion gate) {
    this.random = random;
    this.segments = segments;
    this.shift = shift;
    this.gate = gate;
  }

  @Override
  public void begin() {
    words.clear();
    sources.clear();
    offsets.clear();
    used = 0;
    unknown = false;
  }

  @Override
  public int add(long address, int length) {
    final MemoryRegion source = address == GATE ? gate : segments.segment(address >>> shift);
    final int offset = address == GATE ? 0 : (int) address & ((1 << shift) - 1);
    final int number = offsets.size();
    // Aligned as the source is.
    final int at = used + (offset & 7);
    used = (at + length + 7) & ~7;
    offsets.add(at);
    sources.add(source);
    if (source == null || length > source.length() - offset || used > RESULT_LENGTH) {
      unknown = true;
      return number;
    }
    int i = 0;
    while (i < length) {
      final int step = length - i >= 8 && ((offset + i) & 7) == 0 ? 8 : length - i >= 4 ? 4 : 1;
      words.add(new int[] {number, offset + i, at + i, step});
      i += step;
    }
    return number;
  }

  @Override
  public int execute() {
    if (unknown) {
      return UNKNOWN_ADDRESS;
    }
    Collections.shuffle(words, random);
    for (int[] word : words) {
      final MemoryRegion source = sources.get(word[0]);
      switch (word[3]) {
        case 8 -> results.putLong(word[2], source.getLong(word[1]));
        case 4 -> results.putInt(word[2], source.getInt(word[1]));
        default -> {
          final byte[] one = new byte[1];
          source.getBytes(word[1], one, 0, 1);
          results.putBytes(word[2], one, 0, 1);
        }
      }
    }
    return DONE;
  }

  @Override
  public MemoryRegion region(int number) {
    return results;
  }

  @Override
  public int offset(int number) {
    return offsets.get(number);
  }

  @Override
  public int segmentShift() {
    return shift;
  }

  @Override
  public boolean ordered() {
    return false;
  }

  @Override
  public void verify() {}
}
