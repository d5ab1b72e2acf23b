package dev.ringfetch.index.layout;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;

/**
 * The state of a search in a spatial index between its steps, which may be those of different
 * readers: the nodes that are still to be visited, the moves that are still to be followed, and the
 * entries that were given. Used by one thread at a time.
 *
 * <p>Partitions are searched in groups, one after the other; an id belongs to one partition.
 */
public final class SpatialSearch {
  /** The most partitions of a group. */
  static final int GROUP = 16;

  /** Limit of the moves that wait; with more the search of the group begins again. */
  private static final int MAX_MOVES = 1 << 16;

  /** Limit of the visits of one group: more nodes than memory has; damage makes cycles. */
  private static final int MAX_VISITS = 1 << 24;

  /** Limit of the nodes and candidates that wait: damage makes each node name a node's capacity. */
  private static final int MAX_WAITING = 1 << 20;

  final SpatialQuery query;

  /** Nodes still to be visited: the nearest first, or else the last found first. */
  final Queue<SearchNode> frontier;

  /** Entries of leaves whose blocks are to be read. */
  final LeafMatches matches = new LeafMatches();

  /** Entries of leaves that may be among the nearest, the nearest one first. */
  final Queue<NearCandidate> candidates = new PriorityQueue<>();

  /**
   * Moves of each partition of the group into leaves whose boxes may belong to the answer; none
   * before the first move.
   */
  private final List<Queue<SearchNode>> moves = new ArrayList<>();

  /** The ids of entries of the group that were given. */
  private final GivenIds given = new GivenIds();

  /** Entries whose blocks are valid; those from {@link #next} on are to be given. */
  final EntryChunk chunk = new EntryChunk();

  int next;

  /** The index that is searched, as its last reader has it; null before the first step. */
  private HashLocation location;

  /** Whether a step has begun, and has not ended. */
  private boolean isInStep;

  /** The first partition of the group. */
  int first;

  /** Number of its partitions; 0 before the group has begun. */
  int size;

  /** Whether the roots of the group were found. */
  boolean isBegun;

  // Of each partition of the group.
  final long[] roots = new long[GROUP];
  final long[] rings = new long[GROUP];

  /** Numbers of the last moves that were looked at. */
  final long[] movesSeen = new long[GROUP];

  /** Rounds of moves that were found when all else was visited. */
  int rounds;

  /** New beginnings of the group, and limits of rounds that were reached, since the last new id. */
  int inVain;

  /** The partition at which the step could not decide; negative if that is not known. */
  int doubtful = -1;

  private int movesWaiting;
  private int visits;
  private long repeats;

  /** Creates a search that gives all entries that the query accepts. */
  public SpatialSearch(SpatialQuery query) {
    this.query = query;
    frontier = query.isNear() ? new PriorityQueue<>() : Collections.asLifoQueue(new ArrayDeque<>());
  }

  /**
   * Whether the search comes farther: since its last new entry the group has not begun again, and
   * no limit of rounds was reached.
   */
  public boolean isAdvancing() {
    return inVain == 0;
  }

  /** How many partitions may be the one at which the last step could not decide. */
  public int doubts(int partitions) {
    return doubtful >= 0 ? 1 : Math.min(GROUP, partitions - first);
  }

  /**
   * The partition at which the last step could not decide; if that is not known, those that may be
   * it by turns. Not after the end of the search.
   *
   * @param turn any number, the next one at the next time
   * @param partitions of the index
   */
  public int doubtful(int turn, int partitions) {
    return doubtful >= 0 ? doubtful : first + turn % doubts(partitions);
  }

  /**
   * Begins a step. The group begins again in other memory than before, that of another server or
   * another epoch, and after a step that a fault of memory has ended: nodes that were being read
   * then are in no queue.
   */
  void begin(HashLocation at) {
    if (isInStep) {
      restart();
    } else if (!at.equals(location)) {
      clear();
    }
    location = at;
    isInStep = true;
    doubtful = -1;
  }

  /** Ends a step: all that is left of the search is in its queues. */
  void end() {
    isInStep = false;
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
    final int partition =
        KeyHash.partition(id, 0, id.length, hash, location.seed(), location.partitions());
    return partition < first || (partition < first + size && given.contains(id));
  }

  /** Priority of a node with this box. */
  double priority(double minX, double minY, double maxX, double maxY) {
    return query.isNear() ? query.square(minX, minY, maxX, maxY) : 0;
  }

  /**
   * Makes the nearest candidates matches, unless a node may have an entry that is nearer than all
   * of them; those that are too far go. False if there are no matches then.
   *
   * @param few how many at least, if there are; as many as were given where that is more
   */
  boolean takeCandidates(int few) {
    if (!frontier.isEmpty()
        && !candidates.isEmpty()
        && candidates.peek().priority() > frontier.peek().priority()) {
      return false;
    }
    final int most = Math.max(few, given.size());
    while (!candidates.isEmpty() && matches.size() < most) {
      final NearCandidate nearest = candidates.poll();
      if (query.isBeyond(nearest.priority())) {
        candidates.clear();
      } else if (!nearest.leaf().isStale) { // else it is in the leaf's next image, or elsewhere
        matches.add(nearest.leaf(), nearest.slot(), nearest.version());
      }
    }
    return matches.size() > 0;
  }

  /** Ends the group: no entry of it is left. */
  void endGroup() {
    first += size;
    size = 0;
    given.clear();
    visits = 0;
    rounds = 0;
    inVain = 0;
    clear();
  }

  /** Begins the group again, in vain so far; entries that were given do not come again. */
  void restart() {
    inVain++;
    clear();
  }

  private void clear() {
    isBegun = false;
    frontier.clear();
    moves.forEach(Queue::clear);
    movesWaiting = 0;
    matches.clear();
    candidates.clear();
  }

  /** Counts a visit of a node; false if there are too many, or too many wait. */
  boolean mayVisit() {
    return ++visits <= MAX_VISITS && frontier.size() + candidates.size() <= MAX_WAITING;
  }

  /** Whether no node and no move is left. */
  boolean isIdle() {
    return frontier.isEmpty() && movesWaiting == 0;
  }

  /** Notes a move to be followed; false if too many wait. */
  boolean add(SearchNode move) {
    while (moves.size() < GROUP) {
      moves.add(new ArrayDeque<>());
    }
    moves.get(move.partition() - first).add(move);
    return ++movesWaiting <= MAX_MOVES;
  }

  /**
   * Has the next move of each partition followed. The moves of one partition are followed one after
   * the other: an entry may be in the leaf of the first one until it is in that of the second.
   */
  void followMoves() {
    for (final Queue<SearchNode> ofPartition : moves) {
      final SearchNode move = ofPartition.poll();
      if (move != null) {
        frontier.add(move);
        movesWaiting--;
      }
    }
  }

  /** Makes room for the ids of entries. */
  void expect(int entries) {
    given.expect(entries);
  }

  /** Notes that an entry is given; false if its id was given before. */
  boolean give(byte[] bytes, int offset, int length) {
    final boolean isNew = given.add(bytes, offset, length);
    inVain = isNew ? 0 : inVain;
    repeats += isNew ? 0 : 1;
    return isNew;
  }

  /** How often an entry was found again; 0 if none was moved, or removed and put again. */
  public long repeats() {
    return repeats;
  }
}
