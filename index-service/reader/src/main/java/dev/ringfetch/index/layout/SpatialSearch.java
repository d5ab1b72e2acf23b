package dev.ringfetch.index.layout;

import java.util.ArrayDeque;
import java.util.Queue;
import org.agrona.collections.LongHashSet;

/**
 * The state of a search in a spatial index between its steps, which may be those of different
 * readers: the nodes that are still to be visited, the moves that are still to be followed, and the
 * entries that were given. Used by one thread at a time.
 *
 * <p>The partitions are searched one after the other; an id belongs to one of them.
 */
public final class SpatialSearch {
  /** Limit of the moves that wait; with more the search of the partition begins again. */
  private static final int MAX_MOVES = 1 << 16;

  /** Limit of the visits of one partition: more nodes than memory has; damage makes cycles. */
  private static final int MAX_VISITS = 1 << 24;

  /** A record of a move into a leaf whose box may belong to the answer. */
  record Move(long leaf, long birth, long sequence, double priority) {}

  final SpatialQuery query;
  final Frontier frontier = new Frontier();
  final Queue<Move> moves = new ArrayDeque<>();

  /** Hashes of the ids of entries that were given. */
  private final LongHashSet given = new LongHashSet();

  /** Entries of a leaf whose blocks are valid; those from {@link #next} on are to be given. */
  final EntryChunk chunk = new EntryChunk();

  int next;

  /** The index that is searched, as its last reader has it; null before the first step. */
  private HashLocation location;

  /** Number of the partition; -1 before the first. */
  int partition = -1;

  /** Whether the partition's root was found. */
  boolean isBegun;

  long root;
  long ring;

  /** Number of the last move that was looked at. */
  long movesSeen;

  // The entries of the last leaf whose blocks are to be read.
  final long[] slots = new long[SpatialNodeDescriptor.CAPACITY];
  final int[] versions = new int[SpatialNodeDescriptor.CAPACITY];
  int matches;
  int matchesRead;

  // That leaf, and where it was in the frontier.
  long leaf;
  int leafBirth;
  long leafSequence;
  double leafPriority;

  /** Time of the clock before the leaf was read; 0 if it was not loaded. */
  long leafClock;

  /** Time of the clock that decides which entries of the chunk have ended. */
  long clock;

  private int visits;
  private long repeats;

  /** Creates a search that gives all entries that the query accepts. */
  public SpatialSearch(SpatialQuery query) {
    this.query = query;
  }

  /** The partition that is searched, or the first one; not after the end of the search. */
  public int partition() {
    return Math.max(0, partition);
  }

  /**
   * Begins a step. In other memory than before, that of another server or another epoch, the
   * partition begins again.
   */
  void begin(HashLocation at) {
    if (!at.equals(location)) {
      restart();
      location = at;
    }
  }

  /**
   * Whether the entry of an id was given, or is one of a partition that was searched to its end: a
   * call that goes on leaves it out.
   */
  public boolean hasPassed(byte[] id) {
    if (location == null) {
      return false;
    }
    final long hash = KeyHash.of(id, 0, id.length, location.seed());
    final int of =
        KeyHash.partition(id, 0, id.length, hash, location.seed(), location.partitions());
    return of < partition || (of == partition && given.contains(hash));
  }

  /** Priority of a node with this box. */
  double priority(int level, double minX, double minY, double maxX, double maxY) {
    return query.isNear() ? query.square(minX, minY, maxX, maxY) : level;
  }

  /** Begins the next partition. */
  void nextPartition() {
    partition++;
    given.clear();
    visits = 0;
    restart();
  }

  /** Begins the partition again; entries that were given do not come again. */
  void restart() {
    isBegun = false;
    frontier.clear();
    moves.clear();
    matches = 0;
    matchesRead = 0;
  }

  /** Counts a visit of a node; false if there are too many. */
  boolean mayVisit() {
    return ++visits <= MAX_VISITS;
  }

  /** Notes a move to be followed; false if too many wait. */
  boolean add(Move move) {
    moves.add(move);
    return moves.size() <= MAX_MOVES;
  }

  /** Notes that an entry is given; false if its id was given before. */
  boolean give(long hash) {
    final boolean isNew = given.add(hash);
    repeats += isNew ? 0 : 1;
    return isNew;
  }

  /** How often an entry was found again; 0 if none was moved, or removed and put again. */
  public long repeats() {
    return repeats;
  }
}
