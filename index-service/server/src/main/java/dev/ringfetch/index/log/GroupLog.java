package dev.ringfetch.index.log;

import dev.ringfetch.index.partition.CommitLog;

/**
 * The log of a group that this node leads. Its partitions' owners append, each to its own {@link
 * CommitLog}; the records get their positions in the group in the order in which they come. A
 * record is committed when all members have it.
 *
 * <p>Once the node leads no more, the log has failed for good. Safe for use by many threads.
 */
public interface GroupLog {
  /**
   * The log of a partition. Where as much waits as may, it says that it is FULL to no writer: it
   * takes none meanwhile.
   *
   * @param last LSN behind which it goes on, or behind a later one that may have been given
   */
  CommitLog partition(int partition, long last);

  /**
   * Appends a record of no partition: a client that has a number from now on, or no more.
   *
   * @param type of the record, as RecordDescriptor has it
   * @param request of the record; 0 for none
   * @param ended is told, on any thread, when the record is committed, or the log has failed
   * @return false if the log is full or has failed, and nothing was done
   */
  boolean append(int type, long client, long request, Ended ended);

  /**
   * Whether this node is the group's only member, in an epoch that is established: no other node
   * can have acknowledged anything that this one lacks. A read that begins after a yes needs no
   * question to members.
   */
  boolean isAlone();

  /** A receiver of the end of a record. */
  @FunctionalInterface
  interface Ended {
    /** The record is committed; or the log has failed, and whether it is committed is unknown. */
    void onEnded(boolean committed);
  }
}
