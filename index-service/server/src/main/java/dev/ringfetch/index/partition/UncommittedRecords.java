package dev.ringfetch.index.partition;

import com.google.protobuf.ByteString;
import org.agrona.collections.Object2ObjectHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The records of a partition that are appended and not applied, in the order of their LSNs, with an
 * index of the newest record of each key. Each record has a list of dependants: submissions that
 * appended no record, and whose answers depend on it.
 *
 * <p>Used by the partition's owner alone. Allocates only when its map grows.
 */
final class UncommittedRecords {
  private final Object2ObjectHashMap<ByteString, Write> newest = new Object2ObjectHashMap<>();
  private Write first;
  private Write last;
  private int count;

  /** Number of waiting submissions, dependants included. */
  int count() {
    return count;
  }

  /** The newest record of a key, or the part of one; null if there is none. */
  @Nullable Write newest(ByteString key) {
    return newest.get(key);
  }

  /** The oldest record, or null if there is none. */
  @Nullable Write first() {
    return first;
  }

  /** The newest record of all, or null if there is none. */
  @Nullable Write last() {
    return first == null ? null : last;
  }

  /** Adds a record with the largest LSN. */
  void add(Write record) {
    addLast(record);
    for (Write part = record.firstPart(); part != null; part = part.nextPart) {
      part.overwritten = false;
      final Write before = newest.put(part.key(), part);
      if (before != null) {
        before.overwritten = true;
      }
    }
  }

  /** Adds a record that changes no entry, with the largest LSN. */
  void addLast(Write record) {
    if (first == null) {
      first = record;
    } else {
      last.nextRecord = record;
    }
    last = record;
    record.nextRecord = null;
    record.overwritten = true; // no key leads to it
    count++;
  }

  /** The record of an LSN, or null if it was removed. */
  @Nullable Write record(long lsn) {
    Write record = first;
    while (record != null && record.version() < lsn) {
      record = record.nextRecord;
    }
    return record != null && record.version() == lsn ? record : null;
  }

  /**
   * Adds a submission whose answer depends on a record or its part, and so waits for its commit.
   */
  void addDependant(Write seen, Submission dependant) {
    final Write record = seen.whole;
    if (record.firstDependant == null) {
      record.firstDependant = dependant;
    } else {
      record.lastDependant.next = dependant;
    }
    record.lastDependant = dependant;
    dependant.next = null;
    count++;
  }

  /** Removes the oldest record; the chain of its dependants stays at it. */
  Write removeFirst() {
    final Write record = first;
    first = record.nextRecord;
    record.nextRecord = null;
    for (Write part = record.firstPart(); part != null; part = part.nextPart) {
      if (!part.overwritten) {
        newest.remove(part.key());
      }
    }
    count--;
    return record;
  }

  /** Removes the oldest dependant of a removed record; null if none is left. */
  @Nullable Submission removeDependant(Write record) {
    final Submission dependant = record.firstDependant;
    if (dependant == null) {
      record.lastDependant = null;
      return null;
    }
    record.firstDependant = dependant.next;
    dependant.next = null;
    count--;
    return dependant;
  }
}
