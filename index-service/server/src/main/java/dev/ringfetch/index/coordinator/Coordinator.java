package dev.ringfetch.index.coordinator;

import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.DroppedGroup;
import dev.ringfetch.index.v1.DroppedGroups;
import dev.ringfetch.index.v1.EpochBegin;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Node;
import java.util.Collection;
import java.util.List;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;

/**
 * The coordinator of a cluster: stores the state of each group, which changes sequentially and
 * conditionally, and knows the live nodes.
 *
 * <p>No method waits. Answers and events are delivered only within {@link #poll}, on the thread
 * that calls it. The delivered states of a group never go back; intermediate states may be skipped.
 * Used by one thread at a time; the callback of {@link #wakeUp} reports on any thread that there is
 * something to poll.
 */
public interface Coordinator extends AutoCloseable {
  /** How a request ended. */
  enum Result {
    /** The request was carried out. */
    DONE,
    /** Nothing was changed: the present state differs from the one in the request. */
    CONFLICT,
    /**
     * It is unknown whether the request was carried out; the state shows it once it can be read
     * again.
     */
    UNKNOWN
  }

  /** A receiver of the answer of a request. */
  @FunctionalInterface
  interface Answer {
    /**
     * Called at the end of the request.
     *
     * @param state of the group; null if there is no such group, or the result is UNKNOWN
     */
    void onAnswer(Result result, GroupState state);
  }

  /** A receiver of the end of an adoption, or of its end without effect. */
  @FunctionalInterface
  interface AdoptionAnswer {
    /**
     * Called at the end of the request.
     *
     * @param obstacle if the result is CONFLICT, the reason for the user; else null
     */
    void onAnswer(Result result, String obstacle);
  }

  /** The node's side of its admission to the cluster. Called within {@link #poll}, or before. */
  @FunctionalInterface
  interface Admission {
    /**
     * Called once, before the node is announced and anything else is delivered.
     *
     * @param cluster id of the cluster, drawn at random when its first node came; positive
     * @return false to refuse: the process is not announced, and nothing is delivered
     */
    default boolean onCluster(long cluster) {
      return true;
    }

    /** Called if the coordinator refuses this process, as another one is alive as its node. */
    void onTaken(Node other);
  }

  /** A receiver of changes. */
  interface Listener {
    /** Called with the newest state of a group. */
    void onGroup(GroupState state);

    /** Called when a group that the listener knows was dropped. */
    void onDropped(long group);

    /**
     * Called with the groups that were dropped last, including groups that the listener does not
     * know. Groups that are not in the list may have been dropped earlier.
     */
    void onDroppedGroups(Collection<Long> newest);

    /** Called with all nodes that are alive, or whose death the coordinator has not noticed. */
    void onNodes(Collection<Node> nodes);

    /**
     * Called when the coordinator becomes reachable or unreachable. Nothing is delivered while it
     * is unreachable; afterwards all changes of the meantime are.
     */
    void onConnected(boolean connected);
  }

  /**
   * Announces this node, until it withdraws, the coordinator is closed or the process ends.
   *
   * <p>First the node compares the cluster with the one that its data directory belongs to.
   *
   * <p>If another process {@linkplain #mayLiveBeside elsewhere} is announced as this node, this
   * process waits until that announcement is gone, and nothing is delivered meanwhile: the other
   * process may have been killed a moment ago, or one of the two runs on a copy of the node's
   * directory. If the coordinator knows that the other process is alive, it refuses this one. An
   * earlier process at the same address is replaced at once.
   */
  void announce(Node self, Admission admission);

  /** Same, to any cluster, without a receiver of the refusal. */
  default void announce(Node self) {
    announce(self, other -> {});
  }

  /**
   * Whether an announced process may be alive beside another process of the same node: two
   * processes cannot listen at one address of a host. Equal numbers prove nothing, as numbers can
   * be copied.
   */
  static boolean mayLiveBeside(Node announced, Node self) {
    return !(announced.getAddress().equals(self.getAddress())
        && announced.getBootId().equals(self.getBootId()));
  }

  /** Ends the announcement for good, if there is one; everything else continues. */
  void withdraw();

  /** Draws an id at random: 63 bits, not 0. */
  static long drawId(LongSupplier random) {
    long id;
    do {
      id = random.getAsLong() >>> 1;
    } while (id == 0);
    return id;
  }

  /**
   * Draws the id of a group: not that of a present one, nor of one that was dropped last.
   *
   * @param isPresent whether a group has the id
   */
  static long drawGroup(LongSupplier random, DroppedGroups dropped, LongPredicate isPresent) {
    long id;
    do {
      id = drawId(random);
    } while (isPresent.test(id) || ids(dropped).contains(id));
    return id;
  }

  /**
   * Creates a group with an id drawn at random, and with its first configuration as won.
   *
   * @param first without group, version and epoch. Ends with CONFLICT and its state if there is an
   *     index of that name.
   */
  void create(GroupState first, Answer answer);

  /**
   * Proposes a configuration, which replaces one that was won and not established.
   *
   * @param seen the newest state that the node knows
   * @param proposed without epoch; the answer's state has the epoch.
   */
  void win(GroupState seen, Configuration proposed, Answer answer);

  /** Number of begins of epochs that a group's state keeps. */
  int BEGINS_LIMIT = 32;

  /** Returns the state in which the won configuration of another state is established. */
  static GroupState established(GroupState seen) {
    final EpochBegin begin =
        EpochBegin.newBuilder()
            .setEpoch(seen.getWon().getEpoch())
            .setPosition(seen.getWon().getBegin())
            .build();
    final GroupState.Builder next =
        seen.toBuilder().setEstablished(seen.getWon()).clearWon().addBegins(begin);
    while (next.getBeginsCount() > BEGINS_LIMIT) {
      next.removeBegins(0);
    }
    return next.build();
  }

  /**
   * Establishes the configuration that was won in this state.
   *
   * @param seen the newest state that the node knows, with the position at which the epoch began
   */
  void establish(GroupState seen, Answer answer);

  /**
   * Establishes a configuration without members of the last one; records that only those members
   * had are lost.
   *
   * @param seen the newest state that the node knows
   * @param recovered the state with the new configuration, which has a nonce and no epoch, and
   *     without a won configuration. In the answer's state the configuration has an epoch, as if it
   *     had been won
   */
  void recover(GroupState seen, GroupState recovered, Answer answer);

  /** Number of the last dropped groups that are kept. */
  int DROPPED_LIMIT = 1024;

  /** Returns the list of dropped groups with another one added. */
  static DroppedGroups dropped(DroppedGroups before, GroupState group) {
    final DroppedGroup last = DroppedGroup.newBuilder().setGroup(group.getGroup()).build();
    final DroppedGroups.Builder next = before.toBuilder().addGroups(last);
    while (next.getGroupsCount() > DROPPED_LIMIT) {
      next.removeGroups(0);
    }
    return next.build();
  }

  /** Returns the ids of dropped groups. */
  static List<Long> ids(DroppedGroups dropped) {
    return dropped.getGroupsList().stream().map(DroppedGroup::getGroup).toList();
  }

  /** Drops a group, and adds it to the list of dropped groups. */
  void drop(GroupState seen, Answer answer);

  /**
   * Drops a group and creates another one of its name in one change, so that no other creation
   * comes between. Ends with CONFLICT if the group's state is not {@code seen}.
   *
   * @param seen the newest state that the node knows
   * @param first as in {@link #create}
   */
  void replace(GroupState seen, GroupState first, Answer answer);

  /** Id of the cluster; 0 until the coordinator was reached. */
  long cluster();

  /**
   * Adopts the groups of a directory that was alone, in one change that is made once: creates them,
   * and notes the nonce of the adoption. Later epochs are greater than those of the directory.
   *
   * @param answer DONE if that is so, perhaps since earlier; CONFLICT if there is an index of one
   *     of the names, the epochs would not grow, or the directory was adopted with another nonce
   */
  void adopt(DirectoryGroups groups, AdoptionAnswer answer);

  /**
   * Gives an adoption up: requests for it that arrive later have no effect.
   *
   * @param node of the directory
   * @param nonce of the adoption
   * @param answer CONFLICT if it was carried out
   */
  void giveUp(long node, long nonce, AdoptionAnswer answer);

  /**
   * Catches up with the coordinator: each change of a group before this call is delivered before
   * the answer, which is DONE. The answer is UNKNOWN if the coordinator is not reachable.
   *
   * @param answer receives no state
   */
  void sync(Answer answer);

  /**
   * Delivers answers and changes.
   *
   * @return number of calls of the listener and of answers
   */
  int poll(Listener listener);

  /**
   * Sets the callback that runs, on any thread, when there may be something to poll. Called once,
   * before all else.
   */
  void wakeUp(Runnable wakeUp);

  /** Ends the announcement. Requests under way end UNKNOWN, or with no answer. */
  @Override
  void close();
}
