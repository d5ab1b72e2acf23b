package dev.ringfetch.index.journal;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The room that is left for records in the segments of a journal. Room is reserved before a record
 * is appended, so each appended record can be written.
 *
 * <p>Safe for use by many threads.
 */
final class JournalRoom {
  /** Bytes of a batch's header, which a record needs if it is alone in its batch. */
  private static final int OVERHEAD = BatchDescriptor.RECORD_OFFSET;

  /** Room reserved for records other than puts. */
  private static final int DELETE_RESERVE = 256 << 10;

  /** Room reserved for records about groups and clients; a start, for example, needs some. */
  private static final int GROUP_RESERVE = 16 << 10;

  private final AtomicLong bytes = new AtomicLong();

  /** Whether there is room for a record of this aligned length and type. */
  boolean fits(int length, int type) {
    return bytes.get() - length - OVERHEAD >= keptFrom(type);
  }

  /** Reserves room for a record of this aligned length and type; false if there is too little. */
  boolean reserve(int length, int type) {
    final int needed = length + OVERHEAD;
    final int kept = keptFrom(type);
    long room;
    do {
      room = bytes.get();
      if (room - needed < kept) {
        return false;
      }
    } while (!bytes.compareAndSet(room, room - needed));
    return true;
  }

  /** Room that records of a type must leave to other types. */
  private static int keptFrom(int type) {
    return switch (type) {
      case RecordDescriptor.PUT, RecordDescriptor.TRANSACTION -> DELETE_RESERVE;
      case RecordDescriptor.DELETE, RecordDescriptor.TICK, RecordDescriptor.OUTCOME ->
          GROUP_RESERVE;
      default -> 0;
    };
  }

  /**
   * Releases the room that the records of a batch had reserved for headers, except for one header.
   */
  void written(int records) {
    add((long) (records - 1) * OVERHEAD);
  }

  /** Adds room of a segment. */
  void add(long more) {
    bytes.addAndGet(more);
  }
}
