package dev.ringfetch.index.store;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.BoxDescriptor;
import dev.ringfetch.index.layout.HashLocation;
import dev.ringfetch.index.layout.SpatialDescriptor;

/**
 * The owner's access to the entries of a partition of a spatial index: those of a hash index, whose
 * values begin with boxes, and a tree over the same blocks.
 *
 * <p>While an index is restored, entries go into the hash table alone; {@link #complete} then packs
 * the tree. A block becomes valid after leaf and slot were stored, and ceases to be valid before
 * they are cleared: so a reader of either finds the same entries.
 */
final class SpatialStore extends PartitionStore {
  private final SpatialTree tree;
  private final float[] oldBox = new float[4];
  private final float[] box = new float[4];
  private boolean isComplete;
  private int changes;

  /** Creates an empty partition, still without memory. */
  SpatialStore(StoreMemory memory, IndexRoot root, HashLocation location, int number) {
    super(memory, root, location, number);
    final long head = root.address() + SpatialDescriptor.head(number, location.partitions());
    tree = new SpatialTree(memory, root.incarnation(), head, number, location.partitions());
  }

  @Override
  boolean open() {
    return tree.open() && super.open();
  }

  @Override
  void close() {
    tree.close();
    super.close();
  }

  SpatialTree tree() {
    return tree;
  }

  @Override
  public boolean accepts(ByteString value) {
    return BoxDescriptor.isLegal(value);
  }

  @Override
  public ByteString place(ByteString value) {
    return value.substring(0, BoxDescriptor.LENGTH);
  }

  @Override
  public ByteString placeOf(ByteString key) {
    return version(key) == 0 ? ByteString.EMPTY : blocks().exactBox();
  }

  @Override
  public int reserve(int keyLength, int valueLength, boolean hasDeadline) {
    final int refused = super.reserve(keyLength, valueLength, hasDeadline);
    if (refused == 0 && isComplete) {
      if (!tree.reserve(changes + 1)) {
        super.release(keyLength, valueLength, hasDeadline);
        return FULL;
      }
      changes++;
    }
    return refused;
  }

  @Override
  public void release(int keyLength, int valueLength, boolean hasDeadline) {
    super.release(keyLength, valueLength, hasDeadline);
    endReservation();
  }

  /** Ends a reservation: earlier changes used less than their share, so the rest suffices. */
  private void endReservation() {
    if (isComplete) {
      changes--;
      final boolean unused = tree.reserve(changes);
    }
  }

  @Override
  void replacing() {
    blocks().getBox(oldBox);
  }

  @Override
  void storing(long oldSlot, long slot, long version) {
    if (isComplete) {
      blocks().getBox(box);
      if (oldSlot == 0) {
        tree.add(box, slot, (int) version);
      } else {
        tree.replace(oldBox, oldSlot, box, slot, (int) version);
      }
      endReservation();
    }
  }

  @Override
  void removing(long slot) {
    if (isComplete) {
      blocks().getBox(oldBox);
      blocks().invalidate(slot);
      tree.remove(oldBox, slot);
    }
  }

  /**
   * Builds the tree of what was put before. Called once, before the first reader.
   *
   * @throws StoreFullException if there is no memory for it
   */
  void complete() {
    if (isComplete) {
      return;
    }
    final TreePacking entries = new TreePacking((int) Math.min(1 << 28, count()));
    walk(
        slot -> {
          blocks().getBox(box);
          entries.add(box, slot, (int) blocks().version());
          return true;
        });
    tree.pack(entries);
    isComplete = true;
  }

  /** Also checks the tree, if the key is empty, which no entry's is. */
  @Override
  public void check(ByteString key) {
    if (key.isEmpty()) {
      tree.check();
    }
  }
}
