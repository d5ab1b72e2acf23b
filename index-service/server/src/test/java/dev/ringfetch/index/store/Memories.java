package dev.ringfetch.index.store;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.MemoryRegion;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Random;

/** Store memories for tests, in direct buffers, with the gate open. */
final class Memories {
  static final long INCARNATION = 0x1234_5678_9ABCL;

  private Memories() {}

  static StoreMemory.Context context(int segmentLength, long budget) {
    return new StoreMemory.Context()
        .segmentSource(DirectRegion::new)
        .segmentLength(segmentLength)
        .budget(budget)
        .gate(openGate(), 0)
        .incarnation(INCARNATION)
        .seed(7);
  }

  static MemoryRegion openGate() {
    final DirectRegion gate = new DirectRegion(64);
    gate.putLong(0, INCARNATION);
    return gate;
  }

  static StoreMemory serving(StoreMemory.Context context) {
    try {
      final StoreMemory memory = new StoreMemory(context);
      memory.serve();
      return memory;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static StoreMemory serving(int segmentLength, long budget) {
    return serving(context(segmentLength, budget));
  }

  /** A source that notes each region which it creates. */
  static StoreMemory.SegmentSource noting(
      List<MemoryRegion> regions, StoreMemory.SegmentSource source) {
    return length -> {
      regions.add(source.grow(length));
      return regions.get(regions.size() - 1);
    };
  }

  static ByteString bytes(Random random, int length) {
    final byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return ByteString.copyFrom(bytes);
  }
}
