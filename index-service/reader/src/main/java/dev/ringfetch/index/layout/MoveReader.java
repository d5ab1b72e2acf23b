package dev.ringfetch.index.layout;

import dev.ringfetch.fabric.MemoryRegion;
import java.util.zip.CRC32C;

/**
 * The reader of the heads of a spatial index's partitions and of the records of moves, for the
 * group of partitions that a search is at. Used by one thread at a time.
 */
final class MoveReader {
  /** Records of a batch. */
  private static final int RECORDS = 64;

  /** How a look has ended. */
  enum Look {
    DONE,
    /** Reads have failed. */
    FAILED,
    /** Records are missing, or too many moves wait: the group is to begin again. */
    BEGIN_AGAIN
  }

  private final PieceReads pieces;
  private final HashLocation location;
  private final CRC32C crc = new CRC32C();
  private final byte[] record = new byte[SpatialDescriptor.COPY_LENGTH];
  private final int[] planned = new int[RECORDS];
  private final long[] moves = new long[SpatialSearch.GROUP];

  MoveReader(PieceReads pieces, HashLocation location) {
    this.pieces = pieces;
    this.location = location;
  }

  /**
   * Finds roots, rings, and the numbers of the moves that come before the search; false if reads
   * have failed. A move that is under way has its record, while the entry is still to be stored in
   * the new leaf, and taken out of the old one: it counts as one of the search.
   */
  boolean begin(SpatialSearch search) {
    if (!readHeads(search)) {
      return false;
    }
    for (int i = 0; i < search.size; i++) {
      final MemoryRegion region = pieces.region(planned[i]);
      final int offset = pieces.offset(planned[i]);
      search.movesSeen[i] =
          SpatialDescriptor.made(region.getLongAcquire(offset + SpatialDescriptor.MOVES_OFFSET));
      search.roots[i] = region.getLong(offset + SpatialDescriptor.ROOT_OFFSET);
      search.rings[i] = region.getLong(offset + SpatialDescriptor.RING_OFFSET);
    }
    return true;
  }

  private boolean readHeads(SpatialSearch search) {
    pieces.beginBatch();
    for (int i = 0; i < search.size; i++) {
      final int head = SpatialDescriptor.head(search.first + i, location.partitions());
      planned[i] = pieces.add(location.root() + head, SpatialDescriptor.HEAD_LENGTH);
    }
    return pieces.execute();
  }

  /** Adds the moves since the last look that matter to the search. */
  Look look(SpatialSearch search) {
    if (!readHeads(search)) {
      return Look.FAILED;
    }
    for (int i = 0; i < search.size; i++) {
      moves[i] =
          SpatialDescriptor.recorded(
              pieces.region(planned[i]).getLongAcquire(pieces.offset(planned[i])));
      final long made = moves[i] - search.movesSeen[i];
      if (made < 0 || made > SpatialDescriptor.LINES) {
        search.doubtful = search.first + i;
        return Look.BEGIN_AGAIN;
      }
    }
    int count;
    while ((count = plan(search)) > 0) {
      if (!pieces.execute()) {
        return Look.FAILED;
      }
      if (!take(search, count)) {
        return Look.BEGIN_AGAIN;
      }
    }
    return Look.DONE;
  }

  /** Plans to read records, by partition, in their order; returns their number. */
  private int plan(SpatialSearch search) {
    pieces.beginBatch();
    int count = 0;
    for (int i = 0; i < search.size; i++) {
      for (long number = search.movesSeen[i] + 1; number <= moves[i] && count < RECORDS; number++) {
        planned[count++] =
            pieces.add(
                search.rings[i] + SpatialDescriptor.record(number),
                SpatialDescriptor.RECORD_LENGTH);
      }
    }
    return count;
  }

  /** Takes the records that were read; false if one is missing, or too many moves wait. */
  private boolean take(SpatialSearch search, int count) {
    int read = 0;
    for (int i = 0; i < search.size; i++) {
      while (read < count && search.movesSeen[i] < moves[i]) {
        final long number = search.movesSeen[i] + 1;
        if (!copy(planned[read++], search.rings[i], number) || !add(search, search.first + i)) {
          search.doubtful = search.first + i;
          return false;
        }
        search.movesSeen[i] = number;
      }
    }
    return true;
  }

  /** Copies the record of a move; false if it is none, or that of another one. */
  private boolean copy(int piece, long ring, long number) {
    pieces
        .region(piece)
        .getBytes(
            pieces.offset(piece),
            record,
            BlockDescriptor.COPY_OFFSET,
            SpatialDescriptor.RECORD_LENGTH);
    final int stored = BlockDescriptor.getCrc(record);
    final long address = ring + SpatialDescriptor.record(number);
    return SpatialDescriptor.crc(crc, record, location.incarnation(), address) == stored
        && SpatialDescriptor.word(record, SpatialDescriptor.NUMBER_OFFSET) == number;
  }

  /** Adds the move of the record if it matters; false if too many wait. */
  private boolean add(SpatialSearch search, int partition) {
    final float minX = SpatialDescriptor.bound(record, 0);
    final float minY = SpatialDescriptor.bound(record, 1);
    final float maxX = SpatialDescriptor.bound(record, 2);
    final float maxY = SpatialDescriptor.bound(record, 3);
    return !search.query.mayHave(minX, minY, maxX, maxY)
        || search.add(
            new SearchNode(
                search.priority(minX, minY, maxX, maxY),
                SpatialDescriptor.word(record, SpatialDescriptor.LEAF_OFFSET),
                (int) SpatialDescriptor.word(record, SpatialDescriptor.BIRTH_OFFSET),
                SpatialDescriptor.word(record, SpatialDescriptor.SEQUENCE_OFFSET),
                -1,
                partition));
  }
}
