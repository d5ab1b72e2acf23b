package dev.ringfetch.index.layout;

import dev.ringfetch.fabric.MemoryRegion;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * The reader of a spatial index: finds entries by id as a hash index's does, and by their boxes in
 * the tree, in index memory without locks, while the owners write.
 *
 * <p>A search is no snapshot. An entry whose box belongs to the answer from its begin to its end
 * comes exactly once, even if it moves; no id comes twice; each entry was current, with the box and
 * value that it comes with, at some moment of the search. The rules:
 *
 * <ol>
 *   <li>A child is read after its parent. If it was split since the image of its parent, the part
 *       that it lost is to its right: then its right link is followed, else never, as the parent
 *       has the neighbour, too.
 *   <li>A removed node has nothing, but its link counts. A node with another birth, or another
 *       level, is not the expected one: the search begins again at the roots.
 *   <li>A block that is not valid, or another one: the entry has changed, so its leaf is read
 *       again.
 *   <li>Whatever has moved to another leaf since the begin is looked for there at the end, in the
 *       order of the moves, until no move is left that matters; after some rounds the search
 *       returns undecided.
 *   <li>An inner node of mapped memory that the reader remembers counts if its sequence is still
 *       that of the image: the load of the sequence takes the place of its read.
 * </ol>
 *
 * <p>If each batch of reads is a round trip, nodes that do not depend on each other are read
 * together, in several partitions at a time, and so are the blocks of their entries.
 *
 * <p>Memory may contain anything: no content makes a method throw or take long. If memory was
 * unmapped, methods return {@link ReadResult#LOST}; in rare cases the {@link InternalError} reaches
 * the caller instead (see {@link dev.ringfetch.fabric.MemoryRegion#verify()}), which must treat it
 * as LOST.
 *
 * <p>Used by one thread at a time.
 */
public final class SpatialReader extends HashReader {
  /** Limit of the reads of one node without a result, which an owner's stores may cause. */
  private static final int MAX_READS = 64;

  /** Limit of new beginnings of a group without a new entry: each further one is undecided. */
  private static final int MAX_RESTARTS = 4;

  /** Limit of the rounds of moves of a group: others may move on and on. */
  private static final int MAX_ROUNDS = 64;

  /** Batches of nodes between two looks: far fewer moves happen than a ring has lines. */
  private static final int BATCHES_PER_LOOK = 32;

  /** Same, where a look is no round trip. */
  private static final int MAPPED_BATCHES_PER_LOOK = 8;

  /** Nodes of a batch that is a round trip: measured by SpatialRoundTripsTest. */
  private static final int TOGETHER = 32;

  /** Same, of the nearest entries: with more, too many are read that a better entry excludes. */
  private static final int NEAR_TOGETHER = 8;

  /** Same, where nodes are mapped: their lines come together, and no round trip is saved. */
  private static final int NEAR_MAPPED_TOGETHER = 4;

  /**
   * Blocks of candidates for the nearest entries that are read together, if that is a round trip.
   */
  private static final int CANDIDATES = 32;

  /** Same, where blocks are mapped. */
  private static final int MAPPED_CANDIDATES = 16;

  /** Bytes of mapped blocks that are copied together: half of a processor's nearest cache. */
  private static final int MAPPED_BYTES = 16 << 10;

  /** Bytes of a mapped block that are loaded ahead: those of most entries. */
  private static final int TOUCHED_BYTES = 128;

  /**
   * Entries that a leaf has, at least in most trees: fewer leaves are read where few are wanted.
   */
  private static final int LEAF_ENTRIES = 8;

  private final PieceReads pieces;
  private final MoveReader moves;
  private final BlockCopy block;
  private final CRC32C crc = new CRC32C();
  private final NodeCache cache;
  private final byte[] copy = new byte[SpatialNodeDescriptor.COPY_LENGTH];
  private final List<SearchNode> batch = new ArrayList<>();

  /** Times of the clocks of the group's partitions, at their last loads in this step; or 0. */
  private final long[] clocks = new long[SpatialSearch.GROUP];

  private int[] planned = new int[TOGETHER];

  /** Deadlines of the entries of the blocks that were read; 0 if they do not matter. */
  private long[] deadlines = new long[TOGETHER];

  private byte[] image = copy; // of the node that is visited
  private int batches; // since the last look at the moves

  /**
   * Creates a reader, the only user of the reads.
   *
   * @param cachedNodes limit of cached inner nodes of mapped memory, 1 KiB each: 0 or a power of
   *     two
   */
  public SpatialReader(Reads reads, HashLocation location, int cachedNodes) {
    super(reads, location);
    cache = new NodeCache(reads.ordered() ? cachedNodes : 0);
    pieces = new PieceReads(reads, location);
    moves = new MoveReader(pieces, location);
    block = new BlockCopy(pieces, location.incarnation());
  }

  /**
   * Continues a search. The sink gets entries after the verification of their memory, and is asked
   * before each node whether the search {@link EntrySink#passes}.
   *
   * @return {@link ReadResult#FOUND} if the sink stopped the search, {@link ReadResult#ABSENT} if
   *     no entry is left; else as for a key, and the search can continue later
   */
  public ReadResult search(SpatialSearch search, EntrySink sink) {
    if (lost) {
      return ReadResult.LOST;
    }
    try {
      pieces.begin();
      search.begin(location);
      Arrays.fill(clocks, 0);
      final ReadResult result = advance(search, sink);
      pieces.verify();
      search.end();
      lost = result == ReadResult.LOST;
      return result;
    } catch (InternalError e) {
      lost = true;
      pieces.absorb(e);
      return ReadResult.LOST;
    }
  }

  // The loop is in a method of its own: see MemoryRegion.verify().

  private ReadResult advance(SpatialSearch search, EntrySink sink) {
    while (true) {
      final ReadResult result;
      if (search.next < search.chunk.count()) {
        result = give(search, sink);
      } else if (search.matches.size() > 0
          || search.takeCandidates(pieces.arePosted() ? CANDIDATES : MAPPED_CANDIDATES)) {
        result = readBlocks(search, sink);
      } else if (search.isBegun) {
        result = sink.passes() ? visit(search, sink) : ReadResult.FOUND;
      } else if (search.first == location.partitions()) {
        return ReadResult.ABSENT;
      } else {
        result = begin(search);
      }
      if (result != null) {
        return result;
      }
    }
  }

  /** Begins a group of partitions: the moves are looked at before the roots are read. */
  private ReadResult begin(SpatialSearch search) {
    if (search.size == 0) {
      search.size = Math.min(SpatialSearch.GROUP, location.partitions() - search.first);
    }
    Arrays.fill(clocks, 0); // those of the group before
    if (!moves.begin(search)) {
      return pieces.failure();
    }
    for (int i = 0; i < search.size; i++) {
      search.frontier.add(
          new SearchNode(
              0,
              search.roots[i],
              SpatialNodeDescriptor.ROOT_BIRTH,
              Long.MAX_VALUE,
              -1,
              search.first + i));
    }
    search.isBegun = true;
    return null;
  }

  /** Visits the next nodes, or follows the next moves, or ends the group. */
  private ReadResult visit(SpatialSearch search, EntrySink sink) {
    if (batches >= (pieces.arePosted() ? BATCHES_PER_LOOK : MAPPED_BATCHES_PER_LOOK)
        || search.isIdle()) {
      batches = 0;
      final boolean isRound = search.isIdle();
      final MoveReader.Look look = moves.look(search);
      if (look != MoveReader.Look.DONE) {
        return look == MoveReader.Look.FAILED ? pieces.failure() : restart(search);
      }
      if (search.isIdle()) {
        pieces.verify(); // no later step looks at the group
        search.endGroup();
        return null;
      }
      if (isRound && ++search.rounds > MAX_ROUNDS) {
        search.rounds = 0;
        search.inVain++;
        return ReadResult.UNDECIDED;
      }
    }
    if (search.frontier.isEmpty()) {
      search.followMoves();
    }
    if (!search.mayVisit()) {
      return ReadResult.UNDECIDED;
    }
    takeBatch(search, sink);
    batches++;
    return batch.isEmpty() ? null : readNodes(search);
  }

  /** Takes nodes out of the frontier that can be read together. */
  private void takeBatch(SpatialSearch search, EntrySink sink) {
    final int near = pieces.arePosted() ? NEAR_TOGETHER : NEAR_MAPPED_TOGETHER;
    final int most =
        Math.min(search.query.isNear() ? near : TOGETHER, 1 + sink.room() / LEAF_ENTRIES);
    batch.clear();
    while (batch.size() < most && !search.frontier.isEmpty()) {
      if (search.query.isBeyond(search.frontier.peek().priority())) {
        search.frontier.clear();
      } else if (batch.isEmpty() || (sink.passes() && search.mayVisit())) {
        batch.add(search.frontier.poll());
      } else {
        return;
      }
    }
  }

  private ReadResult readNodes(SpatialSearch search) {
    pieces.beginBatch();
    for (int i = 0; i < batch.size(); i++) {
      final SearchNode node = batch.get(i);
      final long address = node.address();
      if (address <= 0 || (address & (SpatialNodeDescriptor.LENGTH - 1)) != 0) {
        return restart(search, node);
      }
      planned[i] = pieces.add(address, SpatialNodeDescriptor.LENGTH);
    }
    if (!pieces.execute()) {
      search.frontier.addAll(batch);
      return pieces.failure();
    }
    pieces.touch(planned, batch.size(), 1);
    boolean isTorn = false;
    for (int i = 0; i < batch.size(); i++) {
      final SearchNode node = batch.get(i);
      if (!load(planned[i], node)) {
        if (node.reads() == MAX_READS) {
          return restart(search, node);
        }
        search.frontier.add(node.again());
        isTorn = true;
      } else if (!isExpected(node)) {
        return restart(search, node);
      } else {
        take(search, node);
      }
    }
    if (isTorn) {
      Thread.onSpinWait();
    }
    return null;
  }

  /** Takes the image of a node, of the cache if it is still that; false if it has no image now. */
  private boolean load(int piece, SearchNode node) {
    image = cache.get(node.address());
    if (image != null
        && pieces
                .region(piece)
                .getLongAcquire(pieces.offset(piece) + SpatialNodeDescriptor.SEQUENCE_OFFSET)
            == word(SpatialNodeDescriptor.SEQUENCE_OFFSET)) {
      return true;
    }
    image = copy;
    if (!copy(piece, node.address())) {
      return false;
    }
    if (SpatialNodeDescriptor.level(copy) > 0 && !cache.isEmpty()) {
      System.arraycopy(copy, 0, cache.array(node.address()), 0, copy.length);
      cache.remember(node.address());
    }
    return true;
  }

  /** Copies the image of a node; false if it is not that of one moment. */
  private boolean copy(int piece, long address) {
    final MemoryRegion region = pieces.region(piece);
    final int offset = pieces.offset(piece);
    final long sequence = region.getLongAcquire(offset + SpatialNodeDescriptor.SEQUENCE_OFFSET);
    region.getBytes(offset, image, BlockDescriptor.COPY_OFFSET, SpatialNodeDescriptor.LENGTH);
    VarHandle.acquireFence();
    if ((sequence & 1) != 0
        || region.getLongAcquire(offset + SpatialNodeDescriptor.SEQUENCE_OFFSET) != sequence
        || word(SpatialNodeDescriptor.SEQUENCE_OFFSET) != sequence) {
      return false;
    }
    final int stored = BlockDescriptor.getCrc(image);
    return SpatialNodeDescriptor.crc(crc, image, location.incarnation(), address) == stored;
  }

  private long word(int offset) {
    return SpatialNodeDescriptor.word(image, offset);
  }

  /** Whether the image is one of the node that the search is to visit. */
  private boolean isExpected(SearchNode node) {
    final int level = SpatialNodeDescriptor.level(image);
    if ((int) word(SpatialNodeDescriptor.BIRTH_OFFSET) != node.birth()) {
      return false;
    }
    if (level == SpatialNodeDescriptor.DEAD) {
      return true;
    }
    return (node.level() < 0 || level == node.level())
        && level <= SpatialNodeDescriptor.MAX_LEVEL
        && SpatialNodeDescriptor.count(image) <= SpatialNodeDescriptor.CAPACITY;
  }

  /** Takes the content of the image of a node that may belong to the answer. */
  private void take(SpatialSearch search, SearchNode node) {
    if (word(SpatialNodeDescriptor.SPLIT_OFFSET) > node.number()) {
      search.frontier.add(
          new SearchNode(
              node.priority(),
              word(SpatialNodeDescriptor.RIGHT_OFFSET),
              (int) word(SpatialNodeDescriptor.RIGHT_BIRTH_OFFSET),
              node.number(),
              node.level(),
              node.partition()));
    }
    final int level = SpatialNodeDescriptor.level(image);
    if (level == SpatialNodeDescriptor.DEAD) {
      return;
    }
    final long sequence = word(SpatialNodeDescriptor.SEQUENCE_OFFSET);
    SearchLeaf leaf = null;
    for (long left = search.query.mayHave(image); left != 0; left &= left - 1) {
      final int i = Long.numberOfTrailingZeros(left);
      final long target = SpatialNodeDescriptor.target(image, i);
      final int half = SpatialNodeDescriptor.half(image, i);
      final double priority = search.query.isNear() ? square(search.query, i) : 0;
      if (level > 0) {
        search.frontier.add(
            new SearchNode(priority, target, half, sequence, level - 1, node.partition()));
        continue;
      }
      if (leaf == null) {
        leaf = new SearchLeaf(node, sequence, clocks[node.partition() - search.first]);
      }
      if (search.query.isNear()) {
        search.candidates.add(new NearCandidate(priority, leaf, target, half));
      } else {
        search.matches.add(leaf, target, half);
      }
    }
  }

  /** The square of the distance of an entry's box in the image. */
  private double square(SpatialQuery query, int entry) {
    return query.square(
        SpatialNodeDescriptor.bound(image, entry, 0),
        SpatialNodeDescriptor.bound(image, entry, 1),
        SpatialNodeDescriptor.bound(image, entry, 2),
        SpatialNodeDescriptor.bound(image, entry, 3));
  }

  /** Reads the blocks of entries of leaves, as many as fit into a chunk. */
  private ReadResult readBlocks(SpatialSearch search, EntrySink sink) {
    search.next = Integer.MAX_VALUE; // nothing of the chunk counts until all of it is verified
    search.chunk.clear();
    final int count = plan(search, sink.room());
    if (!pieces.execute()) {
      return pieces.failure();
    }
    pieces.touch(planned, count, TOUCHED_BYTES);
    boolean areTimed = false;
    boolean isExhausted = false;
    final LeafMatches matches = search.matches;
    for (int i = 0; i < count; i++) {
      deadlines[i] = 0;
      if (planned[i] < 0
          || !block.take(matches.slot(i), matches.version(i), planned[i])
          || block.valueLength() < BoxDescriptor.LENGTH) {
        isExhausted |= !readAgain(search, matches.leaf(i));
      } else if (isAccepted(search.query)
          && (block.deadline() == 0 || block.deadline() > matches.leaf(i).clock)) {
        search.chunk.add(block);
        deadlines[i] = block.deadline();
        areTimed |= deadlines[i] != 0;
      }
    }
    final ReadResult failure = areTimed ? loadClocks(search) : null;
    if (failure != null) {
      return failure;
    }
    final boolean areCurrent = !areTimed || areCurrent(search, count);
    pieces.verify();
    if (!sink.admits()) {
      return ReadResult.CLOSED;
    }
    for (int i = 0; i < count && !areCurrent; i++) {
      isExhausted |= !readAgain(search, matches.leaf(i));
    }
    matches.remove(count);
    if (isExhausted) {
      return restart(search);
    }
    search.next = areCurrent ? 0 : search.next;
    return null;
  }

  /** Plans to read blocks; returns their number. */
  private int plan(SpatialSearch search, int room) {
    final int most = pieces.arePosted() ? EntryChunk.MAX_BYTES : MAPPED_BYTES;
    pieces.beginBatch();
    int bytes = 0;
    int count = 0;
    for (; count < search.matches.size(); count++) {
      final long slot = search.matches.slot(count);
      final int length = SizeClasses.length(GroupDescriptor.sizeClass(slot));
      bytes += length;
      if (count > 0 && (bytes > most || count >= room)) {
        break;
      }
      if (count == planned.length) {
        planned = Arrays.copyOf(planned, 2 * count);
        deadlines = Arrays.copyOf(deadlines, 2 * count);
      }
      planned[count] = length == 0 ? -1 : pieces.add(GroupDescriptor.address(slot), length);
    }
    return count;
  }

  /** Has a leaf read again; false if that was done too often. */
  private static boolean readAgain(SpatialSearch search, SearchLeaf leaf) {
    if (leaf.node.reads() == MAX_READS) {
      search.doubtful = leaf.node.partition();
      return false;
    }
    if (!leaf.isStale) {
      leaf.isStale = true;
      search.frontier.add(leaf.again());
    }
    return true;
  }

  private boolean isAccepted(SpatialQuery query) {
    final byte[] bytes = block.bytes();
    final int box = block.valueOffset();
    return query.accepts(
        BoxDescriptor.bound(bytes, box, 0),
        BoxDescriptor.bound(bytes, box, 1),
        BoxDescriptor.bound(bytes, box, 2),
        BoxDescriptor.bound(bytes, box, 3));
  }

  /** Loads the clocks of the group; null if that succeeded. */
  private ReadResult loadClocks(SpatialSearch search) {
    pieces.beginBatch();
    for (int i = 0; i < search.size; i++) {
      final int clock = RootDescriptor.clock(search.first + i, location.partitions());
      planned[i] = pieces.add(location.root() + clock, Long.BYTES);
    }
    if (!pieces.execute()) {
      return pieces.failure();
    }
    for (int i = 0; i < search.size; i++) {
      final long word = pieces.region(planned[i]).getLongAcquire(pieces.offset(planned[i]));
      clocks[i] = ClockDescriptor.time(word, location.incarnation());
      if (clocks[i] < 0) { // the memory belongs to another index now
        clocks[i] = 0;
        return ReadResult.UNDECIDED;
      }
    }
    return null;
  }

  /**
   * Whether none of the first matches has ended since its leaf was read: then another entry of its
   * id may have replaced it before.
   */
  private boolean areCurrent(SpatialSearch search, int count) {
    boolean areCurrent = true;
    for (int i = 0; i < count; i++) {
      final long clock = clocks[search.matches.leaf(i).node.partition() - search.first];
      areCurrent &= deadlines[i] == 0 || deadlines[i] > clock;
    }
    return areCurrent;
  }

  /** Gives the entries of the chunk. */
  private ReadResult give(SpatialSearch search, EntrySink sink) {
    final EntryChunk chunk = search.chunk;
    search.expect(chunk.count() + search.matches.size());
    final byte[] bytes = chunk.bytes();
    while (search.next < chunk.count()) {
      final int i = search.next++;
      final int key = chunk.keyOffset(i);
      final int keyLength = chunk.keyLength(i);
      if (search.give(bytes, key, keyLength)
          && !sink.take(
              bytes, key, keyLength, chunk.valueLength(i), chunk.version(i), chunk.deadline(i))) {
        return ReadResult.FOUND;
      }
    }
    return null;
  }

  /** Begins the group again, as a node is not what it should be. */
  private ReadResult restart(SpatialSearch search, SearchNode node) {
    search.doubtful = node.partition();
    return restart(search);
  }

  private ReadResult restart(SpatialSearch search) {
    search.restart();
    return search.inVain <= MAX_RESTARTS ? null : ReadResult.UNDECIDED;
  }
}
