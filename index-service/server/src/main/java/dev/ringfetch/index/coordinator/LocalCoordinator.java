package dev.ringfetch.index.coordinator;

import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.DroppedGroups;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Node;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A coordinator in memory, for clusters within one process: tests, and applications that need no
 * other node. All coordinators of one {@link Truth} belong to one cluster, which ends with the
 * process.
 */
public final class LocalCoordinator implements Coordinator {
  /** The common state of the coordinators of one cluster. Thread-safe. */
  public static final class Truth {
    private final Map<Long, GroupState> groups = new TreeMap<>();
    private final Map<Long, Node> nodes = new TreeMap<>();
    private final Set<LocalCoordinator> connected = new HashSet<>();
    private final LongSupplier random;
    private final long cluster;
    private DroppedGroups dropped = DroppedGroups.getDefaultInstance();
    private long lastEpoch;

    /** Creates a cluster without nodes and groups. */
    public Truth() {
      this(new SecureRandom()::nextLong);
    }

    /** Same, with a source of the ids of the cluster and its groups. */
    Truth(LongSupplier random) {
      this.random = random;
      cluster = Coordinator.drawId(random, id -> false);
    }

    /** Connects a node. */
    public LocalCoordinator connect() {
      final LocalCoordinator coordinator = new LocalCoordinator(this);
      synchronized (this) {
        connected.add(coordinator);
      }
      return coordinator;
    }

    private GroupState ofIndex(String index) {
      for (final GroupState state : groups.values()) {
        if (state.getIndex().equals(index)) {
          return state;
        }
      }
      return null;
    }

    private GroupState create(GroupState first) {
      final long id =
          Coordinator.drawId(
              random,
              drawn -> groups.containsKey(drawn) || Coordinator.ids(dropped).contains(drawn));
      return put(first.toBuilder().setGroup(id).setVersion(0));
    }

    private void drop(GroupState group) {
      groups.remove(group.getGroup());
      dropped = Coordinator.dropped(dropped, group);
    }

    /** Stores a state, with an epoch for its won or recovered configuration. */
    private GroupState put(GroupState.Builder state) {
      if (state.hasWon() && state.getWon().getEpoch() == 0) {
        state.getWonBuilder().setEpoch(++lastEpoch);
      } else if (state.hasEstablished() && state.getEstablished().getEpoch() == 0) {
        state.getEstablishedBuilder().setEpoch(++lastEpoch);
      }
      final GroupState changed = state.build();
      groups.put(changed.getGroup(), changed);
      return changed;
    }

    private void tellAll() {
      connected.forEach(each -> each.wakeUp.run());
    }
  }

  /** A change of a group; its result is null to drop the group. */
  @FunctionalInterface
  private interface Change {
    GroupState.Builder of(GroupState.Builder seen);
  }

  private record Ended(Answer answer, Result result, GroupState state) {}

  private final Truth truth;
  private final Queue<Ended> ended = new ArrayDeque<>();
  private final Queue<Answer> syncs = new ArrayDeque<>();
  private final Map<Long, Integer> toldVersions = new HashMap<>();
  private DroppedGroups toldDropped = DroppedGroups.getDefaultInstance();
  private Map<Long, Node> toldNodes = Map.of();
  private Node self;
  private boolean refused;
  private @Nullable Runnable refusal; // until it has been called
  private boolean reachable = true;
  private boolean toldReachable;
  private volatile Runnable wakeUp = () -> {};

  private LocalCoordinator(Truth truth) {
    this.truth = truth;
  }

  /**
   * Makes the coordinator unreachable for this node, or reachable again: requests meanwhile end
   * UNKNOWN, and nothing is delivered. The node stays announced.
   */
  public void reachable(boolean reachable) {
    synchronized (truth) {
      this.reachable = reachable;
      wakeUp.run();
    }
  }

  /** Removes the announcement, as if the node had been silent for too long; not for good. */
  public void expire() {
    synchronized (truth) {
      if (self != null && self.equals(truth.nodes.get(self.getId()))) {
        truth.nodes.remove(self.getId());
        truth.tellAll();
      }
    }
  }

  /**
   * Announces the node. Refuses this process at once if another one is alive, as an announcement
   * ends with its process.
   */
  @Override
  public void announce(Node self, Admission admission) {
    if (this.self != null || self.getId() == 0 || self.getIncarnation() == 0) {
      throw new IllegalArgumentException("node=" + self + " announced=" + this.self);
    }
    refused = !admission.onCluster(truth.cluster);
    if (refused) {
      wakeUp.run();
      return;
    }
    synchronized (truth) {
      final Node there = truth.nodes.get(self.getId());
      if (there != null && Coordinator.mayLiveBeside(there, self)) {
        refused = true;
        refusal = () -> admission.onTaken(there);
        wakeUp.run();
        return;
      }
      this.self = self;
      truth.nodes.put(self.getId(), self);
      truth.tellAll();
    }
  }

  @Override
  public void withdraw() {
    synchronized (truth) {
      expire();
      self = null;
    }
  }

  @Override
  public void create(GroupState first, Answer answer) {
    check(first.getWon());
    if (first.getIndex().isEmpty() || first.getGroup() != 0 || first.hasEstablished()) {
      throw new IllegalArgumentException("first=" + first);
    }
    synchronized (truth) {
      final GroupState there = truth.ofIndex(first.getIndex());
      if (!reachable) {
        end(answer, Result.UNKNOWN, null);
      } else if (there != null) {
        final boolean same = first.getWon().getNonce() == there.getWon().getNonce();
        end(answer, same ? Result.DONE : Result.CONFLICT, there);
      } else {
        end(answer, Result.DONE, truth.create(first));
        truth.tellAll();
      }
    }
  }

  @Override
  public void win(GroupState seen, Configuration proposed, Answer answer) {
    check(proposed);
    change(seen, proposed, answer, state -> state.setWon(proposed));
  }

  @Override
  public void establish(GroupState seen, Answer answer) {
    if (!seen.hasWon() || seen.getWon().getEpoch() == 0) {
      throw new IllegalArgumentException("no configuration was won: seen=" + seen);
    }
    change(seen, seen.getWon(), answer, state -> Coordinator.established(seen).toBuilder());
  }

  @Override
  public void recover(GroupState seen, GroupState recovered, Answer answer) {
    if (recovered.hasWon() || recovered.getEstablished().getEpoch() != 0) {
      throw new IllegalArgumentException("recovered=" + recovered);
    }
    change(seen, recovered.getEstablished(), answer, state -> recovered.toBuilder());
  }

  @Override
  public void drop(GroupState seen, Answer answer) {
    change(seen, null, answer, state -> null);
  }

  @Override
  public void replace(GroupState seen, GroupState first, Answer answer) {
    check(first.getWon());
    if (!first.getIndex().equals(seen.getIndex()) || first.getGroup() != 0) {
      throw new IllegalArgumentException("first=" + first);
    }
    synchronized (truth) {
      final GroupState now = truth.groups.get(seen.getGroup());
      if (!reachable) {
        end(answer, Result.UNKNOWN, null);
      } else if (now == null || now.getVersion() != seen.getVersion()) {
        final GroupState there = truth.ofIndex(seen.getIndex());
        final boolean isOurs = there != null && isIn(there, first.getWon());
        end(answer, isOurs ? Result.DONE : Result.CONFLICT, there);
      } else {
        truth.drop(now);
        end(answer, Result.DONE, truth.create(first));
        truth.tellAll();
      }
    }
  }

  private static void check(Configuration proposed) {
    if (proposed.getNonce() == 0 || proposed.getEpoch() != 0) {
      throw new IllegalArgumentException(
          "a proposal has a nonce and no epoch: proposed=" + proposed);
    }
  }

  private void change(GroupState seen, Configuration ours, Answer answer, Change change) {
    synchronized (truth) {
      final GroupState now = truth.groups.get(seen.getGroup());
      if (!reachable) {
        end(answer, Result.UNKNOWN, null);
      } else if (now == null || now.getVersion() != seen.getVersion()) {
        end(answer, now != null && isIn(now, ours) ? Result.DONE : Result.CONFLICT, now);
      } else {
        final GroupState.Builder changed = change.of(now.toBuilder());
        if (changed == null) {
          truth.drop(now);
          end(answer, Result.DONE, null);
        } else {
          end(answer, Result.DONE, truth.put(changed.setVersion(now.getVersion() + 1)));
        }
        truth.tellAll();
      }
    }
  }

  private static boolean isIn(GroupState now, Configuration ours) {
    if (ours == null) {
      return false;
    }
    final boolean established = ours.getEpoch() != 0;
    return now.getEstablished().getNonce() == ours.getNonce()
        || (!established && now.getWon().getNonce() == ours.getNonce());
  }

  private void end(Answer answer, Result result, GroupState state) {
    ended.add(new Ended(answer, result, state));
    wakeUp.run();
  }

  @Override
  public void sync(Answer answer) {
    syncs.add(answer);
    wakeUp.run();
  }

  @Override
  public int poll(Listener listener) {
    final int synced = syncs.size(); // later ones see a later state
    final boolean connected;
    final Collection<GroupState> groups;
    final DroppedGroups dropped;
    final Map<Long, Node> nodes;
    synchronized (truth) {
      if (!truth.connected.contains(this)) {
        return 0; // closed
      }
      connected = reachable && !refused;
      groups = List.copyOf(truth.groups.values());
      dropped = truth.dropped;
      if (connected && self != null) {
        truth.nodes.putIfAbsent(self.getId(), self);
      }
      nodes = Map.copyOf(truth.nodes);
    }
    int calls = ended.size();
    for (int i = ended.size(); i > 0; i--) {
      final Ended next = ended.remove();
      next.answer.onAnswer(next.result, next.state);
    }
    if (connected != toldReachable) {
      toldReachable = connected;
      listener.onConnected(connected);
      calls++;
    }
    if (refusal != null) {
      refusal.run();
      refusal = null;
    }
    if (connected) {
      calls += deliver(groups, listener);
      calls += deliver(dropped, nodes, listener);
    }
    for (int i = 0; i < synced; i++) {
      syncs.remove().onAnswer(connected ? Result.DONE : Result.UNKNOWN, null);
    }
    return calls + synced;
  }

  private int deliver(Collection<GroupState> groups, Listener listener) {
    int calls = 0;
    final Set<Long> gone = new HashSet<>(toldVersions.keySet());
    groups.forEach(group -> gone.remove(group.getGroup()));
    for (final long group : gone) {
      toldVersions.remove(group);
      listener.onDropped(group);
      calls++;
    }
    for (final GroupState group : groups) {
      final Integer told = toldVersions.put(group.getGroup(), group.getVersion());
      if (told == null || told != group.getVersion()) {
        listener.onGroup(group);
        calls++;
      }
    }
    return calls;
  }

  private int deliver(DroppedGroups dropped, Map<Long, Node> nodes, Listener listener) {
    int calls = 0;
    if (!dropped.equals(toldDropped)) {
      toldDropped = dropped;
      listener.onDroppedGroups(Coordinator.ids(dropped));
      calls++;
    }
    if (!nodes.equals(toldNodes)) {
      toldNodes = nodes;
      listener.onNodes(nodes.values());
      calls++;
    }
    return calls;
  }

  @Override
  public void wakeUp(Runnable wakeUp) {
    this.wakeUp = wakeUp;
    wakeUp.run();
  }

  @Override
  public void close() {
    synchronized (truth) {
      truth.connected.remove(this);
      expire();
    }
  }
}
