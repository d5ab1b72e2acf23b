package dev.ringfetch.index.layout;

import dev.ringfetch.fabric.MemoryRegion;
import java.lang.invoke.VarHandle;
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
 *       level, is not the expected one: the search begins again at the root.
 *   <li>A block that is not valid, or another one: the entry has changed, so its leaf is read
 *       again.
 *   <li>Whatever has moved to another leaf since the begin is looked for there at the end, in the
 *       order of the moves, until no move is left that matters.
 * </ol>
 *
 * <p>Memory may contain anything: no content makes a method throw or take long. If memory was
 * unmapped, methods return {@link ReadResult#LOST}; in rare cases the {@link InternalError} reaches
 * the caller instead (see {@link dev.ringfetch.fabric.MemoryRegion#verify()}), which must treat it
 * as LOST.
 *
 * <p>Used by one thread at a time.
 */
public final class SpatialReader extends HashReader {
  /** Limit of rounds without progress, which an owner's concurrent stores may cause. */
  private static final int MAX_ROUNDS = 64;

  /** Limit of new beginnings of a partition in one step. */
  private static final int MAX_RESTARTS = 4;

  /** Visited nodes between two looks at the moves: far fewer moves happen than a ring has lines. */
  private static final int VISITS_PER_LOOK = 32;

  private final PieceReads pieces;
  private final BlockCopy block;
  private final CRC32C crc = new CRC32C();
  private final byte[] node = new byte[SpatialNodeDescriptor.COPY_LENGTH];
  private final byte[] record = new byte[SpatialDescriptor.COPY_LENGTH];
  private final int[] planned = new int[SpatialNodeDescriptor.CAPACITY];
  private int rounds;
  private int restarts;
  private int visits;

  /** Creates a reader, the only user of the reads. */
  public SpatialReader(Reads reads, HashLocation location) {
    super(reads, location);
    pieces = new PieceReads(reads, location.epoch(), location.root(), location.incarnation());
    block = new BlockCopy(pieces, location.incarnation());
  }

  /**
   * Continues a search. The sink gets entries after the verification of their memory, and is asked
   * at each visited node whether the search {@link EntrySink#passes}.
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
      rounds = 0;
      restarts = 0;
      clockOf(search);
      final ReadResult result = advance(search, sink);
      pieces.verify();
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
      } else if (search.matchesRead < search.matches) {
        result = readBlocks(search, sink);
      } else if (search.isBegun) {
        result = sink.passes() ? visit(search) : ReadResult.FOUND;
      } else if (search.partition < 0) {
        search.nextPartition();
        result = null;
      } else if (search.partition == location.partitions()) {
        return ReadResult.ABSENT;
      } else {
        result = begin(search);
      }
      if (result != null) {
        return result;
      }
    }
  }

  private void clockOf(SpatialSearch search) {
    pieces.clockAt(
        location.root()
            + RootDescriptor.clock(Math.max(0, search.partition), location.partitions()));
  }

  /** Begins a partition: the moves are looked at before the root is read. */
  private ReadResult begin(SpatialSearch search) {
    clockOf(search);
    if (!pieces.read(head(search), SpatialDescriptor.HEAD_LENGTH)) {
      return pieces.failure();
    }
    final MemoryRegion region = pieces.region();
    final int offset = pieces.offset();
    search.movesSeen = region.getLongAcquire(offset + SpatialDescriptor.MOVES_OFFSET);
    search.root = region.getLong(offset + SpatialDescriptor.ROOT_OFFSET);
    search.ring = region.getLong(offset + SpatialDescriptor.RING_OFFSET);
    search.isBegun = true;
    search.frontier.add(0, search.root, 0, Long.MAX_VALUE, -1);
    return null;
  }

  private long head(SpatialSearch search) {
    return location.root() + SpatialDescriptor.head(search.partition, location.partitions());
  }

  /** Visits the next node, or follows the next move, or ends the partition. */
  private ReadResult visit(SpatialSearch search) {
    final Frontier frontier = search.frontier;
    if (++visits % VISITS_PER_LOOK == 0 || (frontier.isEmpty() && search.moves.isEmpty())) {
      final ReadResult result = lookAtMoves(search);
      if (result != null || !search.isBegun) {
        return result;
      }
    }
    if (frontier.isEmpty()) {
      final SpatialSearch.Move move = search.moves.poll();
      if (move == null) {
        search.nextPartition();
        return null;
      }
      frontier.add(move.priority(), move.leaf(), (int) move.birth(), move.sequence(), -1);
    }
    if (search.query.isBeyond(frontier.priority())) {
      frontier.clear();
      return null;
    }
    if (!search.mayVisit()) {
      return ReadResult.UNDECIDED;
    }
    final long address = frontier.address();
    if (!load(address)) {
      return pieces.failure() == null || pieces.failure() == ReadResult.UNDECIDED
          ? again(search)
          : pieces.failure();
    }
    final boolean isRoot = address == search.root;
    final int level = SpatialNodeDescriptor.level(node);
    final boolean isDead = level == SpatialNodeDescriptor.DEAD;
    final int expected = frontier.level();
    final int birth = (int) SpatialNodeDescriptor.word(node, SpatialNodeDescriptor.BIRTH_OFFSET);
    if ((!isRoot && birth != frontier.birth())
        || (expected >= 0 && level != expected && !isDead)
        || (!isDead && level > SpatialNodeDescriptor.MAX_LEVEL)
        || SpatialNodeDescriptor.count(node) > SpatialNodeDescriptor.CAPACITY) {
      return restart(search);
    }
    take(search, isDead ? -1 : level);
    if (search.matches == 0) { // else the blocks decide whether this was progress
      rounds = 0;
    }
    return null;
  }

  /** Takes the first node of the frontier, whose image is loaded; the level is -1 if it is dead. */
  private void take(SpatialSearch search, int level) {
    final Frontier frontier = search.frontier;
    final double priority = frontier.priority();
    final long number = frontier.number();
    final int expected = frontier.level();
    search.leaf = frontier.address();
    search.leafBirth = frontier.birth();
    search.leafPriority = priority;
    search.leafClock = pieces.clock();
    frontier.remove();
    final long sequence = SpatialNodeDescriptor.word(node, SpatialNodeDescriptor.SEQUENCE_OFFSET);
    search.leafSequence = sequence;
    if (SpatialNodeDescriptor.word(node, SpatialNodeDescriptor.SPLIT_OFFSET) > number) {
      frontier.add(
          priority,
          SpatialNodeDescriptor.word(node, SpatialNodeDescriptor.RIGHT_OFFSET),
          (int) SpatialNodeDescriptor.word(node, SpatialNodeDescriptor.RIGHT_BIRTH_OFFSET),
          number,
          expected);
    }
    search.matches = 0;
    search.matchesRead = 0;
    for (int i = 0; level >= 0 && i < SpatialNodeDescriptor.count(node); i++) {
      final float minX = SpatialNodeDescriptor.bound(node, i, 0);
      final float minY = SpatialNodeDescriptor.bound(node, i, 1);
      final float maxX = SpatialNodeDescriptor.bound(node, i, 2);
      final float maxY = SpatialNodeDescriptor.bound(node, i, 3);
      if (!search.query.mayHave(minX, minY, maxX, maxY)) {
        continue;
      }
      final long target = SpatialNodeDescriptor.target(node, i);
      final int half = SpatialNodeDescriptor.half(node, i);
      if (level == 0) {
        search.slots[search.matches] = target;
        search.versions[search.matches++] = half;
      } else {
        frontier.add(
            search.priority(level - 1, minX, minY, maxX, maxY), target, half, sequence, level - 1);
      }
    }
  }

  /** Copies the image of a node; false if it is not that of one moment, or reads failed. */
  private boolean load(long address) {
    if (address <= 0
        || (address & (SpatialNodeDescriptor.LENGTH - 1)) != 0
        || !pieces.read(address, SpatialNodeDescriptor.LENGTH)) {
      return false;
    }
    final MemoryRegion region = pieces.region();
    final int offset = pieces.offset();
    final long sequence = region.getLongAcquire(offset + SpatialNodeDescriptor.SEQUENCE_OFFSET);
    region.getBytes(offset, node, BlockDescriptor.COPY_OFFSET, SpatialNodeDescriptor.LENGTH);
    VarHandle.acquireFence();
    if ((sequence & 1) != 0
        || region.getLongAcquire(offset + SpatialNodeDescriptor.SEQUENCE_OFFSET) != sequence
        || SpatialNodeDescriptor.word(node, SpatialNodeDescriptor.SEQUENCE_OFFSET) != sequence) {
      return false;
    }
    final int stored = BlockDescriptor.getCrc(node);
    return SpatialNodeDescriptor.crc(crc, node, location.incarnation(), address) == stored;
  }

  /** Reads the blocks of the leaf's entries, as many as fit into a chunk. */
  private ReadResult readBlocks(SpatialSearch search, EntrySink sink) {
    search.chunk.clear();
    search.next = 0;
    final int count = plan(search);
    if (count == 0) {
      return readLeafAgain(search);
    }
    if (!pieces.execute()) {
      return pieces.failure() == ReadResult.UNDECIDED ? readLeafAgain(search) : pieces.failure();
    }
    for (int i = 0; i < count; i++) {
      final int match = search.matchesRead + i;
      if (!block.take(search.slots[match], search.versions[match], planned[i])
          || block.valueLength() < BoxDescriptor.LENGTH) {
        return readLeafAgain(search);
      }
      if (isAccepted(search.query)) {
        search.chunk.add(block);
      }
    }
    pieces.verify(); // before anything of the chunk counts
    if (!sink.admits()) {
      return ReadResult.CLOSED;
    }
    search.clock = search.leafClock;
    if (search.chunk.latestDeadline() > search.leafClock && !compareWithClock(search)) {
      return pieces.failure() == null || pieces.failure() == ReadResult.UNDECIDED
          ? readLeafAgain(search)
          : pieces.failure();
    }
    search.matchesRead += count;
    rounds = 0;
    return null;
  }

  /** Plans to read blocks; returns their number. */
  private int plan(SpatialSearch search) {
    pieces.beginBatch();
    int bytes = 0;
    int count = 0;
    for (int i = search.matchesRead; i < search.matches; i++) {
      final int length = SizeClasses.length(GroupDescriptor.sizeClass(search.slots[i]));
      bytes += length;
      if (length == 0 || (count > 0 && bytes > EntryChunk.MAX_BYTES)) {
        break;
      }
      planned[count++] = pieces.add(GroupDescriptor.address(search.slots[i]), length);
    }
    return count;
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

  /**
   * Loads the clock that decides which entries of the chunk have ended; false if one has ended
   * since the leaf was read, so that another entry of its id may have replaced it before.
   */
  private boolean compareWithClock(SpatialSearch search) {
    if (!pieces.loadClock()) {
      return false;
    }
    search.clock = pieces.clock();
    for (int i = 0; i < search.chunk.count(); i++) {
      final long deadline = search.chunk.deadline(i);
      if (deadline > search.leafClock && deadline <= search.clock) {
        return false;
      }
    }
    return true;
  }

  private ReadResult readLeafAgain(SpatialSearch search) {
    search.chunk.clear();
    search.next = 0;
    search.matches = 0;
    search.matchesRead = 0;
    // What a later split takes out of the leaf is found by the image that was read.
    search.frontier.add(
        search.leafPriority, search.leaf, search.leafBirth, search.leafSequence, -1);
    return again(search);
  }

  /** Gives the entries of the chunk. */
  private ReadResult give(SpatialSearch search, EntrySink sink) {
    final EntryChunk chunk = search.chunk;
    final byte[] bytes = chunk.bytes();
    while (search.next < chunk.count()) {
      final int i = search.next++;
      final long deadline = chunk.deadline(i);
      if (deadline != 0 && deadline <= search.clock) {
        if (!sink.passes()) {
          return ReadResult.FOUND;
        }
        continue;
      }
      final int key = chunk.keyOffset(i);
      final int keyLength = chunk.keyLength(i);
      if (search.give(KeyHash.of(bytes, key, keyLength, location.seed()))
          && !sink.take(bytes, key, keyLength, chunk.valueLength(i), chunk.version(i), deadline)) {
        return ReadResult.FOUND;
      }
    }
    return null;
  }

  /** Takes the records of moves since the last look that matter. */
  private ReadResult lookAtMoves(SpatialSearch search) {
    if (!pieces.read(head(search), Long.BYTES)) {
      return pieces.failure();
    }
    final long moves = pieces.region().getLongAcquire(pieces.offset());
    if (moves - search.movesSeen < 0 || moves - search.movesSeen > SpatialDescriptor.LINES) {
      return restart(search);
    }
    while (search.movesSeen < moves) {
      final long number = search.movesSeen + 1;
      final long address = search.ring + SpatialDescriptor.record(number);
      if (!pieces.read(address, SpatialDescriptor.RECORD_LENGTH)) {
        return pieces.failure();
      }
      pieces
          .region()
          .getBytes(
              pieces.offset(),
              record,
              BlockDescriptor.COPY_OFFSET,
              SpatialDescriptor.RECORD_LENGTH);
      final int stored = BlockDescriptor.getCrc(record);
      if (SpatialDescriptor.crc(crc, record, location.incarnation(), address) != stored
          || SpatialDescriptor.word(record, SpatialDescriptor.NUMBER_OFFSET) != number
          || !follow(search)) {
        return restart(search);
      }
      search.movesSeen = number;
    }
    return null;
  }

  /** Notes the move of the record if it matters; false if too many wait. */
  private boolean follow(SpatialSearch search) {
    final float minX = SpatialDescriptor.bound(record, 0);
    final float minY = SpatialDescriptor.bound(record, 1);
    final float maxX = SpatialDescriptor.bound(record, 2);
    final float maxY = SpatialDescriptor.bound(record, 3);
    return !search.query.mayHave(minX, minY, maxX, maxY)
        || search.add(
            new SpatialSearch.Move(
                SpatialDescriptor.word(record, SpatialDescriptor.LEAF_OFFSET),
                SpatialDescriptor.word(record, SpatialDescriptor.BIRTH_OFFSET),
                SpatialDescriptor.word(record, SpatialDescriptor.SEQUENCE_OFFSET),
                search.priority(0, minX, minY, maxX, maxY)));
  }

  /** Tries again after inconsistent memory: null if there is a round left. */
  private ReadResult again(SpatialSearch search) {
    if (++rounds <= MAX_ROUNDS) {
      pieces.retry();
      Thread.onSpinWait();
      return null;
    }
    rounds = 0;
    return restart(search);
  }

  private ReadResult restart(SpatialSearch search) {
    search.restart();
    pieces.retry();
    return ++restarts <= MAX_RESTARTS ? null : ReadResult.UNDECIDED;
  }
}
