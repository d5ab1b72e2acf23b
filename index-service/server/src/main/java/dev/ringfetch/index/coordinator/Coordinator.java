package dev.ringfetch.index.coordinator;

import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.DroppedGroup;
import dev.ringfetch.index.v1.DroppedGroups;
import dev.ringfetch.index.v1.EpochBegin;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Node;
import java.util.Collection;
import java.util.function.Consumer;

/**
 * The keeper of the truth in a cluster: the state of each group, which changes one after the other
 * and conditionally, and the nodes that live.
 *
 * <p>No method waits. Answers and events are delivered within {@link #poll}, by the thread that
 * calls it, and by no other. What is delivered of one group never goes back; states between two may
 * be left out. Used by one thread at a time; {@link #wakeUp} tells on any thread that there is
 * something to poll.
 */
public interface Coordinator extends AutoCloseable {
  /** How a request ended. */
  enum Result {
    /** It was done. */
    DONE,
    /** Nothing was done: the state is another one than the request says. */
    CONFLICT,
    /** Whether it was done is unknown; the state, once it can be read again, says so. */
    UNKNOWN
  }

  /** Takes the answer of a request. */
  @FunctionalInterface
  interface Answer {
    /**
     * The request has ended.
     *
     * @param state of the group; null if there is no such group, or the result is UNKNOWN
     */
    void onAnswer(Result result, GroupState state);
  }

  /** Takes what has changed. */
  interface Listener {
    /** The newest state of a group. */
    void onGroup(GroupState state);

    /** A group was dropped that the listener was told of. */
    void onDropped(long group);

    /**
     * The groups that were dropped last, also those that the listener was never told of. What is
     * not here may have been dropped before.
     */
    void onDroppedGroups(Collection<DroppedGroup> newest);

    /** All nodes that live, or whose death the coordinator has not noticed. */
    void onNodes(Collection<Node> nodes);

    /**
     * Whether the coordinator can be reached. While it cannot, nothing is delivered; when it can
     * again, all that has changed meanwhile is.
     */
    void onConnected(boolean connected);
  }

  /**
   * Announces this node, until it withdraws, the coordinator is closed or the process ends.
   *
   * <p>Where another process {@linkplain #mayLiveBeside elsewhere} is announced as this node, this
   * one waits until that announcement is gone, and nothing is delivered meanwhile: the process may
   * have been killed a moment ago, or runs on a copy of the node's directory, or this one does. A
   * coordinator that can tell that it lives refuses this one. An earlier process at the same
   * address is replaced at once.
   *
   * @param taken is told, within {@link #poll}, of the other process if this one is refused;
   *     nothing is delivered then
   */
  void announce(Node self, Consumer<Node> taken);

  /** As above, of a node whose refusal nobody waits for. */
  default void announce(Node self) {
    announce(self, other -> {});
  }

  /**
   * Whether a process that is announced may live beside another one of the same node: no two listen
   * at one address of a host. That both have equal numbers says nothing, as numbers can be copied.
   */
  static boolean mayLiveBeside(Node announced, Node self) {
    return !(announced.getAddress().equals(self.getAddress())
        && announced.getBootId().equals(self.getBootId()));
  }

  /** Ends the announcement for good, if there is one; all else goes on. */
  void withdraw();

  /**
   * Creates a group, with its first configuration as won.
   *
   * @param first without group, version and epoch. CONFLICT if there is an index of that name, with
   *     its state.
   */
  void create(GroupState first, Answer answer);

  /**
   * Proposes a configuration, which replaces one that was won and not established.
   *
   * @param seen the newest state that the node knows
   * @param proposed without epoch. In the answer's state it has one.
   */
  void win(GroupState seen, Configuration proposed, Answer answer);

  /** Begins of epochs that a group's state keeps. */
  int BEGINS_LIMIT = 32;

  /** Returns the state in which the configuration is established that was won in another. */
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
   * Establishes a configuration though none of the last one's members has a part in it: what they
   * alone had is lost.
   *
   * @param seen the newest state that the node knows
   * @param recovered the state with that configuration, which has a nonce and no epoch, and nothing
   *     that was won. In the answer's state it has one, as if it had been won
   */
  void recover(GroupState seen, GroupState recovered, Answer answer);

  /** Groups that were dropped last and are kept. */
  int DROPPED_LIMIT = 1024;

  /** Returns the groups that were dropped last, once another one is. */
  static DroppedGroups dropped(DroppedGroups before, GroupState group) {
    final DroppedGroup last =
        DroppedGroup.newBuilder()
            .setGroup(group.getGroup())
            .setDefinition(group.getDefinition())
            .build();
    final DroppedGroups.Builder next = before.toBuilder().addGroups(last);
    while (next.getGroupsCount() > DROPPED_LIMIT) {
      next.removeGroups(0);
    }
    return next.build();
  }

  /** Drops a group, which is one of those that were dropped last then. */
  void drop(GroupState seen, Answer answer);

  /**
   * Drops a group and creates another one of its name, in one change: nobody else can create one
   * between.
   *
   * @param seen the newest state that the node knows
   * @param first as of {@link #create}. CONFLICT if the group is not in the state that was seen
   */
  void replace(GroupState seen, GroupState first, Answer answer);

  /**
   * Catches up with what the coordinator has: each change of a group that was made before this call
   * is delivered before the answer, which is DONE. It is UNKNOWN where the coordinator is not
   * reached.
   *
   * @param answer gets no state
   */
  void sync(Answer answer);

  /**
   * Delivers what there is.
   *
   * @return number of calls of the listener and of answers
   */
  int poll(Listener listener);

  /** Sets what is run, on any thread, when there may be something to poll. Once, at first. */
  void wakeUp(Runnable wakeUp);

  /** Ends the announcement. Requests under way end UNKNOWN, or with no answer. */
  @Override
  void close();
}
