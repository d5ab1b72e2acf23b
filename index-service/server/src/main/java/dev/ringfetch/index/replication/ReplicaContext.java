package dev.ringfetch.index.replication;

import dev.ringfetch.index.log.GroupDisk;
import dev.ringfetch.index.log.GroupStore;
import dev.ringfetch.index.log.RecordLog;
import dev.ringfetch.index.v1.Node;
import java.util.function.LongSupplier;
import org.agrona.ErrorHandler;
import org.jspecify.annotations.Nullable;

/**
 * The context of a replica.
 *
 * @param group its group
 * @param self the node
 * @param partitions of the index
 * @param peers connections to other nodes; null: there never is another one
 * @param store what the records are applied to
 * @param clock in nanoseconds
 * @param nonces numbers drawn at random, never 0
 * @param limits of the log
 * @param errors is told what a store throws, by any thread
 * @param disk where members keep the records; null: in memory alone
 * @param awaitedDisks those that have a record before it is committed
 * @param gate by which clients see which epoch the replica obeys
 * @param heartbeats of the node, on which idle replicas rely
 * @param unknown is told of bytes from other nodes that are no records to this node
 */
record ReplicaContext(
    long group,
    Node self,
    int partitions,
    @Nullable Peers peers,
    GroupStore store,
    LongSupplier clock,
    LongSupplier nonces,
    Limits limits,
    ErrorHandler errors,
    @Nullable GroupDisk disk,
    AwaitedDisks awaitedDisks,
    GroupGate gate,
    NodeHeartbeats heartbeats,
    UnknownRecords unknown) {
  /** Whether there never is another node. */
  boolean isAlone() {
    return peers == null;
  }

  /** The context of a replica in memory. */
  ReplicaContext(
      long group,
      Node self,
      int partitions,
      Peers peers,
      GroupStore store,
      LongSupplier clock,
      LongSupplier nonces,
      Limits limits,
      ErrorHandler errors) {
    this(group, self, partitions, peers, store, clock, nonces, limits, errors, null);
  }

  /** The context of a replica whose members count by their disks, and whose gate has no readers. */
  ReplicaContext(
      long group,
      Node self,
      int partitions,
      Peers peers,
      GroupStore store,
      LongSupplier clock,
      LongSupplier nonces,
      Limits limits,
      ErrorHandler errors,
      GroupDisk disk) {
    this(
        group,
        self,
        partitions,
        peers,
        store,
        clock,
        nonces,
        limits,
        errors,
        disk,
        disk == null ? AwaitedDisks.NONE : AwaitedDisks.ALL,
        GroupGate.NONE,
        new NodeHeartbeats(peers, limits, clock),
        new UnknownRecords());
  }

  /**
   * Limits of a group's log, and of its members' patience.
   *
   * @param waiting bytes of records that may wait for their commit; beyond, writers wait
   * @param tail bytes of records that are kept for a node that joins; beyond, it begins anew
   * @param memory bytes of the memory in which a leader may place records
   * @param nodeTimeoutNs after so long without a message a node is taken for dead, see {@link
   *     Silence}
   */
  record Limits(int waiting, int tail, int memory, long nodeTimeoutNs) {
    /** Several times what comes between two cycles of a member, and the longest record. */
    static final int MEMORY_DEFAULT = 4 << 20;

    /** A busy leader sends something at least so often. */
    static final long HEARTBEAT_NS = 50_000_000;

    /** The most that a leader waits that is not busy, and whose members do not know all yet. */
    static final long IDLE_HEARTBEAT_NS = 2 * HEARTBEAT_NS;

    /** The most that a node waits between two heartbeats for its idle groups. */
    static final long NODE_HEARTBEAT_NS = 4 * HEARTBEAT_NS;

    /** Ten heartbeats: several may be late. */
    static final long NODE_TIMEOUT_DEFAULT_NS = 10 * HEARTBEAT_NS;

    /** About a tenth of a second of a fast network, and what comes during a snapshot. */
    static final Limits DEFAULT = new Limits(RecordLog.WAITING_DEFAULT, 64 << 20, MEMORY_DEFAULT);

    /**
     * A leader that is not busy sends something at least so often, until its members know all: five
     * times in a node timeout, as a {@link Silence} takes four of the longest gaps for a node's own
     * pace.
     */
    long idleHeartbeatNs() {
      return Math.max(HEARTBEAT_NS, Math.min(IDLE_HEARTBEAT_NS, nodeTimeoutNs / 5));
    }

    /**
     * A node sends a heartbeat for its idle groups at least so often: twice in a node timeout, and
     * a fifth of that is left for one that comes late.
     */
    long nodeHeartbeatNs() {
      return Math.max(HEARTBEAT_NS, Math.min(NODE_HEARTBEAT_NS, nodeTimeoutNs * 2 / 5));
    }

    Limits(int waiting, int tail, int memory) {
      this(waiting, tail, memory, NODE_TIMEOUT_DEFAULT_NS);
    }
  }
}
