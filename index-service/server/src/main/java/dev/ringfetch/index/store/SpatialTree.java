package dev.ringfetch.index.store;

import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.index.layout.BlockDescriptor;
import dev.ringfetch.index.layout.SpatialDescriptor;
import dev.ringfetch.index.layout.SpatialNodeDescriptor;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * The tree of a partition of a spatial index: an R-link tree (Kornacker and Banks, VLDB 1995) whose
 * leaves refer to the blocks of the hash table's entries. Used by the partition's owner alone.
 *
 * <p>Images change in an order such that a reader by the rules of {@link
 * dev.ringfetch.index.layout.SpatialReader} finds each entry:
 *
 * <ul>
 *   <li>Boxes of nodes are enlarged from the root down before an entry is added, and shrunk to what
 *       is there afterwards: at each moment the box of a child encloses all below it.
 *   <li>A split stores the new right node, then the left one, then the parents; no other image of a
 *       parent comes between.
 *   <li>A root that is full gives its content to two new nodes, and rises a level. A node that is
 *       empty goes out of its parent, and keeps its links in a last image.
 *   <li>A move to another leaf stores its record, the number of moves, the new leaf, then the old
 *       one.
 * </ul>
 */
final class SpatialTree {
  private final StoreMemory memory;
  private final long incarnation;
  private final long head;
  private final SpatialNodes nodes;
  private final SubtreeChoice choice = new SubtreeChoice();
  private final NodeSplit split = new NodeSplit();
  private final CRC32C crc = new CRC32C();
  private final byte[] image = new byte[SpatialNodeDescriptor.COPY_LENGTH];
  private final byte[] half = new byte[SpatialNodeDescriptor.COPY_LENGTH];
  private final byte[] record = new byte[SpatialDescriptor.COPY_LENGTH];
  private final float[] bounds = new float[4];
  private final SpatialNode[] path = new SpatialNode[SpatialNodeDescriptor.MAX_LEVEL + 1];
  private SpatialNode root;
  private long ring = StoreMemory.NONE;
  private long moves;

  /**
   * Creates it, still without memory.
   *
   * @param head address of the partition's head
   * @param partition its number
   * @param partitions number of the index's partitions
   */
  SpatialTree(StoreMemory memory, long incarnation, long head, int partition, int partitions) {
    this.memory = memory;
    this.incarnation = incarnation;
    this.head = head;
    nodes = new SpatialNodes(memory, incarnation, partition, partitions);
  }

  /** Creates the root and the ring; returns false if there is no memory. */
  boolean open() {
    ring = memory.allocateZeroed(StoreMemory.units(SpatialDescriptor.RING_LENGTH));
    if (ring == StoreMemory.NONE || !nodes.reserve(1)) {
      return false;
    }
    root = nodes.createRoot();
    nodes.storeLeaf(root, image, 0);
    final MemoryRegion region = memory.region(head);
    final int offset = memory.offset(head);
    region.putLong(offset + SpatialDescriptor.ROOT_OFFSET, root.address);
    region.putLong(offset + SpatialDescriptor.RING_OFFSET, ring);
    region.putLong(offset + SpatialDescriptor.MOVES_OFFSET, 0);
    return nodes.reserve(0);
  }

  /** Frees all memory. */
  void close() {
    if (root != null) {
      nodes.close(root);
    }
    nodes.close();
    if (ring != StoreMemory.NONE) {
      memory.free(ring, StoreMemory.units(SpatialDescriptor.RING_LENGTH));
    }
  }

  /** Number of levels. */
  int height() {
    return root.level + 1;
  }

  /** Address of the ring of moves. */
  long ring() {
    return ring;
  }

  SpatialNode root() {
    return root;
  }

  SpatialNodes nodes() {
    return nodes;
  }

  /**
   * Reserves the nodes that a number of changes may need: one for each level, one more for a root
   * that rises, and those of the level that it gets.
   */
  boolean reserve(int changes) {
    return nodes.reserve(changes == 0 ? 0 : changes * (height() + 1) + 2);
  }

  /** Adds an entry. */
  void add(float[] box, long slot, int version) {
    final SpatialNode leaf = choose(box);
    enlarge(leaf, box);
    addTo(leaf, box, slot, version);
  }

  /** Replaces an entry by one of the same id, which may have another box. */
  void replace(float[] oldBox, long oldSlot, float[] box, long slot, int version) {
    final SpatialNode leaf = leafOf(oldBox, oldSlot);
    final SpatialNode target = leaf == root || Boxes.encloses(leaf.box, box) ? leaf : choose(box);
    enlarge(target, box);
    if (target == leaf) {
      nodes.load(leaf, image);
      SpatialNodeDescriptor.putEntry(image, place(oldSlot), box, slot, version);
      nodes.storeLeaf(leaf, image, leaf.count);
      shrink(leaf);
    } else {
      recordMove(target, box);
      addTo(target, box, slot, version);
      removeFrom(leaf, oldSlot);
      storeMoves(false);
    }
  }

  /** Removes an entry. */
  void remove(float[] box, long slot) {
    removeFrom(leafOf(box, slot), slot);
  }

  private void removeFrom(SpatialNode leaf, long slot) {
    nodes.load(leaf, image);
    final int last = leaf.count - 1;
    SpatialNodeDescriptor.copyEntry(image, last, image, place(slot));
    nodes.storeLeaf(leaf, image, last);
    if (last == 0 && leaf != root) {
      prune(leaf);
    } else {
      shrink(leaf);
    }
  }

  /**
   * Fills the tree, which is empty, with entries.
   *
   * @throws StoreFullException if there is no memory for its nodes
   */
  void pack(TreePacking entries) {
    if (entries.count() <= SpatialNodeDescriptor.CAPACITY) {
      nodes.storeLeaf(root, image, entries.putAll(image));
      return;
    }
    List<SpatialNode> level = new ArrayList<>();
    try {
      for (final int[] group : TreePacking.groups(entries.boxes(), entries.count())) {
        final SpatialNode leaf = packed(level, 0);
        nodes.storeLeaf(leaf, image, entries.put(group, image, bounds));
        leaf.setBox(bounds, true);
      }
      while (level.size() > SpatialNodeDescriptor.CAPACITY) {
        level = packedAbove(level);
      }
    } catch (StoreFullException e) {
      level.forEach(nodes::close);
      throw e;
    }
    root.become(level.get(0).level + 1);
    level.forEach(root::add);
    nodes.storeInner(root);
  }

  private List<SpatialNode> packedAbove(List<SpatialNode> below) {
    final float[] boxes = new float[4 * below.size()];
    for (int i = 0; i < below.size(); i++) {
      System.arraycopy(below.get(i).box, 0, boxes, 4 * i, 4);
    }
    final List<SpatialNode> level = new ArrayList<>();
    final List<int[]> groups = TreePacking.groups(boxes, below.size());
    // All memory before the first node: until then, those below are the highest ones.
    if (!nodes.reserve(groups.size())) {
      throw full();
    }
    for (final int[] group : groups) {
      final SpatialNode node = packed(level, below.get(0).level + 1);
      for (final int child : group) {
        node.add(below.get(child));
      }
      nodes.storeInner(node);
      boundsOf(node);
      node.setBox(bounds, true);
    }
    return level;
  }

  private SpatialNode packed(List<SpatialNode> nodesOfLevel, int level) {
    if (level == 0 && !nodes.reserve(1)) {
      throw full();
    }
    final SpatialNode node = nodes.create(level);
    nodesOfLevel.add(node);
    return node;
  }

  private StoreFullException full() {
    return new StoreFullException("index memory is used up: budget=" + memory.budget());
  }

  private SpatialNode choose(float[] box) {
    SpatialNode node = root;
    while (node.level > 0) {
      node = choice.choose(node, box);
    }
    return node;
  }

  /** The leaf that refers to a block. */
  private SpatialNode leafOf(float[] box, long slot) {
    final SpatialNode leaf = leafOf(root, box, slot);
    if (leaf == null) {
      throw new StoreDamagedException("not in the tree: slot=" + slot);
    }
    return leaf;
  }

  private SpatialNode leafOf(SpatialNode node, float[] box, long slot) {
    if (node.level == 0) {
      nodes.load(node, image);
      return place(slot) < node.count ? node : null;
    }
    for (int i = 0; i < node.count; i++) {
      if (Boxes.encloses(node.children[i].box, box)) {
        final SpatialNode leaf = leafOf(node.children[i], box, slot);
        if (leaf != null) {
          return leaf;
        }
      }
    }
    return null;
  }

  /** The entry of the loaded leaf with this slot; the number of entries if there is none. */
  private int place(long slot) {
    final int count = SpatialNodeDescriptor.count(image);
    int place = 0;
    while (place < count && SpatialNodeDescriptor.target(image, place) != slot) {
      place++;
    }
    return place;
  }

  /** Enlarges the boxes of a leaf and its ancestors, from the root down. */
  private void enlarge(SpatialNode leaf, float[] box) {
    int depth = 0;
    for (SpatialNode node = leaf; node.parent != null; node = node.parent) {
      path[depth++] = node;
    }
    while (depth-- > 0) {
      if (Boxes.enlarge(path[depth].box, box)) {
        nodes.storeInner(path[depth].parent);
      }
      path[depth] = null;
    }
  }

  /** Shrinks the boxes of a leaf, whose image is loaded, and of its ancestors to what is there. */
  private void shrink(SpatialNode leaf) {
    Boxes.clear(bounds);
    for (int i = 0; i < leaf.count; i++) {
      SpatialNodeDescriptor.getBox(image, i, split.boxes[0]);
      Boxes.enlarge(bounds, split.boxes[0]);
    }
    shrinkToBounds(leaf);
  }

  private void boundsOf(SpatialNode node) {
    Boxes.clear(bounds);
    for (int i = 0; i < node.count; i++) {
      Boxes.enlarge(bounds, node.children[i].box);
    }
  }

  /** Adds an entry to a leaf, whose box encloses it already; splits the leaf if it is full. */
  private void addTo(SpatialNode leaf, float[] box, long slot, int version) {
    nodes.load(leaf, image);
    if (leaf.count < SpatialNodeDescriptor.CAPACITY) {
      SpatialNodeDescriptor.putEntry(image, leaf.count, box, slot, version);
      nodes.storeLeaf(leaf, image, leaf.count + 1);
      return;
    }
    for (int i = 0; i < leaf.count; i++) {
      SpatialNodeDescriptor.getBox(image, i, split.boxes[i]);
    }
    System.arraycopy(box, 0, split.boxes[leaf.count], 0, 4);
    final int kept = split.divide(leaf);
    final SpatialNode left = leaf == root ? nodes.create(0) : leaf;
    final SpatialNode right = nodes.create(0);
    // The order of the stores: right, left, parents.
    final int moved = NodeSplit.ENTRIES - kept;
    fill(kept, moved, box, slot, version);
    link(left, right);
    nodes.storeLeaf(right, half, moved);
    right.setBox(bounds, true);
    fill(0, kept, box, slot, version);
    markSplit(left);
    nodes.storeLeaf(left, half, kept);
    left.setBox(bounds, left != leaf);
    splitInto(leaf, left, right);
  }

  /** Fills the half image with divided entries, and sets the bounds to theirs. */
  private void fill(int from, int entries, float[] box, long slot, int version) {
    Boxes.clear(bounds);
    for (int i = 0; i < entries; i++) {
      final int entry = split.order[from + i];
      Boxes.enlarge(bounds, split.boxes[entry]);
      if (entry == SpatialNodeDescriptor.CAPACITY) {
        SpatialNodeDescriptor.putEntry(half, i, box, slot, version);
      } else {
        SpatialNodeDescriptor.copyEntry(image, entry, half, i);
      }
    }
  }

  /** Gives a new right node the links of the left one, and links that to it. */
  private static void link(SpatialNode left, SpatialNode right) {
    right.split = left.split;
    right.right = left.right;
    right.rightBirth = left.rightBirth;
    left.right = right.address;
    left.rightBirth = right.birth;
  }

  /** Has the next image of a left node say that it was split with that image. */
  private void markSplit(SpatialNode left) {
    left.split = nodes.nextSequence();
  }

  /** Adds the halves of a node, whose images are stored, to its parent, or below the root. */
  private void splitInto(SpatialNode full, SpatialNode left, SpatialNode right) {
    if (full == root) {
      root.become(left.level + 1);
      root.add(left);
      root.add(right);
      nodes.storeInner(root);
    } else {
      final SpatialNode parent = left.parent;
      if (parent.count < SpatialNodeDescriptor.CAPACITY) {
        parent.add(right);
        nodes.storeInner(parent);
      } else {
        splitInner(parent, right);
      }
    }
  }

  private void splitInner(SpatialNode node, SpatialNode added) {
    final SpatialNode[] all = new SpatialNode[NodeSplit.ENTRIES];
    System.arraycopy(node.children, 0, all, 0, node.count);
    all[node.count] = added;
    for (int i = 0; i < all.length; i++) {
      System.arraycopy(all[i].box, 0, split.boxes[i], 0, 4);
    }
    final int kept = split.divide(node);
    final boolean isRoot = node == root;
    final SpatialNode left = isRoot ? nodes.create(node.level) : node;
    final SpatialNode right = nodes.create(node.level);
    left.become(node.level);
    for (int i = 0; i < all.length; i++) {
      (i < kept ? left : right).add(all[split.order[i]]);
    }
    link(left, right);
    nodes.storeInner(right);
    boundsOf(right);
    right.setBox(bounds, true);
    markSplit(left);
    nodes.storeInner(left);
    boundsOf(left);
    left.setBox(bounds, isRoot);
    splitInto(node, left, right);
  }

  /** Takes an empty leaf, and the ancestors that have nothing else, out of the tree. */
  private void prune(SpatialNode leaf) {
    SpatialNode top = leaf;
    while (top.parent != root && top.parent.count == 1) {
      top = top.parent;
    }
    final SpatialNode parent = top.parent;
    parent.remove(top);
    if (parent.count == 0) { // the root
      parent.become(0);
      nodes.storeLeaf(parent, image, 0);
    } else {
      nodes.storeInner(parent);
      boundsOf(parent);
      shrinkToBounds(parent);
    }
    for (SpatialNode node = leaf; node != null; node = node == top ? null : node.parent) {
      nodes.remove(node);
    }
  }

  /** Shrinks the boxes of a node, whose content has the bounds, and of its ancestors. */
  private void shrinkToBounds(SpatialNode shrunk) {
    SpatialNode node = shrunk;
    while (node.parent != null && !Boxes.encloses(bounds, node.box)) {
      node.setBox(bounds, false);
      node = node.parent;
      nodes.storeInner(node);
      boundsOf(node);
    }
  }

  /** Tells readers of a move before it begins. */
  private void recordMove(SpatialNode target, float[] box) {
    final long number = moves + 1;
    final long address = ring + SpatialDescriptor.record(number);
    SpatialDescriptor.put(record, number, target.address, target.birth, target.sequence, box);
    final int sum = SpatialDescriptor.crc(crc, record, incarnation, address);
    BlockDescriptor.putCrc(record, sum);
    memory
        .region(address)
        .putBytes(
            memory.offset(address),
            record,
            BlockDescriptor.COPY_OFFSET,
            SpatialDescriptor.RECORD_LENGTH);
    moves = number;
    storeMoves(true);
  }

  /** Tells readers how many moves there are, and whether the last one is under way. */
  private void storeMoves(boolean isUnderWay) {
    memory
        .region(head)
        .putLongRelease(
            memory.offset(head) + SpatialDescriptor.MOVES_OFFSET,
            SpatialDescriptor.moves(moves, isUnderWay));
  }

  /**
   * Compares all nodes with what was stored.
   *
   * @throws StoreDamagedException if one differs
   */
  void check() {
    check(root);
  }

  private void check(SpatialNode node) {
    nodes.load(node, image);
    for (int i = 0; node.level > 0 && i < node.count; i++) {
      check(node.children[i]);
    }
  }
}
