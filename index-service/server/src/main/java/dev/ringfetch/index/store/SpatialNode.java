package dev.ringfetch.index.store;

import dev.ringfetch.index.layout.SpatialNodeDescriptor;

/**
 * A node of a spatial index on the owner's heap: its box as its parent has it, the words of its
 * image, and, for an inner node, its children. The entries of leaves are in index memory only. Used
 * by the partition's owner alone.
 */
final class SpatialNode {
  final long address;
  final long birth;
  int level;

  /** Null for the root. */
  SpatialNode parent;

  /** Min x, min y, max x, max y; encloses all that is below. Without meaning for the root. */
  final float[] box = new float[4];

  /** The middle of the box when the node was created: the split favours the side that has grown. */
  float originX;

  float originY;

  /** The children of an inner node; null for a leaf. */
  SpatialNode[] children;

  /** Number of the children, or of the entries of a leaf. */
  int count;

  long split;
  long right;
  long rightBirth;

  /** Of the image. */
  long sequence;

  /** Of the image. */
  int crc;

  SpatialNode(long address, long birth, int level) {
    this.address = address;
    this.birth = birth;
    become(level);
  }

  /** Makes the node an empty one of a level. */
  void become(int newLevel) {
    level = newLevel;
    children = newLevel == 0 ? null : new SpatialNode[SpatialNodeDescriptor.CAPACITY];
    count = 0;
  }

  void add(SpatialNode child) {
    children[count++] = child;
    child.parent = this;
  }

  void remove(SpatialNode child) {
    int place = 0;
    while (children[place] != child) {
      place++;
    }
    children[place] = children[--count];
    children[count] = null;
    child.parent = null;
  }

  /** Sets the box, and the origin with it if the node is new. */
  void setBox(float[] newBox, boolean isNew) {
    System.arraycopy(newBox, 0, box, 0, 4);
    if (isNew) {
      originX = box[0] + (box[2] - box[0]) / 2;
      originY = box[1] + (box[3] - box[1]) / 2;
    }
  }
}
