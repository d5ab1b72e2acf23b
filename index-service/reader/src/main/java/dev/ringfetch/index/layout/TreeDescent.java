package dev.ringfetch.index.layout;

import dev.ringfetch.fabric.MemoryRegion;
import java.lang.invoke.VarHandle;
import java.util.zip.CRC32C;

/**
 * The descent of a reader to the leaf of a key in an ordered index: by the tree word, inner nodes
 * and links to the right. Accepts a leaf if its fences enclose the key; nothing else matters.
 *
 * <p>A fence that equals a reference of the parent is not compared with the key again: a reference
 * names one block for all time.
 *
 * <p>Used by one thread at a time. Takes bounded time for any content of memory.
 */
final class TreeDescent {
  /** Returned by {@link #compareWithEntry}: memory is inconsistent. */
  static final int TORN = 3;

  /** Limit of the links to the right in one descent. */
  private static final int MAX_HOPS = 64;

  private final PieceReads reads;
  private final OrderedLocation location;
  private final BlockCopy block;
  private final NodeCache cache;
  private final CRC32C crc = new CRC32C();
  private final byte[] leaf = new byte[NodeDescriptor.COPY_LENGTH];

  private byte[] key;
  private int keyOffset;
  private int keyLength;
  private long head;
  private int code;

  /** Whether the target is the leaf of the keys right before the key, not of the key itself. */
  private boolean before;

  /** Whether keys are compared by their heads alone, without reads of memory. */
  private boolean byHeads;

  /** Whether cached nodes may be used. */
  private boolean trusting;

  /** Whether the last descent took links to the right: then cached nodes are old. */
  private boolean stale;

  private long tree;
  private long nextLeaf;

  /** References of the nodes above, one on each side of the key. */
  private final byte[] passed = new byte[NodeDescriptor.COPY_LENGTH];

  private boolean lowPassed;
  private boolean highPassed;

  TreeDescent(PieceReads reads, OrderedLocation location, BlockCopy block, NodeCache cache) {
    this.reads = reads;
    this.location = location;
    this.block = block;
    this.cache = cache;
  }

  /** Begins a call. */
  void begin() {
    reads.begin();
    trusting = !stale && !cache.isEmpty();
    nextLeaf = 0;
  }

  /** Searches for the leaf of a key, or of the keys right before it. */
  void search(byte[] bytes, int offset, int length, boolean keysBefore) {
    key = bytes;
    keyOffset = offset;
    keyLength = length;
    head = KeyOrder.head(bytes, offset, length);
    code = KeyOrder.code(length);
    before = keysBefore;
  }

  /** Searches for the last leaf. */
  void searchEnd() {
    head = KeyOrder.END_HEAD;
    code = KeyOrder.END;
    before = true;
  }

  /** Stops using cached nodes in this call. */
  void distrust() {
    trusting = false;
    nextLeaf = 0;
  }

  /**
   * Notes that the next key is the high fence of the present leaf: the search begins with the leaf
   * to its right.
   */
  void expectNext() {
    nextLeaf = NodeDescriptor.word(leaf, NodeDescriptor.RIGHT_OFFSET);
    pass(leaf, NodeDescriptor.HIGH_OFFSET, NodeDescriptor.LOW_OFFSET);
  }

  /** The reason why reads failed; null if they have not. */
  ReadResult failure() {
    return reads.failure();
  }

  /** The leaf that was found, until the next search. */
  byte[] leaf() {
    return leaf;
  }

  /** Descends to the leaf; false if reads failed or memory was inconsistent. */
  boolean toLeaf() {
    long address = nextLeaf;
    int level = 0;
    highPassed = false;
    lowPassed = address != 0;
    if (address == 0) {
      if (!loadTree()) {
        return false;
      }
      address = TreeDescriptor.address(tree);
      level = TreeDescriptor.level(tree);
    }
    nextLeaf = 0;
    int hops = 0;
    while (level <= NodeDescriptor.MAX_LEVEL) {
      final byte[] node = load(address, level);
      if (node == null) {
        return false;
      }
      final int side = side(node);
      if (side == 0 && level == 0) {
        stale = hops > 0;
        return true;
      }
      if (side == 0) {
        final int child = child(node, level);
        if (child < 0) {
          return false;
        }
        address = NodeDescriptor.child(node, NodeDescriptor.entry(level, child));
        level--;
      } else if (side == 1 && hops < MAX_HOPS) {
        hops++;
        address = NodeDescriptor.word(node, NodeDescriptor.RIGHT_OFFSET);
        pass(node, NodeDescriptor.HIGH_OFFSET, NodeDescriptor.LOW_OFFSET);
        lowPassed = true;
        highPassed = false;
      } else {
        return false;
      }
    }
    return false;
  }

  /**
   * Address of the leaf of the key, by cached inner nodes and by heads alone; 0 if these do not
   * decide. Reads no memory.
   */
  long rememberedLeaf() {
    if (!trusting || tree == 0) {
      return 0;
    }
    lowPassed = false;
    highPassed = false;
    byHeads = true;
    long address = TreeDescriptor.address(tree);
    int level = TreeDescriptor.level(tree);
    while (level > 0 && address != 0) {
      final byte[] node = cache.get(address);
      final int child =
          node != null && NodeDescriptor.level(node) == level && side(node) == 0
              ? child(node, level)
              : -1;
      address = child < 0 ? 0 : NodeDescriptor.child(node, NodeDescriptor.entry(level, child));
      level--;
    }
    byHeads = false;
    return address > 0 && (address & (NodeDescriptor.LENGTH - 1)) == 0 ? address : 0;
  }

  /**
   * Copies a node that was read as a piece of a batch; returns whether it is the key's leaf by
   * heads alone.
   */
  boolean isLeaf(byte[] copy, long address, int piece) {
    lowPassed = false;
    highPassed = false;
    byHeads = true;
    final boolean isLeaf =
        copy(copy, address, piece)
            && NodeDescriptor.level(copy) == 0
            && isInBounds(copy, 0)
            && side(copy) == 0;
    byHeads = false;
    return isLeaf;
  }

  private boolean loadTree() {
    if (trusting && tree != 0) {
      return true;
    }
    if (!reads.read(location.root() + TreeDescriptor.TREE_OFFSET, Long.BYTES)) {
      return false;
    }
    tree = reads.region().getLongAcquire(reads.offset());
    return true;
  }

  /** A valid copy of a node with the level, or null. */
  private byte[] load(long address, int level) {
    if (trusting && level > 0) {
      final byte[] remembered = cache.get(address);
      if (remembered != null && NodeDescriptor.level(remembered) == level) {
        return remembered;
      }
    }
    if (address <= 0
        || (address & (NodeDescriptor.LENGTH - 1)) != 0
        || !reads.read(address, NodeDescriptor.LENGTH)) {
      return null;
    }
    final byte[] copy = level == 0 ? leaf : cache.array(address);
    if (!copy(copy, address, reads.last())
        || NodeDescriptor.level(copy) != level
        || !isInBounds(copy, level)) {
      return null;
    }
    if (level > 0) {
      cache.remember(address);
    }
    return copy;
  }

  private static boolean isInBounds(byte[] copy, int level) {
    final int count = NodeDescriptor.count(copy);
    return count <= NodeDescriptor.capacity(level) && (level == 0 || count > 0);
  }

  /** Copies the node that was read; returns whether the copy is the node's state at one moment. */
  private boolean copy(byte[] copy, long address, int piece) {
    final MemoryRegion region = reads.region(piece);
    final int offset = reads.offset(piece);
    final long sequence = region.getLongAcquire(offset + NodeDescriptor.SEQUENCE_OFFSET);
    region.getBytes(offset, copy, BlockDescriptor.COPY_OFFSET, NodeDescriptor.LENGTH);
    VarHandle.acquireFence();
    if ((sequence & 1) != 0
        || region.getLongAcquire(offset + NodeDescriptor.SEQUENCE_OFFSET) != sequence
        || NodeDescriptor.word(copy, NodeDescriptor.SEQUENCE_OFFSET) != sequence) {
      return false;
    }
    final int stored = BlockDescriptor.getCrc(copy);
    return NodeDescriptor.crc(crc, copy, location.incarnation(), address) == stored;
  }

  /** The side of the searched keys: -1 left of a node, 0 in it, 1 right of it; or {@link #TORN}. */
  private int side(byte[] node) {
    final int low = NodeDescriptor.LOW_OFFSET;
    if (!lowPassed || !NodeDescriptor.isSame(node, low, passed, low)) {
      final int order = compare(node, low);
      if (order == TORN) {
        return TORN;
      }
      if (order < 0 || (before && order == 0)) {
        return -1;
      }
    }
    final int high = NodeDescriptor.HIGH_OFFSET;
    if (!highPassed || !NodeDescriptor.isSame(node, high, passed, high)) {
      final int order = compare(node, high);
      if (order == TORN) {
        return TORN;
      }
      if (order > 0 || (!before && order == 0)) {
        return 1;
      }
    }
    return 0;
  }

  /** Number of the child that has the searched keys; -1 if memory was inconsistent. */
  private int child(byte[] node, int level) {
    final int count = NodeDescriptor.count(node);
    int low = 0;
    int high = count - 1;
    while (low < high) {
      final int middle = (low + high + 1) >>> 1;
      final int order = compare(node, NodeDescriptor.entry(level, middle));
      if (order == TORN) {
        return -1;
      }
      if (order > 0 || (!before && order == 0)) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    pass(node, NodeDescriptor.entry(level, low), NodeDescriptor.LOW_OFFSET);
    pass(
        node,
        low + 1 < count ? NodeDescriptor.entry(level, low + 1) : NodeDescriptor.HIGH_OFFSET,
        NodeDescriptor.HIGH_OFFSET);
    lowPassed = true;
    highPassed = true;
    return low;
  }

  /** Notes a reference that the key was compared with. */
  private void pass(byte[] node, int from, int to) {
    NodeDescriptor.putReference(
        passed,
        to,
        NodeDescriptor.head(node, from),
        NodeDescriptor.slot(node, from),
        NodeDescriptor.version(node, from));
  }

  /** Compares the searched key with a reference of a copy by head and code, see KeyOrder. */
  int compareHead(byte[] copy, int reference) {
    return KeyOrder.compare(
        head, code, NodeDescriptor.head(copy, reference), NodeDescriptor.code(copy, reference));
  }

  /** Compares the searched key with a separator: -1, 0, 1, or {@link #TORN}. */
  private int compare(byte[] copy, int reference) {
    final int order = compareHead(copy, reference);
    if (order != KeyOrder.UNKNOWN) {
      return order;
    }
    return !byHeads && block.load(copy, reference, false)
        ? sign(block.compare(key, keyOffset, keyLength))
        : TORN;
  }

  /**
   * Compares the searched key with an entry of the leaf: -1, 0, 1, or {@link #TORN}. If equal, the
   * block is loaded: the entry's, or a newer one of the key.
   *
   * <p>A newer one is as good: its checksum was stored after the leaf that refers to it, so the
   * entry was current at the load of the leaf or became current later.
   */
  int compareWithEntry(int entry) {
    final int order = compareHead(leaf, entry);
    if (order != 0 && order != KeyOrder.UNKNOWN) {
      return order;
    }
    return compareWithBlock(order, block.load(leaf, entry, true));
  }

  /**
   * Compares the searched key with the entry of a leaf whose block was read as a piece of a batch,
   * as {@link #compareWithEntry} does.
   */
  int compareWithPiece(byte[] of, int entry, int piece) {
    final int order = compareHead(of, entry);
    return compareWithBlock(order, block.take(of, entry, true, piece));
  }

  private int compareWithBlock(int order, boolean isOfEntry) {
    if (!block.isValid()) {
      return TORN;
    }
    final int exact = sign(block.compare(key, keyOffset, keyLength));
    if (exact == 0) {
      return 0;
    }
    return isOfEntry && order == KeyOrder.UNKNOWN ? exact : TORN;
  }

  private static int sign(int order) {
    return Integer.compare(order, 0);
  }
}
