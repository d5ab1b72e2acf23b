package dev.ringfetch.index.replication;

import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.GroupState;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The status of a replica and of its group, as of a moment ago, for operators.
 *
 * @param state of the replica
 * @param gate the epoch that it obeys; 0: none
 * @param leader node that leads that epoch, as far as is known; else 0
 * @param group the newest state of the coordinator; null: none was seen
 * @param established whether this replica leads, and its epoch serves
 * @param log what an operator has to know of the log, if no node has all of the group
 * @param end position of the last record
 * @param commit position up to which all is known to be committed
 * @param applied position up to which the store has applied all
 * @param members the others, where this replica leads
 * @param counts what has happened since the process began
 */
public record ReplicaStatus(
    ReplicaState state,
    long gate,
    long leader,
    @Nullable GroupState group,
    boolean established,
    Log log,
    long end,
    long commit,
    long applied,
    List<MemberLag> members,
    Counts counts) {

  /**
   * The log of a replica, for groups of which no node has all records.
   *
   * @param epoch that was obeyed last, where the group could go on with the log; else 0
   * @param position up to which its records are the group's
   * @param process whose log it is, where the group is in memory alone; else 0
   * @param isWhole whether the replica has all of the group
   * @param mayHaveMore whether there may be a log on the disk that was given up or not read
   */
  public record Log(long epoch, long position, long process, boolean isWhole, boolean mayHaveMore) {
    /** Of a replica that has none. */
    static Log none(boolean isWhole, boolean mayHaveMore) {
      return new Log(0, 0, 0, isWhole, mayHaveMore);
    }
  }

  /**
   * Another member, or a node that joins.
   *
   * @param node its id
   * @param joining whether it is no member yet
   * @param received position up to which it has all records
   * @param applied position up to which it has applied them
   * @param replicatedBy how records get there: {@code rpc}, or {@code one-sided} and the fabric
   */
  public record MemberLag(
      long node, boolean joining, long received, long applied, String replicatedBy) {}

  /**
   * The counts of a replica's events.
   *
   * @param wins epochs that this replica has won
   * @param serves times that its store began to serve
   * @param cuts times that it gave up records that a leader lacked
   * @param refused messages that it refused
   * @param pieces of snapshots that it sent
   * @param joins nodes that it took into the group
   * @param failedJoins snapshots that it gave up
   * @param damaged times that it found what a leader cannot have placed
   */
  public record Counts(
      long wins,
      long serves,
      long cuts,
      long refused,
      long pieces,
      long joins,
      long failedJoins,
      long damaged) {}

  /**
   * The configuration under which clients may read this replica's memory, as long as the gates of
   * all its members name its epoch: the one that this replica leads, if it is established. That of
   * an epoch which was only won would not do: another one may be established without these members.
   *
   * @return null if there is none
   */
  public @Nullable Configuration readable() {
    final boolean leads =
        state == ReplicaState.LEADING && group.getEstablished().getEpoch() == gate;
    return leads ? group.getEstablished() : null;
  }

  /** Whether reads and writes go to this replica. */
  public boolean isLeading() {
    return state == ReplicaState.LEADING;
  }
}
