package dev.ringfetch.index.coordinator;

import dev.ringfetch.index.disk.Disk;
import dev.ringfetch.index.disk.HostDisk;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.CoordinatorState;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Member;
import dev.ringfetch.index.v1.Node;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A coordinator of the nodes of one process: of one node without ZooKeeper, or of several in tests.
 * All coordinators of one {@link Truth} belong to one cluster, which is in a file or ends with the
 * process.
 *
 * <p>Changes are stored within {@link #poll}, those of one step at once, and answered afterwards.
 * If the disk fails, the changes since the last poll are undone, and end UNKNOWN, unless the only
 * node can do without them: see {@link CoordinatorFile#needs}.
 */
public final class LocalCoordinator implements Coordinator {
  private static final Logger LOGGER = System.getLogger(LocalCoordinator.class.getName());

  /** The common state of the coordinators of one cluster. Thread-safe. */
  public static final class Truth {
    private final long cluster;
    private final @Nullable CoordinatorFile file; // null: in memory alone
    private final boolean hadFile; // though it may be gone
    private final Map<Long, Node> nodes = new TreeMap<>();
    private final Set<LocalCoordinator> connected = new HashSet<>();
    private final LocalGroups groups; // with the changes that are not stored yet
    private @Nullable CoordinatorState stored; // null: the file is missing
    private boolean isFailing;

    /** Creates a cluster without nodes and groups, in memory. */
    public Truth() {
      this(new SecureRandom()::nextLong);
    }

    /** Same, with a source of the ids of the cluster and its groups. */
    Truth(LongSupplier random) {
      file = null;
      hadFile = false;
      stored = created(Coordinator.drawId(random));
      groups = new LocalGroups(random, stored);
      cluster = stored.getCluster();
    }

    private Truth(CoordinatorFile file, long node, boolean hadFile, LongSupplier random)
        throws IOException {
      this.file = file;
      this.hadFile = hadFile;
      stored = file.read();
      groups = new LocalGroups(random, stored == null ? created(node) : stored);
      cluster = groups.state().getCluster();
    }

    /**
     * Continues the cluster that the data directory of its only node has. A new one has the number
     * of the node, so that a directory that has lost the file differs from one of a larger cluster.
     *
     * @param data the directory, of which this process is the owner
     * @param node of the directory
     * @param cluster of which the directory is a node; 0 for none yet
     * @throws IOException if the file is damaged, or the directory is of a larger cluster, or the
     *     disk fails, with the reason as its message
     */
    public static Truth open(Path data, long node, long cluster) throws IOException {
      return open(new HostDisk(data), node, cluster, new SecureRandom()::nextLong);
    }

    /** Same, on any disk, with a source of the ids of groups. */
    static Truth open(Disk disk, long node, long cluster, LongSupplier random) throws IOException {
      final Truth truth = new Truth(new CoordinatorFile(disk), node, cluster == node, random);
      if (cluster != 0 && cluster != node && truth.stored == null) {
        throw new IOException(
            String.format(
                "the data directory is a node of cluster=%016x: start it with the --cluster of that:"
                    + " data=%s",
                cluster, disk));
      }
      return truth;
    }

    private static CoordinatorState created(long cluster) {
      return CoordinatorState.newBuilder().setCluster(cluster).build();
    }

    /**
     * Continues from what the only node's directory has; before the node goes on.
     *
     * @param node of the directory
     * @param found groups on its disk, and the newest epochs that they have there: the file need
     *     not have those
     * @param stopped as in {@link CoordinatorFile#checkStops}
     * @param isCopied whether the directory is a copy: the original may have gone on, so its groups
     *     go on as after an accepted loss
     * @throws IOException if the file is not that of these groups, or cannot be stored, with the
     *     reason as its message
     */
    public synchronized void continueFrom(
        long node, Map<GroupState, Long> found, Map<Long, List<Member>> stopped, boolean isCopied)
        throws IOException {
      if (!isCopied) {
        file.check(stored, hadFile, found.keySet());
        file.checkStops(stored, stopped);
        checkStays();
      }
      groups.continueFrom(found);
      if (isCopied) {
        groups.continueCopy(node, found.keySet());
      }
      if (isCopied || stored == null) {
        file.write(groups.state());
        stored = groups.state();
      }
    }

    private void checkStays() throws IOException {
      if (stored != null && stored.hasMove()) {
        throw new IOException(
            String.format(
                "the data directory moves to cluster=%016x, which may have its indexes: start it"
                    + " with the --cluster of that, and --adopt",
                stored.getMove().getCluster()));
      }
    }

    /** Connects a node. */
    public LocalCoordinator connect() {
      final LocalCoordinator coordinator = new LocalCoordinator(this);
      synchronized (this) {
        connected.add(coordinator);
      }
      return coordinator;
    }

    /** Stores the changes; if the disk fails, undoes those that are needed. */
    private void store() {
      final CoordinatorState state = groups.state();
      if (state.equals(stored)) {
        return;
      }
      try {
        if (file != null) {
          file.write(state);
        }
        stored = state;
        isFailing = false;
      } catch (IOException e) {
        if (stored != null && !CoordinatorFile.needs(stored, state)) { // as on a full disk
          LOGGER.log(Level.DEBUG, "the epochs of this process are not stored", e);
          stored = state;
          return;
        }
        if (!isFailing) { // it is tried again, and again
          LOGGER.log(Level.ERROR, "the cluster cannot change: " + e.getMessage(), e);
        }
        isFailing = true;
        groups.goBack(stored == null ? created(cluster) : stored);
        connected.forEach(LocalCoordinator::undo);
      }
    }

    /**
     * Stores what the only node did without, before it ends in order: what it leaves of indexes in
     * memory is of its last configuration.
     *
     * @param errors is told if that fails: the next start takes them for those of an earlier
     *     process
     */
    public synchronized void flush(Consumer<IOException> errors) {
      try {
        file.write(stored);
      } catch (IOException e) {
        errors.accept(new IOException("indexes at level memory: " + e.getMessage(), e));
      }
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

  private record Ended(Answer answer, Result result, @Nullable GroupState state) {}

  private final Truth truth;
  private final List<Ended> ended = new ArrayList<>(); // under the truth's lock
  private final Queue<Answer> syncs = new ArrayDeque<>();
  private final Deliveries deliveries = new Deliveries();
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
      final GroupState there = truth.groups.ofIndex(first.getIndex());
      if (!reachable) {
        end(answer, Result.UNKNOWN, null);
      } else if (there != null) {
        final boolean same = first.getWon().getNonce() == there.getWon().getNonce();
        end(answer, same ? Result.DONE : Result.CONFLICT, there);
      } else {
        end(answer, Result.DONE, truth.groups.create(first));
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
      final GroupState now = truth.groups.find(seen.getGroup());
      if (!reachable) {
        end(answer, Result.UNKNOWN, null);
      } else if (now == null || now.getVersion() != seen.getVersion()) {
        final GroupState there = truth.groups.ofIndex(seen.getIndex());
        final boolean isOurs = there != null && isIn(there, first.getWon());
        end(answer, isOurs ? Result.DONE : Result.CONFLICT, there);
      } else {
        truth.groups.drop(now);
        end(answer, Result.DONE, truth.groups.create(first));
        truth.tellAll();
      }
    }
  }

  @Override
  public long cluster() {
    return truth.cluster;
  }

  @Override
  public void adopt(DirectoryGroups groups, AdoptionAnswer answer) {
    synchronized (truth) {
      final String obstacle = reachable ? truth.groups.adopt(groups) : null;
      end(obstacle == null, obstacle, answer);
    }
  }

  @Override
  public void giveUp(long node, long nonce, AdoptionAnswer answer) {
    synchronized (truth) {
      end(!reachable || truth.groups.giveUp(node, nonce), null, answer);
    }
  }

  private void end(boolean isDone, @Nullable String obstacle, AdoptionAnswer told) {
    final Answer answer =
        (result, state) -> told.onAnswer(result, result == Result.CONFLICT ? obstacle : null);
    end(answer, !reachable ? Result.UNKNOWN : isDone ? Result.DONE : Result.CONFLICT, null);
    truth.tellAll();
  }

  private static void check(Configuration proposed) {
    if (proposed.getNonce() == 0 || proposed.getEpoch() != 0) {
      throw new IllegalArgumentException(
          "a proposal has a nonce and no epoch: proposed=" + proposed);
    }
  }

  private void change(GroupState seen, Configuration ours, Answer answer, Change change) {
    synchronized (truth) {
      final GroupState now = truth.groups.find(seen.getGroup());
      if (!reachable) {
        end(answer, Result.UNKNOWN, null);
      } else if (now == null || now.getVersion() != seen.getVersion()) {
        end(answer, now != null && isIn(now, ours) ? Result.DONE : Result.CONFLICT, now);
      } else {
        final GroupState.Builder changed = change.of(now.toBuilder());
        if (changed == null) {
          truth.groups.drop(now);
          end(answer, Result.DONE, null);
        } else {
          end(answer, Result.DONE, truth.groups.put(changed.setVersion(now.getVersion() + 1)));
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

  /** Has the requests since the last poll end UNKNOWN: they may be undone. */
  private void undo() {
    ended.replaceAll(each -> new Ended(each.answer, Result.UNKNOWN, null));
  }

  private void end(Answer answer, Result result, @Nullable GroupState state) {
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
    final CoordinatorState stored;
    final List<Ended> answers;
    final Map<Long, Node> nodes;
    synchronized (truth) {
      if (!truth.connected.contains(this)) {
        return 0; // closed
      }
      truth.store();
      stored = truth.stored;
      answers = List.copyOf(ended);
      ended.clear();
      connected = reachable && !refused;
      if (connected && self != null) {
        truth.nodes.putIfAbsent(self.getId(), self);
      }
      nodes = Map.copyOf(truth.nodes);
    }
    int calls = answers.size();
    answers.forEach(each -> each.answer.onAnswer(each.result, each.state));
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
      calls += deliveries.deliver(stored.getGroupsList(), listener);
      calls += deliveries.deliver(stored.getDropped(), nodes, listener);
    }
    for (int i = 0; i < synced; i++) {
      syncs.remove().onAnswer(connected ? Result.DONE : Result.UNKNOWN, null);
    }
    return calls + synced;
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
