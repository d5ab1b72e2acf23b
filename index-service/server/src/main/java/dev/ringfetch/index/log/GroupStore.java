package dev.ringfetch.index.log;

import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.v1.GroupState;

/**
 * What a replica's records are applied to: the entries of a group, and what else its records say.
 *
 * <p>While the replica is a member it applies; while it leads, the writers of the partitions do,
 * and append to the {@link GroupLog}. Each method is called by the replica's owner, and none waits.
 */
public interface GroupStore {
  /** Creates the store of a group. */
  @FunctionalInterface
  interface Factory {
    /** Creates the store, which is cleared before it is used. */
    GroupStore create(GroupState group);
  }

  /**
   * Gives up all that there is, as a snapshot comes or the group is new.
   *
   * @throws GroupStoreException if the group cannot be had here: no memory, for one
   */
  void clear(GroupState group) throws GroupStoreException;

  /**
   * Applies a committed record.
   *
   * @param record is valid during the call
   * @throws GroupStoreException if that cannot be: no memory, or no record of this group
   */
  void apply(JournalRecord record) throws GroupStoreException;

  /** Takes a record of a snapshot, as {@link #apply}. */
  void restore(JournalRecord record) throws GroupStoreException;

  /**
   * Begins to serve: all records of the log are applied or are applied by the writers, which append
   * to the log from now on.
   *
   * @param log whose records after the store's last the writers begin with
   */
  void lead(GroupLog log, GroupState group) throws GroupStoreException;

  /** The group has another configuration, and this replica still leads. */
  void reconfigured(GroupState group);

  /**
   * Takes no writes of clients any more while it serves: they are to be sent again. Reads go on.
   * Idempotent.
   */
  void endWrites();

  /** Ends serving, for good: the store is cleared before it is used again. Idempotent. */
  void follow();

  /**
   * Begins a snapshot of what is applied, while the writers go on. Ends by itself when the store
   * ceases to serve.
   *
   * @param wake is run, on any thread, when there may be a next piece
   */
  GroupSnapshot snapshot(Runnable wake);
}
