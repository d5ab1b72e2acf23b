package dev.ringfetch.index.coordinator;

import dev.ringfetch.index.disk.Disk;
import dev.ringfetch.index.disk.HostDisk;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.v1.CoordinatorState;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Member;
import dev.ringfetch.index.v1.Move;
import dev.ringfetch.index.v1.Node;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * The adoption of a data directory that was alone by a cluster, with its groups. The process may
 * end at any moment, and any answer may be lost: the next start with the same cluster goes on.
 *
 * <table>
 *   <caption>States, and what is durable when each begins</caption>
 *   <tr><th>state<th>the directory<th>the cluster
 *   <tr><td>REACHING<td>alone, or moving<td>anything
 *   <tr><td>MOVING<td>moving: no server serves it alone<td>has not the groups, or has them
 *   <tr><td>JOINING<td>moving<td>has the groups
 *   <tr><td>ADOPTED<td>a node of the cluster<td>has the groups
 *   <tr><td>GIVING_UP<td>moving<td>refuses the groups, or did
 *   <tr><td>RETURNING<td>moving<td>has not the groups, nor gets them from a late request
 *   <tr><td>REFUSED<td>alone<td>has not the groups
 * </table>
 *
 * <p>Used by one thread.
 */
public final class Adoption {
  private static final Logger LOGGER = System.getLogger(Adoption.class.getName());
  private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(5);

  /** As often as this, a request is repeated whose answer was lost. */
  private static final long RETRY_NS = TimeUnit.MILLISECONDS.toNanos(500);

  private static final String ONCE_ALONE =
      "start the server once without --cluster, and end it by SIGTERM, first";

  private enum State {
    REACHING,
    MOVING,
    JOINING,
    ADOPTED,
    GIVING_UP,
    RETURNING,
    REFUSED;

    boolean mayBecome(State next) {
      return switch (this) {
        case REACHING -> next == MOVING;
        case MOVING -> next == JOINING || next == GIVING_UP;
        case GIVING_UP -> next == JOINING || next == RETURNING;
        case JOINING -> next == ADOPTED;
        case RETURNING -> next == REFUSED;
        case ADOPTED, REFUSED -> false;
      };
    }
  }

  /** The identity of the directory. */
  @FunctionalInterface
  public interface Identity {
    /** Makes the directory a node of a cluster, durably. */
    void join(long cluster) throws IOException;
  }

  private final Disk disk;
  private final CoordinatorFile file;
  private final Identity identity;
  private final DirectoryGroups groups;
  private final long retryNs;
  private CoordinatorState stored;
  private State state = State.REACHING;
  private String obstacle = "";
  private boolean isConnected;
  private boolean isAsked;
  private long notBeforeNs = System.nanoTime();

  /**
   * Reads what the directory brings.
   *
   * @param data directory that was alone, of which this process is the owner
   * @param node of the directory
   * @param found as in {@link LocalCoordinator.Truth#continueFrom}
   * @param stopped as in {@link CoordinatorFile#checkStops}
   * @param replicas that the groups are to have
   * @throws IOException if the directory is not ready for it, with reason and remedy as its message
   */
  public Adoption(
      Path data,
      long node,
      Map<GroupState, Long> found,
      Map<Long, List<Member>> stopped,
      int replicas,
      Identity identity)
      throws IOException {
    this(
        new HostDisk(data),
        node,
        found,
        stopped,
        replicas,
        identity,
        new SecureRandom()::nextLong,
        RETRY_NS);
  }

  /** As above, on any disk, with a source of nonces. */
  Adoption(
      Disk disk,
      long node,
      Map<GroupState, Long> found,
      Map<Long, List<Member>> stopped,
      int replicas,
      Identity identity,
      LongSupplier nonces,
      long retryNs)
      throws IOException {
    this.disk = disk;
    this.identity = identity;
    this.retryNs = retryNs;
    file = new CoordinatorFile(disk);
    final CoordinatorState there = file.read();
    file.check(there, true, found.keySet());
    file.checkStops(there, stopped);
    stored = there;
    groups =
        new DirectoryGroups(
            node,
            stored.hasMove() ? stored.getMove().getNonce() : nonces.getAsLong() | 1,
            brought(found.keySet(), stopped, replicas),
            found.values().stream().reduce(stored.getEpoch(), Math::max));
  }

  /** The groups that the cluster is to have. */
  private List<GroupState> brought(
      Collection<GroupState> found, Map<Long, List<Member>> stopped, int replicas)
      throws IOException {
    final Set<Long> unread = new HashSet<>();
    found.forEach(group -> unread.add(group.getGroup()));
    final List<GroupState> brought = new ArrayList<>();
    for (final GroupState group : stored.getGroupsList()) {
      unread.remove(group.getGroup());
      if (isInMemory(group) && !stopped.containsKey(group.getGroup())) {
        LOGGER.log(
            Level.WARNING,
            "an index at level memory ended with its process, and is not taken along: index={0}",
            group.getIndex());
      } else if (!group.hasEstablished()) {
        throw new IOException(
            "the creation of an index is not finished: "
                + ONCE_ALONE
                + ": index="
                + group.getIndex());
      } else {
        brought.add(brought(group, replicas));
      }
    }
    for (final GroupState group : found) {
      if (unread.contains(group.getGroup())) {
        throw new IOException(
            "the removal of an index is not finished: "
                + ONCE_ALONE
                + ": index="
                + group.getIndex());
      }
    }
    return brought;
  }

  private static boolean isInMemory(GroupState group) {
    final IndexDefinition definition = IndexDefinition.of(group);
    return definition != null && definition.durability() == Durability.MEMORY;
  }

  /** The state with which a group goes on: nobody has a log of one of its earlier epochs. */
  private static GroupState brought(GroupState group, int replicas) {
    final GroupState.Builder brought =
        group.toBuilder().clearVersion().clearWon().clearBegins().setReplicas(replicas);
    if (group.getBeginsCount() > 0) {
      brought.addBegins(group.getBegins(group.getBeginsCount() - 1));
    }
    return brought.build();
  }

  /**
   * Has the cluster adopt the directory, and waits for it.
   *
   * @param coordinator of the cluster, in use by nobody else; the caller closes it
   * @param limitNs for the cluster to answer
   * @param check throws if the process ends
   * @throws IOException if the cluster refuses, with the reason as its message: the directory is
   *     alone again; or if it does not answer, or the disk fails: the next start goes on
   */
  public void run(Coordinator coordinator, long limitNs, Runnable check) throws IOException {
    final Thread thread = Thread.currentThread();
    coordinator.wakeUp(() -> LockSupport.unpark(thread));
    final long beginNs = System.nanoTime();
    while (state != State.ADOPTED && state != State.REFUSED) {
      if (coordinator.poll(new Contact()) == 0 && !work(coordinator)) {
        LockSupport.parkNanos(this, POLL_NS);
      }
      if (System.nanoTime() - beginNs > limitNs) {
        throw late(limitNs);
      }
      check.run();
    }
    if (state == State.REFUSED) {
      throw new IOException(obstacle + ": the directory is as before: data=" + disk);
    }
    LOGGER.log(
        Level.INFO,
        "the cluster has adopted the directory: cluster={0} indexes={1} data={2}",
        Long.toHexString(stored.getMove().getCluster()),
        groups.groups().size(),
        disk);
  }

  private IOException late(long limitNs) {
    return new IOException(
        String.format(
            "no answer of the cluster's coordinator within %d s: %s: data=%s",
            TimeUnit.NANOSECONDS.toSeconds(limitNs),
            stored.hasMove()
                ? "start again with the same options, it may have the indexes"
                : "nothing was changed",
            disk));
  }

  /** Does the next step; returns false if there is none now. */
  private boolean work(Coordinator coordinator) throws IOException {
    switch (state) {
      case REACHING -> {
        if (!isConnected) {
          return false;
        }
        move(coordinator.cluster());
        become(State.MOVING);
      }
      case MOVING, GIVING_UP -> {
        if (!isConnected || isAsked || System.nanoTime() - notBeforeNs < 0) {
          return false;
        }
        isAsked = true;
        if (state == State.MOVING) {
          coordinator.adopt(groups, this::onAnswer);
        } else {
          coordinator.giveUp(groups.node(), groups.nonce(), this::onGivenUp);
        }
      }
      case JOINING -> {
        identity.join(stored.getMove().getCluster());
        file.remove(); // afterwards: with neither, no server would start on the directory
        become(State.ADOPTED);
      }
      case RETURNING -> {
        store(stored.toBuilder().clearMove().build());
        become(State.REFUSED);
      }
      default -> throw new IllegalStateException("state=" + state);
    }
    return true;
  }

  /** Notes the move, unless that was done: no server serves the directory alone from here on. */
  private void move(long cluster) throws IOException {
    if (!stored.hasMove()) {
      final Move move = Move.newBuilder().setCluster(cluster).setNonce(groups.nonce()).build();
      store(stored.toBuilder().setMove(move).build());
    } else if (stored.getMove().getCluster() != cluster) {
      throw new IOException(
          String.format(
              "the directory moves to cluster=%016x, and the coordinator has cluster=%016x: start"
                  + " it with the --cluster of the former: data=%s",
              stored.getMove().getCluster(), cluster, disk));
    }
  }

  private void store(CoordinatorState next) throws IOException {
    file.write(next);
    stored = next;
  }

  private void onAnswer(Coordinator.Result result, String reason) {
    switch (result) {
      case DONE -> become(State.JOINING);
      case CONFLICT -> {
        obstacle = reason;
        become(State.GIVING_UP); // an earlier request may be under way, and succeed
      }
      case UNKNOWN -> repeat();
    }
  }

  private void onGivenUp(Coordinator.Result result, String reason) {
    switch (result) {
      case DONE -> become(State.RETURNING);
      case CONFLICT -> become(State.JOINING); // it was carried out
      case UNKNOWN -> repeat();
    }
  }

  private void repeat() {
    isAsked = false;
    notBeforeNs = System.nanoTime() + retryNs;
  }

  private void become(State next) {
    if (!state.mayBecome(next)) {
      throw new IllegalStateException("from " + state + " to " + next);
    }
    state = next;
    isAsked = false;
  }

  /** The listener for the connection: the groups of the cluster are of no use here. */
  private final class Contact implements Coordinator.Listener {
    @Override
    public void onGroup(GroupState group) {}

    @Override
    public void onDropped(long group) {}

    @Override
    public void onDroppedGroups(Collection<Long> newest) {}

    @Override
    public void onNodes(Collection<Node> nodes) {}

    @Override
    public void onConnected(boolean connected) {
      isConnected = connected;
    }
  }
}
