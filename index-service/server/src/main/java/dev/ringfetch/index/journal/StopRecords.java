package dev.ringfetch.index.journal;

import java.io.IOException;
import java.util.Set;

/**
 * Where a node keeps what it has of groups in memory when its process ends in order, and finds it
 * at the next start: one record of each group. Records are written by one thread at a time, and
 * removed by one, also at the same time, but not that of the same group.
 */
public interface StopRecords {
  /** A record that is written. It takes the place of an earlier one when it is finished. */
  interface Writer extends AutoCloseable {
    /** Adds whole records. */
    void add(byte[] piece) throws IOException;

    /** Makes all durable. */
    void finish() throws IOException;

    /** Gives the record up, unless it is finished. */
    @Override
    void close() throws IOException;
  }

  /** Begins the record of a group. */
  Writer create(long group) throws IOException;

  /** The groups that have a record, whole or damaged. */
  Set<Long> groups() throws IOException;

  /** Removes the records of groups, durably; without effect for one that has none. */
  void delete(Set<Long> groups) throws IOException;
}
