package dev.ringfetch.index.layout;

/**
 * The search for several keys of an ordered index together, for memory behind a network, where each
 * batch of reads is a round trip. One batch reads all leaves that cached inner nodes lead to,
 * another one all blocks. Keys that heads alone do not decide are left to the search for a single
 * key.
 *
 * <p>As in the search for a single key, each answer is based on a valid copy of the key's leaf, and
 * on blocks that were read after it. Used by one thread at a time.
 */
final class BatchSearch {
  /** Limit of the keys of one search. */
  static final int MAX_KEYS = 64;

  /** Limit of the bytes of blocks read for one key; a single block may be longer. */
  private static final int MAX_BYTES = 64 << 10;

  /** One of the keys. */
  private static final class Key {
    private byte[] copy;
    private byte[] leaf;
    private int offset;
    private int length;
    private Found found;
    private long address;
    private int piece;
    private int from; // its head's entries in the leaf
    private int to;
    private ReadResult result; // null if unknown
  }

  private final PieceReads pieces;
  private final TreeDescent descent;
  private final BlockCopy block;
  private final Key[] keys = new Key[MAX_KEYS];

  BatchSearch(PieceReads pieces, TreeDescent descent, BlockCopy block) {
    this.pieces = pieces;
    this.descent = descent;
    this.block = block;
  }

  /** Sets a key of the next search. */
  void key(int number, int offset, int length, Found found) {
    if (keys[number] == null) {
      keys[number] = new Key();
    }
    final Key key = keys[number];
    key.offset = offset;
    key.length = length;
    key.found = found;
    key.leaf = null;
    key.result = null;
  }

  /** The result of a key; null if the key needs a search of its own. */
  ReadResult result(int number) {
    return keys[number].result;
  }

  /**
   * Searches for keys.
   *
   * @param bytes contain the keys, at the places that {@link #key} has set
   */
  void run(byte[] bytes, int count) {
    if (planLeaves(bytes, count) && executed(count)) {
      takeLeaves(bytes, count);
      if (planBlocks(bytes, count) && executed(count)) {
        takeBlocks(bytes, count);
        compareWithClock(count);
      }
    }
  }

  /** Searches a leaf for a key; returns null if the key needs a search block by block. */
  ReadResult inLeaf(byte[] leaf, byte[] bytes, int offset, int length, Found found) {
    key(0, offset, length, found);
    keys[0].leaf = leaf;
    if (planBlocks(bytes, 1) && executed(1)) {
      takeBlocks(bytes, 1);
      compareWithClock(1);
    }
    return keys[0].result;
  }

  /** Executes a batch. If memory is closed or lost, that is the result of all keys. */
  private boolean executed(int count) {
    if (pieces.execute()) {
      return true;
    }
    final ReadResult failure = pieces.failure();
    for (int i = 0; failure != ReadResult.UNDECIDED && i < count; i++) {
      keys[i].result = failure;
    }
    return false;
  }

  private void search(byte[] bytes, Key key) {
    descent.search(bytes, key.offset, key.length, false);
  }

  private boolean planLeaves(byte[] bytes, int count) {
    pieces.beginBatch();
    boolean any = false;
    for (int i = 0; i < count; i++) {
      final Key key = keys[i];
      search(bytes, key);
      key.address = descent.rememberedLeaf();
      if (key.address != 0) {
        key.piece = pieces.add(key.address, NodeDescriptor.LENGTH);
        any = true;
      }
    }
    return any;
  }

  private void takeLeaves(byte[] bytes, int count) {
    for (int i = 0; i < count; i++) {
      final Key key = keys[i];
      if (key.address != 0) {
        if (key.copy == null) {
          key.copy = new byte[NodeDescriptor.COPY_LENGTH];
        }
        search(bytes, key);
        key.leaf = descent.isLeaf(key.copy, key.address, key.piece) ? key.copy : null;
      }
    }
  }

  private boolean planBlocks(byte[] bytes, int count) {
    pieces.beginBatch();
    boolean any = false;
    for (int i = 0; i < count; i++) {
      final Key key = keys[i];
      if (key.leaf != null) {
        search(bytes, key);
        any |= planBlocks(key);
      }
    }
    return any;
  }

  /** Plans to read the blocks of the entries with the key's head; false if there are none. */
  private boolean planBlocks(Key key) {
    final int count = NodeDescriptor.count(key.leaf);
    int low = 0;
    int high = count;
    while (low < high) {
      final int middle = (low + high) >>> 1;
      if (descent.compareHead(key.leaf, NodeDescriptor.entry(0, middle)) == 1) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    key.from = low;
    int bytes = 0;
    while (high < count && descent.compareHead(key.leaf, NodeDescriptor.entry(0, high)) != -1) {
      final int entry = NodeDescriptor.entry(0, high);
      final int length = BlockCopy.length(key.leaf, entry);
      bytes += length;
      if (length == 0 || (high > low && bytes > MAX_BYTES)) {
        key.leaf = null; // no block has such a length, or it is beyond the search's limit
        return high > low;
      }
      final int piece = block.plan(key.leaf, entry);
      key.piece = high == low ? piece : key.piece;
      high++;
    }
    key.to = high;
    if (low == high) {
      key.result = ReadResult.ABSENT;
    }
    return low < high;
  }

  private void takeBlocks(byte[] bytes, int count) {
    for (int i = 0; i < count; i++) {
      final Key key = keys[i];
      if (key.leaf != null && key.result == null) {
        search(bytes, key);
        block.into(key.found);
        key.result = takeBlocks(key);
      }
    }
  }

  /**
   * Checks the deadlines of the entries found, with one more batch if there are any. A key whose
   * entry has expired meanwhile needs a search of its own: another entry may have replaced it
   * before.
   */
  private void compareWithClock(int count) {
    boolean loaded = false;
    for (int i = 0; i < count; i++) {
      final Key key = keys[i];
      if (key.leaf == null || key.result != ReadResult.FOUND || key.found.deadline() == 0) {
        continue;
      }
      if (!loaded) {
        if (!pieces.loadClock()) {
          forgetAll(count);
          return;
        }
        loaded = true;
      }
      if (key.found.deadline() <= pieces.clock()) {
        key.result = null;
      }
    }
  }

  /** Forgets the entries with deadlines, as the clock cannot be read. */
  private void forgetAll(int count) {
    final ReadResult failure = pieces.failure() == ReadResult.UNDECIDED ? null : pieces.failure();
    for (int i = 0; i < count; i++) {
      if (keys[i].result == ReadResult.FOUND && keys[i].found.deadline() != 0) {
        keys[i].result = failure;
      }
    }
  }

  private ReadResult takeBlocks(Key key) {
    ReadResult result = ReadResult.ABSENT;
    for (int i = key.from; i < key.to; i++) {
      final int piece = key.piece + i - key.from;
      final int order = descent.compareWithPiece(key.leaf, NodeDescriptor.entry(0, i), piece);
      if (order == 0) {
        final long deadline = block.deadline();
        key.found.found(block.valueOffset(), block.valueLength(), block.version(), deadline);
        return deadline != 0 && deadline <= pieces.clock() ? ReadResult.ABSENT : ReadResult.FOUND;
      }
      if (order == TreeDescent.TORN) {
        result = null;
      }
    }
    return result;
  }
}
