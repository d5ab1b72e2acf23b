package dev.ringfetch.index.store;

import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.index.layout.Reads;
import dev.ringfetch.index.layout.SegmentReads;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Index memory, and the gate before it, whose stores arrive when a log lets them. */
final class LoggedMemory implements SegmentReads.Segments {
  private static final int SEGMENT_SHIFT = 16;

  private final StoreLog log;
  private final List<StoreLog.Region> regions = new ArrayList<>();
  final StoreLog.Region gate;
  final StoreMemory memory;

  LoggedMemory(StoreLog log, long seed) {
    this.log = log;
    gate = log.new Region(64);
    gate.putLongRelease(0, Memories.INCARNATION);
    memory =
        Memories.serving(
            new StoreMemory.Context()
                .segmentSource(this::grow)
                .segmentLength(1 << SEGMENT_SHIFT)
                .budget(1 << 20)
                .gate(gate, 0)
                .incarnation(Memories.INCARNATION)
                .seed(seed));
  }

  private MemoryRegion grow(int length) {
    final StoreLog.Region region = log.new Region(length);
    regions.add(region);
    return region;
  }

  @Override
  public MemoryRegion segment(long number) {
    return number >= 0 && number < regions.size() ? regions.get((int) number).shown() : null;
  }

  /** Reads of live memory, whose loads keep their order. */
  Reads liveReads() {
    return new SegmentReads(this, SEGMENT_SHIFT, gate.shown(), 0);
  }

  /** Reads of copies, of words of different moments, as a card makes them. */
  Reads copyingReads(Random random) {
    return new PostedReads(random, this, SEGMENT_SHIFT, gate.shown());
  }

  /** A copy of what readers see. */
  List<byte[]> copy() {
    return regions.stream().map(region -> region.shown().copy()).toList();
  }

  /** Shows readers a copy again. */
  void restore(List<byte[]> copy) {
    for (int i = 0; i < copy.size(); i++) {
      regions.get(i).shown().putBytes(0, copy.get(i), 0, copy.get(i).length);
    }
  }

  /** Zeroes all memory but the gate. */
  void clear() {
    for (StoreLog.Region region : List.copyOf(regions)) {
      for (int i = 0; i < region.length(); i += 8) {
        if (region.getLong(i) != 0) {
          region.putLong(i, 0);
        }
      }
    }
  }
}
