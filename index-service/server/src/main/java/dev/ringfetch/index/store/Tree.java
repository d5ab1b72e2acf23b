package dev.ringfetch.index.store;

import dev.ringfetch.index.layout.NodeDescriptor;
import dev.ringfetch.index.layout.TreeDescriptor;
import org.jspecify.annotations.Nullable;

/**
 * The structure of an ordered index: a B-link tree (Lehman and Yao, TODS 1981), whose nodes are
 * removed only when they are empty. Used by the partition's owner alone.
 *
 * <p>The owner's copy of the structure is on its heap. Images change in an order such that at each
 * moment the leaves with valid images contain every key, some perhaps in two leaves with the same
 * entry: a new leaf is stored before its left neighbour shrinks, and a neighbour takes over the
 * range of an empty leaf before that leaf is removed. Inner nodes follow later; meanwhile readers
 * follow links to the right, or try again.
 */
final class Tree {
  private final StoreMemory memory;
  private final IndexRoot index;
  private final NodeStore nodes;
  private final Separators separators;
  private final byte[] neighbour = new byte[NodeDescriptor.COPY_LENGTH];
  private TreeNode root;
  private long changes;

  Tree(StoreMemory memory, IndexRoot index, NodeStore nodes, Separators separators) {
    this.memory = memory;
    this.index = index;
    this.nodes = nodes;
    this.separators = separators;
  }

  /** Creates the first leaf; its memory must be reserved. */
  void open() {
    final TreeNode leaf = nodes.create(0);
    leaf.low = separators.use(Separators.first());
    nodes.storeLeaf(leaf, neighbour, 0);
    setRoot(leaf);
  }

  /** Frees the memory of all nodes. */
  void close() {
    if (root != null) {
      nodes.close(root);
    }
  }

  /** Number of levels. */
  int height() {
    return root.level + 1;
  }

  /**
   * The leaf of a key.
   *
   * @param guess a leaf of the tree to check first, or null
   */
  TreeNode leafOf(byte[] key, int length, @Nullable TreeNode guess) {
    if (guess != null && guess.has(key, length)) {
      return guess;
    }
    TreeNode node = root;
    while (node.level > 0) {
      node = node.childOf(key, length);
    }
    return node;
  }

  /** The last leaf. */
  TreeNode last() {
    TreeNode node = root;
    while (node.level > 0) {
      node = node.children[node.childCount - 1];
    }
    return node;
  }

  private void setRoot(TreeNode node) {
    root = node;
    root.parent = null;
    memory
        .region(index.address())
        .putLongRelease(treeOffset(), TreeDescriptor.tree(++changes, node.level, node.address));
  }

  private int treeOffset() {
    return memory.offset(index.address()) + TreeDescriptor.TREE_OFFSET;
  }

  /** Adds a node, the right neighbour of an existing one, to the inner nodes. Both have images. */
  void add(TreeNode left, TreeNode added) {
    final TreeNode parent = left.parent;
    if (parent == null) {
      final TreeNode top = nodes.create(left.level + 1);
      top.low = separators.use(left.low);
      top.insert(0, left);
      top.insert(1, added);
      nodes.storeInner(top);
      setRoot(top);
      return;
    }
    final int place = parent.indexOf(left) + 1;
    if (parent.childCount < NodeDescriptor.INNER_ENTRIES) {
      parent.insert(place, added);
      nodes.storeInner(parent);
      return;
    }
    final TreeNode sibling = nodes.create(parent.level);
    final boolean atEnd = parent.right == null && place == parent.childCount;
    final int kept = atEnd ? parent.childCount : parent.childCount / 2;
    while (parent.childCount > kept) {
      final TreeNode moved = parent.children[parent.childCount - 1];
      parent.remove(parent.childCount - 1);
      sibling.insert(0, moved);
    }
    if (place > kept || atEnd) {
      sibling.insert(place - kept, added);
    } else {
      parent.insert(place, added);
    }
    sibling.low = separators.use(sibling.children[0].low);
    parent.addRight(sibling);
    nodes.storeInner(sibling);
    nodes.storeInner(parent);
    add(parent, sibling);
  }

  /**
   * Removes an empty leaf, and the inner nodes without another child, unless it is the only leaf.
   * Their ranges go to neighbours of the same parent.
   */
  void remove(TreeNode leaf) {
    TreeNode top = leaf;
    while (top.parent != null && top.parent.childCount == 1) {
      top = top.parent;
    }
    final TreeNode parent = top.parent;
    if (parent == null) {
      return;
    }
    final int place = parent.indexOf(top);
    final Separator begin = place > 0 ? top.low : top.right.low;
    for (TreeNode node = leaf; node != parent; node = node.parent) {
      node.unlink();
      if (place > 0) {
        store(node.left); // now ends at the removed node's end
      } else {
        node.right.low = node.low;
        store(node.right);
        if (node.left != null) {
          store(node.left); // its link leads past the removed node
        }
      }
      nodes.remove(node);
    }
    parent.remove(place);
    nodes.storeInner(parent);
    for (int level = 0; level <= top.level; level++) {
      separators.leave(begin);
    }
    shrink();
    nodes.trim();
  }

  /** Removes the highest nodes that have one child. */
  private void shrink() {
    while (root.level > 0 && root.childCount == 1) {
      final TreeNode former = root;
      setRoot(former.children[0]);
      nodes.remove(former);
      separators.leave(former.low);
    }
  }

  private void store(TreeNode node) {
    if (node.level > 0) {
      nodes.storeInner(node);
    } else {
      nodes.load(node, neighbour);
      nodes.storeLeaf(node, neighbour, NodeDescriptor.count(neighbour));
    }
  }

  /**
   * Compares the nodes that lead readers to a leaf with their stored content.
   *
   * @throws StoreDamagedException if one differs
   */
  void check(TreeNode leaf) {
    final long tree = memory.region(index.address()).getLong(treeOffset());
    if (tree != TreeDescriptor.tree(changes, root.level, root.address)) {
      throw new StoreDamagedException("not as it was written: tree=" + tree);
    }
    for (TreeNode node = leaf; node != null; node = node.parent) {
      nodes.check(node);
      for (int i = 0; i < node.childCount; i++) {
        separators.check(node.children[i].low);
      }
      separators.check(node.low);
      if (node.right != null) {
        separators.check(node.right.low);
      }
    }
  }
}
