package dev.ringfetch.index.log;

import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.v1.GroupState;

/**
 * The store of a replica: the entries, outcomes, clients and clocks of a group.
 *
 * <p>While the replica is a member, it applies records to the store. While it leads, the writers of
 * the partitions do, and append to the {@link GroupLog}. The replica's owner calls all methods, and
 * none of them waits but {@link #recovered}.
 */
public interface GroupStore {
  /** Creates the store of a group. */
  @FunctionalInterface
  interface Factory {
    /** Creates the store, which is cleared before it is used. */
    GroupStore create(GroupState group);
  }

  /**
   * Clears the store, as a snapshot follows or the group is new.
   *
   * @throws GroupStoreException if the group cannot be stored here, for example for lack of memory
   */
  void clear(GroupState group) throws GroupStoreException;

  /**
   * Applies a committed record.
   *
   * @param record is valid during the call
   * @throws GroupStoreException if there is no memory, or the record does not belong to this group
   */
  void apply(JournalRecord record) throws GroupStoreException;

  /** So many entries of a snapshot follow: the store may make room for them at once. */
  default void expect(long entries) {}

  /** Takes a record of a snapshot, as {@link #apply}. */
  void restore(JournalRecord record) throws GroupStoreException;

  /**
   * Waits until all records that an earlier process has left are carried out, before the store's
   * replica begins.
   *
   * @throws GroupStoreException as {@link #apply}
   */
  default void recovered() throws GroupStoreException {}

  /**
   * Begins to serve: all records of the log are applied or are applied by the writers, which append
   * to the log from now on.
   *
   * @param log whose records after the store's last the writers begin with
   */
  void lead(GroupLog log, GroupState group) throws GroupStoreException;

  /** Called when the group has another configuration, and this replica still leads. */
  void reconfigured(GroupState group);

  /**
   * Refuses writes of clients from now on, so that clients send them again. Reads continue.
   * Idempotent.
   */
  void endWrites();

  /** Ends serving for good: the store is cleared before its next use. Idempotent. */
  void follow();

  /**
   * Begins a snapshot of what is applied, while the writers go on. Ends by itself when the store
   * ceases to serve.
   *
   * @param wake is run, on any thread, when there may be a next piece
   */
  GroupSnapshot snapshot(Runnable wake);
}
