package dev.ringfetch.index.partition;

import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.index.store.HashIndex;
import dev.ringfetch.index.store.OrderedIndex;
import dev.ringfetch.index.store.SpatialIndex;
import dev.ringfetch.index.store.StoreMemory;
import dev.ringfetch.index.store.StoredIndex;
import java.io.IOException;
import java.io.UncheckedIOException;

/** Indexes of one partition in memory of this process, open to readers. */
final class ProcessIndexes {
  private static final long INCARNATION = 7;

  private ProcessIndexes() {}

  static StoredIndex create(boolean ordered) {
    final StoreMemory memory = memory();
    return ordered ? new OrderedIndex(memory) : new HashIndex(memory, 1, 5);
  }

  static StoredIndex spatial() {
    final SpatialIndex index = new SpatialIndex(memory(), 1, 5);
    index.complete();
    return index;
  }

  private static StoreMemory memory() {
    final DirectRegion gate = new DirectRegion(64);
    gate.putLong(0, INCARNATION);
    try {
      final StoreMemory memory =
          new StoreMemory(
              new StoreMemory.Context()
                  .segmentSource(DirectRegion::new)
                  .segmentLength(1 << 20)
                  .budget(64 << 20)
                  .gate(gate, 0)
                  .incarnation(INCARNATION)
                  .seed(1));
      memory.serve();
      return memory;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
