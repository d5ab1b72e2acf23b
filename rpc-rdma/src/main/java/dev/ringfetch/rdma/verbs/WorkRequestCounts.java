package dev.ringfetch.rdma.verbs;

/**
 * Numbers of posted work requests, by kind. Each request counts once, whether it asked for a
 * completion or not.
 *
 * @param writes WRITEs that {@link dev.ringfetch.fabric.QueuePair#write} or {@link
 *     dev.ringfetch.fabric.RemoteDomain#write} posted.
 * @param reads READs.
 * @param atomics compare-and-swap and fetch-and-add.
 * @param sends SENDs: rings.
 * @param credits WRITEs that give receives for rings back to the peer.
 * @param probes empty WRITEs by which an idle connection finds out whether the peer is there.
 * @param datagrams SENDs of unreliable datagrams.
 * @param signaled those of all of them that asked for a completion.
 */
public record WorkRequestCounts(
    long writes,
    long reads,
    long atomics,
    long sends,
    long credits,
    long probes,
    long datagrams,
    long signaled) {
  /** None. */
  public static final WorkRequestCounts ZERO = new WorkRequestCounts(0, 0, 0, 0, 0, 0, 0, 0);

  /** Those of all queue pairs of this process that have accepted a connection. Any thread. */
  public static WorkRequestCounts ofServers() {
    return WorkRequestTally.SERVERS.sum();
  }

  /** Those of all queue pairs of this process that have connected. Any thread. */
  public static WorkRequestCounts ofClients() {
    return WorkRequestTally.CLIENTS.sum();
  }

  /** Those of all connections of this process to domains of peers. Any thread. */
  public static WorkRequestCounts ofDomains() {
    return WorkRequestTally.DOMAINS.sum();
  }

  /** The sum of both. */
  public WorkRequestCounts plus(WorkRequestCounts other) {
    return new WorkRequestCounts(
        writes + other.writes,
        reads + other.reads,
        atomics + other.atomics,
        sends + other.sends,
        credits + other.credits,
        probes + other.probes,
        datagrams + other.datagrams,
        signaled + other.signaled);
  }

  /** The difference to an earlier count. */
  public WorkRequestCounts minus(WorkRequestCounts earlier) {
    return new WorkRequestCounts(
        writes - earlier.writes,
        reads - earlier.reads,
        atomics - earlier.atomics,
        sends - earlier.sends,
        credits - earlier.credits,
        probes - earlier.probes,
        datagrams - earlier.datagrams,
        signaled - earlier.signaled);
  }
}
