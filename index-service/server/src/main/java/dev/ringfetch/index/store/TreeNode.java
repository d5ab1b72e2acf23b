package dev.ringfetch.index.store;

import dev.ringfetch.index.layout.NodeDescriptor;
import java.util.Arrays;

/**
 * A node of an ordered index on the owner's heap: its neighbours, the checksum and sequence of its
 * image in index memory, and, for an inner node, the whole content of the image. The entries of
 * leaves are in index memory only. Used by the partition's owner alone.
 */
final class TreeNode {
  final long address;
  final int level;

  /** The least key of its range. */
  Separator low;

  TreeNode left;
  TreeNode right;

  /** Null for the highest node. */
  TreeNode parent;

  /**
   * Children of an inner node, in ascending order; the first one begins at the begin of this node.
   */
  final TreeNode[] children;

  int childCount;

  /** Number of entries of a leaf. */
  int entries;

  /** Of the image. */
  long sequence;

  /** Of the image. */
  int crc;

  TreeNode(long address, int level) {
    this.address = address;
    this.level = level;
    children = level == 0 ? null : new TreeNode[NodeDescriptor.INNER_ENTRIES];
  }

  /** Whether a key belongs to this node. */
  boolean has(byte[] key, int length) {
    final byte[] begin = low.key;
    final byte[] end = right == null ? null : right.low.key;
    return Arrays.compareUnsigned(begin, 0, begin.length, key, 0, length) <= 0
        && (end == null || Arrays.compareUnsigned(key, 0, length, end, 0, end.length) < 0);
  }

  /** The child that a key belongs to. */
  TreeNode childOf(byte[] key, int length) {
    int from = 0;
    int to = childCount - 1;
    while (from < to) {
      final int middle = (from + to + 1) >>> 1;
      final byte[] begin = children[middle].low.key;
      if (Arrays.compareUnsigned(begin, 0, begin.length, key, 0, length) <= 0) {
        from = middle;
      } else {
        to = middle - 1;
      }
    }
    return children[from];
  }

  int indexOf(TreeNode child) {
    int index = 0;
    while (children[index] != child) {
      index++;
    }
    return index;
  }

  void insert(int index, TreeNode child) {
    System.arraycopy(children, index, children, index + 1, childCount - index);
    children[index] = child;
    childCount++;
    child.parent = this;
  }

  void remove(int index) {
    children[index].parent = null;
    childCount--;
    System.arraycopy(children, index + 1, children, index, childCount - index);
    children[childCount] = null;
  }

  /** Inserts a new node between this one and the next. */
  void addRight(TreeNode added) {
    added.left = this;
    added.right = right;
    if (right != null) {
      right.left = added;
    }
    right = added;
  }

  /** Removes this node from between its neighbours. */
  void unlink() {
    if (left != null) {
      left.right = right;
    }
    if (right != null) {
      right.left = left;
    }
  }
}
