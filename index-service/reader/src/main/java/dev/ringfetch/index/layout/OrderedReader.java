package dev.ringfetch.index.layout;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.MemoryRegion;
import java.util.List;

/**
 * The reader of an ordered index: finds values, and scans ranges, in index memory without locks,
 * while the owner writes.
 *
 * <p>Each answer for one key is linearizable: a value that was current, or an absence that was
 * true, at some moment of the call, in a state that only servers under the epoch of the {@link
 * OrderedLocation} can have changed. A scan is no snapshot, but each key that is there from its
 * begin to its end comes exactly once, in order, and no key comes twice; each entry was current at
 * some moment of the scan.
 *
 * <p>These guarantees follow from leaves alone: a valid copy of a leaf is the leaf's state at one
 * moment within the read, and its fences delimit the keys that belong to it. So the path to a leaf
 * does not matter, and cached inner nodes may be arbitrarily old: the fences reveal a wrong path. A
 * valid leaf that was removed since had no entries, and no key of its range had one until after the
 * removal.
 *
 * <p>Memory may contain anything: no content makes a method throw or take long. If memory was
 * unmapped, methods return {@link ReadResult#LOST}; in rare cases the {@link InternalError} reaches
 * the caller instead (see {@link dev.ringfetch.fabric.MemoryRegion#verify()}), which must treat it
 * as LOST.
 *
 * <p>Used by one thread at a time.
 */
public final class OrderedReader implements KeyReader {
  /** Limit of rounds without progress, which an owner's concurrent stores may cause. */
  private static final int MAX_ROUNDS = 64;

  private static final int GIVEN = 0;
  private static final int ENDED = 1;
  private static final int DOUBTFUL = 2;

  private final PieceReads pieces;
  private final TreeDescent descent;
  private final BlockCopy block;
  private final BatchSearch batch;
  private final EntryChunk chunk = new EntryChunk();
  private final byte[] shortKey = new byte[KeyOrder.HEAD_LENGTH];
  private byte[] keyCopy = new byte[64];
  private int firstPiece; // of the chunk's batch
  private int rounds;

  /** The clock of a scan: its time before the load of the present leaf, and after the chunk. */
  private long clockBefore;

  private long clockBehind;

  /** Keeps the loads of {@link #touch} from being optimised away. */
  @SuppressWarnings("unused")
  private int touched;

  private boolean lost;

  /** Creates a reader without a cache of inner nodes; it is the only user of the reads. */
  public OrderedReader(Reads reads, OrderedLocation location) {
    this(reads, location, 0);
  }

  /**
   * Creates a reader, the only user of the reads.
   *
   * @param cachedNodes limit of cached inner nodes, 1 KiB each: 0 or a power of two. Saves most if
   *     each read is a round trip over a network.
   */
  public OrderedReader(Reads reads, OrderedLocation location, int cachedNodes) {
    pieces = new PieceReads(reads, location);
    block = new BlockCopy(pieces, location.incarnation());
    descent = new TreeDescent(pieces, location, block, new NodeCache(cachedNodes));
    batch = new BatchSearch(pieces, descent, block);
  }

  @Override
  public ReadResult get(ByteString key, Found found) {
    final int length = key.size();
    ensureKeys(length);
    key.copyTo(keyCopy, 0);
    return get(keyCopy, 0, length, found);
  }

  @Override
  public ReadResult get(byte[] key, int offset, int length, Found found) {
    if (lost) {
      return ReadResult.LOST;
    }
    try {
      block.into(found);
      descent.begin();
      descent.search(key, offset, length, false);
      final ReadResult result = findNow(key, offset, length, found);
      block.verify();
      return ended(result);
    } catch (InternalError e) {
      return lose(e);
    }
  }

  /**
   * Reads the values of several keys, each on its own.
   *
   * @param keys the keys
   * @param found receives the value of the key at the same place
   * @param results receives the result of the key at the same place
   */
  public void batchGet(List<ByteString> keys, Found[] found, ReadResult[] results) {
    for (int done = 0; done < keys.size(); done += BatchSearch.MAX_KEYS) {
      final int count = Math.min(BatchSearch.MAX_KEYS, keys.size() - done);
      final boolean together = pieces.arePosted() && count > 1 && !lost;
      if (together) {
        searchTogether(keys, done, count, found);
      }
      for (int i = done; i < done + count; i++) {
        final ReadResult result = together ? batch.result(i - done) : null;
        results[i] = result == null ? get(keys.get(i), found[i]) : ended(result);
      }
    }
  }

  /** Searches for keys with posted reads: no memory is mapped, so none can be lost. */
  private void searchTogether(List<ByteString> keys, int first, int count, Found[] found) {
    int length = 0;
    for (int i = 0; i < count; i++) {
      length += keys.get(first + i).size();
    }
    ensureKeys(length);
    int offset = 0;
    for (int i = 0; i < count; i++) {
      final ByteString key = keys.get(first + i);
      key.copyTo(keyCopy, offset);
      batch.key(i, offset, key.size(), found[first + i]);
      offset += key.size();
    }
    descent.begin();
    batch.run(keyCopy, count);
  }

  private void ensureKeys(int length) {
    if (keyCopy.length < length) {
      keyCopy = new byte[Math.max(length, 2 * keyCopy.length)];
    }
  }

  /**
   * Continues a scan at a cursor, and moves the cursor behind each entry. The sink gets entries
   * after the verification of their memory: no memory fault occurs between two of them.
   *
   * @return {@link ReadResult#FOUND} if the sink stopped the scan, {@link ReadResult#ABSENT} if no
   *     entry is left; else as for a key, and the scan can continue later at the cursor
   */
  public ReadResult scan(ScanCursor cursor, EntrySink sink) {
    if (lost) {
      return ReadResult.LOST;
    }
    try {
      block.intoOwn();
      descent.begin();
      final ReadResult result = scanLeaves(cursor, sink);
      block.verify();
      return ended(result);
    } catch (InternalError e) {
      return lose(e);
    }
  }

  // The loops are in methods of their own: see MemoryRegion.verify().

  private ReadResult findNow(byte[] key, int offset, int length, Found found) {
    ReadResult result;
    rounds = 0;
    do {
      result = find(key, offset, length, found);
    } while (result == null && again());
    return result;
  }

  private ReadResult scanLeaves(ScanCursor cursor, EntrySink sink) {
    ReadResult result = null;
    rounds = 0;
    while (result == null && !cursor.isDone()) {
      if (cursor.isFromEnd()) {
        descent.searchEnd();
      } else {
        descent.search(cursor.bytes(), 0, cursor.length(), cursor.isReverse());
      }
      result = scanLeaf(cursor, sink);
    }
    return result == null ? ReadResult.ABSENT : result;
  }

  private ReadResult lose(InternalError e) {
    lost = true;
    block.absorb(e);
    return ReadResult.LOST;
  }

  private ReadResult ended(ReadResult result) {
    lost |= result == ReadResult.LOST;
    return result == null ? ReadResult.UNDECIDED : result;
  }

  /** Whether there is a round left, after inconsistent memory. */
  private boolean again() {
    descent.distrust();
    Thread.onSpinWait();
    return ++rounds <= MAX_ROUNDS && descent.failure() == null;
  }

  /** Searches for the key once; null if memory was inconsistent. */
  private ReadResult find(byte[] key, int offset, int length, Found found) {
    final long before = pieces.clock();
    if (!descent.toLeaf()) {
      return descent.failure();
    }
    final byte[] leaf = descent.leaf();
    if (pieces.arePosted()) { // all candidate blocks in one batch
      final ReadResult result = batch.inLeaf(leaf, key, offset, length, found);
      if (result != null) {
        return result;
      }
    }
    int low = 0;
    int high = NodeDescriptor.count(leaf);
    while (low < high) {
      final int middle = (low + high) >>> 1;
      final int entry = NodeDescriptor.entry(0, middle);
      final int order = descent.compareWithEntry(entry);
      if (order == TreeDescent.TORN) {
        return descent.failure();
      }
      if (order == 0) {
        final long deadline = block.deadline();
        found.found(block.valueOffset(), block.valueLength(), block.version(), deadline);
        return deadline == 0 ? ReadResult.FOUND : compareWithClock(deadline, before);
      }
      if (order > 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return ReadResult.ABSENT;
  }

  /**
   * Decides about an entry with a deadline. The entry is absent if the clock had reached the
   * deadline before the search began: then it was absent during the whole search. If only a clock
   * that was loaded later has reached the deadline, another entry may have replaced this one
   * before, so the result is null: search again. If the clock has not reached the deadline, the
   * entry was present.
   *
   * @param before time of the clock before the search for the leaf
   */
  private ReadResult compareWithClock(long deadline, long before) {
    if (deadline <= before) {
      return ReadResult.ABSENT;
    }
    if (!pieces.loadClock()) {
      return pieces.failure();
    }
    return deadline > pieces.clock() ? ReadResult.FOUND : null;
  }

  /**
   * Delivers the entries of a leaf from the cursor on, and moves the cursor. Null if the scan
   * continues at the cursor.
   */
  private ReadResult scanLeaf(ScanCursor cursor, EntrySink sink) {
    final long fixed = sink.clock();
    clockBefore = fixed < 0 ? pieces.clock() : fixed;
    if (!descent.toLeaf()) {
      return tryLater();
    }
    final byte[] leaf = descent.leaf();
    final boolean reverse = cursor.isReverse();
    final int count = NodeDescriptor.count(leaf);
    int next = first(leaf, count, reverse);
    int most = Math.max(1, sink.room());
    while (next >= 0 && next < count) {
      final int left = reverse ? next + 1 : count - next;
      final boolean complete = load(leaf, next, Math.min(most, left), reverse);
      block.verify(); // before anything of the chunk counts
      if (!sink.admits()) {
        return ReadResult.CLOSED;
      }
      clockBehind = clockBefore;
      if (fixed < 0 && chunk.latestDeadline() > clockBefore) {
        if (!pieces.loadClock()) {
          return tryLater();
        }
        clockBehind = pieces.clock();
      }
      final int given = give(cursor, sink);
      if (given == ENDED) {
        return ReadResult.FOUND;
      }
      if (cursor.isDone()) {
        return null;
      }
      if (!complete || given == DOUBTFUL) {
        return tryLater();
      }
      next += reverse ? -chunk.count() : chunk.count();
      most = NodeDescriptor.LEAF_ENTRIES; // some earlier entries were not ahead
    }
    return leave(leaf, cursor) ? null : tryLater();
  }

  /**
   * Loads entries of a leaf, in the direction of the scan, with one batch of reads.
   *
   * @return false at inconsistent memory; the chunk has the entries before it
   */
  private boolean load(byte[] leaf, int from, int most, boolean reverse) {
    chunk.clear();
    final int step = reverse ? -1 : 1;
    int planned = plan(leaf, from, most, step);
    while (planned > 0 && !pieces.execute()) {
      if (planned == 1 || pieces.failure() != ReadResult.UNDECIDED) {
        return false;
      }
      pieces.begin(); // a segment may be unknown here
      planned = plan(leaf, from, planned / 2, step);
    }
    if (!pieces.arePosted()) {
      touch(leaf, from, planned, step);
    }
    for (int i = 0; i < planned; i++) {
      if (!block.take(leaf, NodeDescriptor.entry(0, from + i * step), true, firstPiece + i)) {
        return false;
      }
      chunk.add(block);
    }
    return planned > 0;
  }

  /**
   * Loads a byte at each end of blocks in mapped memory. No load depends on another, so that the
   * processor waits for several lines of memory at once; the copies, one after the other, find them
   * in its cache.
   */
  private void touch(byte[] leaf, int from, int count, int step) {
    int sum = 0;
    for (int i = 0; i < count; i++) {
      final MemoryRegion region = pieces.region(firstPiece + i);
      final int offset = pieces.offset(firstPiece + i);
      final int length = BlockCopy.length(leaf, NodeDescriptor.entry(0, from + i * step));
      sum += region.getInt(offset) + region.getInt(offset + length - Integer.BYTES);
    }
    touched = sum;
  }

  /** Plans to read the blocks of some entries; returns how many there are in the batch. */
  private int plan(byte[] leaf, int from, int most, int step) {
    pieces.beginBatch();
    int planned = 0;
    int bytes = 0;
    while (planned < most) {
      final int entry = NodeDescriptor.entry(0, from + planned * step);
      final int length = BlockCopy.length(leaf, entry);
      bytes += length;
      if (length == 0 || (planned > 0 && bytes > EntryChunk.MAX_BYTES)) {
        break;
      }
      final int piece = block.plan(leaf, entry);
      firstPiece = planned == 0 ? piece : firstPiece;
      planned++;
    }
    return planned;
  }

  /**
   * Delivers the entries of the chunk. Returns {@link #GIVEN}; {@link #ENDED} if the sink stopped
   * the scan; {@link #DOUBTFUL} if the next entry has expired since the load of the leaf, as
   * another entry may have replaced it before.
   */
  private int give(ScanCursor cursor, EntrySink sink) {
    final byte[] bytes = chunk.bytes();
    for (int i = 0; i < chunk.count(); i++) {
      final int keyOffset = chunk.keyOffset(i);
      final int keyLength = chunk.keyLength(i);
      if (!cursor.isAhead(bytes, keyOffset, keyLength)) {
        continue; // it has the head of the cursor's key
      }
      if (cursor.isBeyond(bytes, keyOffset, keyLength)) {
        cursor.end();
        return GIVEN;
      }
      final long deadline = chunk.deadline(i);
      final boolean absent = deadline != 0 && deadline <= clockBehind;
      if (absent && deadline > clockBefore) {
        return DOUBTFUL;
      }
      rounds = 0;
      cursor.pass(bytes, keyOffset, keyLength);
      final int valueLength = chunk.valueLength(i);
      if (absent
          ? !sink.passes()
          : !sink.take(bytes, keyOffset, keyLength, valueLength, chunk.version(i), deadline)) {
        return ENDED;
      }
    }
    return GIVEN;
  }

  private ReadResult tryLater() {
    if (again()) {
      return null;
    }
    return descent.failure() == null ? ReadResult.UNDECIDED : descent.failure();
  }

  /**
   * The first entry, in the direction of the scan, that may be ahead of the cursor by head and
   * code.
   */
  private int first(byte[] leaf, int count, boolean reverse) {
    int low = 0;
    int high = count;
    while (low < high) {
      final int middle = (low + high) >>> 1;
      final int order = descent.compareHead(leaf, NodeDescriptor.entry(0, middle));
      // The cursor's key comes after the entry, or may do so.
      final boolean behind = order == 1 || (reverse && order == KeyOrder.UNKNOWN);
      if (behind) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return reverse ? low - 1 : low;
  }

  /** Moves the cursor to the end of a leaf; false if memory was inconsistent. */
  private boolean leave(byte[] leaf, ScanCursor cursor) {
    final int fence = cursor.isReverse() ? NodeDescriptor.LOW_OFFSET : NodeDescriptor.HIGH_OFFSET;
    final int code = NodeDescriptor.code(leaf, fence);
    if (code == KeyOrder.END) {
      cursor.end();
      return true;
    }
    final boolean further;
    if (code == KeyOrder.LONG) {
      if (!block.load(leaf, fence, false)) {
        return false;
      }
      further = cursor.leave(block.bytes(), block.keyOffset(), block.keyLength());
    } else {
      final int length = Math.min(code, shortKey.length);
      KeyOrder.putKey(shortKey, 0, NodeDescriptor.head(leaf, fence), length);
      further = cursor.leave(shortKey, 0, length);
    }
    if (!cursor.isReverse()) {
      descent.expectNext();
    }
    if (further) {
      rounds = 0;
    }
    return further || ++rounds <= MAX_ROUNDS;
  }
}
