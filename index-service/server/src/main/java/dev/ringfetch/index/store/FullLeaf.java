package dev.ringfetch.index.store;

import dev.ringfetch.index.layout.BlockDescriptor;
import dev.ringfetch.index.layout.GroupDescriptor;
import dev.ringfetch.index.layout.KeyOrder;
import dev.ringfetch.index.layout.NodeDescriptor;

/**
 * The addition of an entry to a full leaf: moves some entries to a neighbour that has room, or half
 * of them to a new leaf. Moving to neighbours first keeps leaves about four fifths full when keys
 * come in random order, as in a B*-tree (Knuth, The Art of Computer Programming 3, 6.2.4); splits
 * alone would keep them at 69 %.
 *
 * <p>Used by the partition's owner alone. At each moment, each key is in a leaf that readers can
 * reach, perhaps in two leaves with the same entry: the leaf that receives entries is stored before
 * the leaf that loses them, and the added entry becomes valid after both.
 */
final class FullLeaf {
  /**
   * Limit of the entries of a neighbour that receives some: afterwards both have room for several
   * more.
   */
  static final int NEIGHBOUR_ENTRIES = NodeDescriptor.LEAF_ENTRIES * 3 / 4;

  private static final int ENTRY_LENGTH = NodeDescriptor.REFERENCE_LENGTH;

  /** Number of entries of the full leaf and the added one. */
  private static final int ENTRIES = NodeDescriptor.LEAF_ENTRIES + 1;

  private final Tree tree;
  private final NodeStore nodes;
  private final Separators separators;
  private final BlockStore blocks;

  /** All entries, at the offset of a leaf's entries in its copy. */
  private final byte[] all =
      new byte[BlockDescriptor.COPY_OFFSET + NodeDescriptor.entry(0, ENTRIES)];

  private final byte[] otherImage = new byte[NodeDescriptor.COPY_LENGTH];

  FullLeaf(Tree tree, NodeStore nodes, Separators separators, BlockStore blocks) {
    this.tree = tree;
    this.nodes = nodes;
    this.separators = separators;
    this.blocks = blocks;
  }

  /**
   * Adds an entry, whose block is written and not published, and publishes it.
   *
   * @param image of the leaf; afterwards the image of its remaining entries
   * @param place of the entry among those of the leaf
   * @param key of the entry
   * @param slot of its block
   * @param version of the block, its lower half
   */
  void add(TreeNode leaf, byte[] image, int place, byte[] key, long slot, int version) {
    copy(image, 0, all, 0, place);
    final long head = KeyOrder.head(key, 0, key.length);
    NodeDescriptor.putReference(all, NodeDescriptor.entry(0, place), head, slot, version);
    copy(image, place, all, place + 1, NodeDescriptor.LEAF_ENTRIES - place);
    // If keys come in ascending order, leaves stay full.
    final boolean atEnd = leaf.right == null && place == NodeDescriptor.LEAF_ENTRIES;
    final TreeNode left = taker(leaf, leaf.left);
    final TreeNode right = taker(leaf, leaf.right);
    final long address = GroupDescriptor.address(slot);
    if (atEnd || (left == null && right == null)) {
      final int kept = atEnd ? ENTRIES - 1 : ENTRIES / 2;
      split(leaf, image, kept, between(kept, place, key), address);
    } else if (right == null || (left != null && left.entries < right.entries)) {
      final int moved = (ENTRIES - left.entries) / 2;
      giveLeft(leaf, image, moved, between(moved, place, key), address);
    } else {
      final int kept = (ENTRIES + right.entries) / 2;
      giveRight(leaf, image, kept, between(kept, place, key), address);
    }
  }

  /**
   * The neighbour if it can receive entries, else null. Both have the same parent, which is the
   * only inner node that changes.
   */
  private static TreeNode taker(TreeNode leaf, TreeNode neighbour) {
    return neighbour != null
            && neighbour.parent == leaf.parent
            && neighbour.entries <= NEIGHBOUR_ENTRIES
        ? neighbour
        : null;
  }

  /** Moves the first entries to the leaf to the left. */
  private void giveLeft(TreeNode leaf, byte[] image, int moved, Separator separator, long address) {
    final TreeNode left = leaf.left;
    nodes.load(left, otherImage);
    final int entries = left.entries;
    copy(all, 0, otherImage, entries, moved);
    copy(all, moved, image, 0, ENTRIES - moved);
    final Separator former = leaf.low;
    leaf.low = separators.use(separator);
    nodes.storeLeaf(left, otherImage, entries + moved);
    nodes.storeInner(leaf.parent); // leads to the left leaf before it alone has the entries
    nodes.storeLeaf(leaf, image, ENTRIES - moved);
    blocks.publish(address);
    separators.leave(former);
  }

  /** Moves the last entries to the leaf to the right. */
  private void giveRight(TreeNode leaf, byte[] image, int kept, Separator separator, long address) {
    final TreeNode right = leaf.right;
    nodes.load(right, otherImage);
    final int entries = right.entries;
    final int moved = ENTRIES - kept;
    copy(otherImage, 0, otherImage, moved, entries);
    copy(all, kept, otherImage, 0, moved);
    copy(all, 0, image, 0, kept);
    final Separator former = right.low;
    right.low = separators.use(separator);
    nodes.storeLeaf(right, otherImage, entries + moved);
    nodes.storeLeaf(leaf, image, kept);
    blocks.publish(address);
    nodes.storeInner(leaf.parent);
    separators.leave(former);
  }

  /** Moves the last entries to a new leaf. */
  private void split(TreeNode leaf, byte[] image, int kept, Separator separator, long address) {
    copy(all, 0, image, 0, kept);
    copy(all, kept, otherImage, 0, ENTRIES - kept);
    final TreeNode right = nodes.create(0);
    right.low = separators.use(separator);
    leaf.addRight(right);
    nodes.storeLeaf(right, otherImage, ENTRIES - kept);
    nodes.storeLeaf(leaf, image, kept);
    blocks.publish(address);
    tree.add(leaf, right);
  }

  /** The separator in front of an entry. */
  private Separator between(int number, int place, byte[] key) {
    return separators.between(
        number - 1 == place ? key : keyOf(number - 1), number == place ? key : keyOf(number));
  }

  private byte[] keyOf(int number) {
    final int entry = NodeDescriptor.entry(0, number);
    final int code = NodeDescriptor.code(all, entry);
    if (code == KeyOrder.LONG) {
      blocks.load(NodeDescriptor.slot(all, entry), NodeDescriptor.version(all, entry));
      return blocks.key();
    }
    final byte[] key = new byte[code];
    KeyOrder.putKey(key, 0, NodeDescriptor.head(all, entry), code);
    return key;
  }

  /** Copies entries from one array to another, or within one. */
  static void copy(byte[] from, int first, byte[] to, int place, int count) {
    System.arraycopy(
        from,
        BlockDescriptor.COPY_OFFSET + NodeDescriptor.entry(0, first),
        to,
        BlockDescriptor.COPY_OFFSET + NodeDescriptor.entry(0, place),
        count * ENTRY_LENGTH);
  }
}
