package dev.ringfetch.index.zookeeper;

import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.coordinator.DirectoryGroups;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Node;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * A coordinator on ZooKeeper, through Curator.
 *
 * <p>One znode for each group; the epoch of a won configuration is the zxid of the write that won
 * it, so epochs grow over all groups. Each change is conditional on the znode's version. {@link
 * ClusterPaths} lists the znodes; {@link Request} explains the handling of lost answers, {@link
 * ClusterView} how changes are followed.
 *
 * <p>During an outage shorter than the session's timeout, requests wait. When the session is lost,
 * waiting requests end UNKNOWN, and so do new ones until there is a connection. The node is
 * announced again in each session. {@code onConnected(true)} comes when all groups and nodes have
 * been read; the changed ones follow.
 *
 * <p>Foreign znodes, and those that cannot be parsed as a group or a node, are ignored and logged
 * once. Without a user in {@link ZooKeeperAddress#config} any client that reaches ZooKeeper can
 * change the cluster.
 *
 * <p>Curator and ZooKeeper have three threads, which only queue events; the thread that polls does
 * everything else. {@link #close} waits up to a second for ZooKeeper to end the session.
 */
public final class ZooKeeperCoordinator implements Coordinator {
  private enum Link {
    /** There was no session yet, or it was lost. */
    DOWN,
    /** The connection is lost; the session may survive. */
    SUSPENDED,
    UP
  }

  private record Ended(Answer answer, Result result, GroupState state) {}

  private static final Logger LOGGER = System.getLogger(ZooKeeperCoordinator.class.getName());

  private final ZooKeeperAddress address;
  private final ClusterPaths paths;
  private final Ensemble ensemble;
  private final ClusterView view;
  private final Announcement announcement;
  private final Request.Context requests = new Requests();

  private Link link = Link.DOWN;
  private boolean toldConnected;
  private boolean closed;

  /** Requests that continue when the view is current. */
  private List<Request> waiting = new ArrayList<>();

  private final Queue<Ended> ended = new ArrayDeque<>();

  /** Syncs that have ended: answered after the groups that they have found are delivered. */
  private final Queue<Ended> synced = new ArrayDeque<>();

  /** Groups that the listener knows. */
  private final Set<Long> told = new HashSet<>();

  /** Creates the coordinator, which begins to connect to ZooKeeper. */
  public ZooKeeperCoordinator(ZooKeeperAddress address) {
    this(address, new SecureRandom()::nextLong);
  }

  /** Same, with a source of the ids of the cluster and its groups. */
  ZooKeeperCoordinator(ZooKeeperAddress address, LongSupplier random) {
    this.address = address;
    paths = new ClusterPaths(address.cluster());
    ensemble = new Ensemble(address, new Links());
    view = new ClusterView(ensemble, paths, random);
    announcement = new Announcement(ensemble, paths, view, System::nanoTime);
  }

  @Override
  public void announce(Node self, Admission admission) {
    announcement.begin(self, admission);
    announcement.check();
  }

  @Override
  public void withdraw() {
    announcement.end();
  }

  @Override
  public void create(GroupState first, Answer answer) {
    check(first.getWon());
    if (first.getIndex().isEmpty() || first.getGroup() != 0 || first.hasEstablished()) {
      throw new IllegalArgumentException("first=" + first);
    }
    begin(new Creation(requests, answer, first.toBuilder().clearVersion().build()));
  }

  @Override
  public void win(GroupState seen, Configuration proposed, Answer answer) {
    check(proposed);
    begin(GroupChange.win(requests, answer, seen, proposed));
  }

  @Override
  public void establish(GroupState seen, Answer answer) {
    if (!seen.hasWon() || seen.getWon().getEpoch() == 0) {
      throw new IllegalArgumentException("no configuration was won: seen=" + seen);
    }
    begin(GroupChange.establish(requests, answer, seen));
  }

  @Override
  public void recover(GroupState seen, GroupState recovered, Answer answer) {
    if (recovered.hasWon() || recovered.getEstablished().getEpoch() != 0) {
      throw new IllegalArgumentException("recovered=" + recovered);
    }
    begin(GroupChange.recover(requests, answer, seen, recovered));
  }

  @Override
  public void drop(GroupState seen, Answer answer) {
    begin(GroupChange.drop(requests, answer, seen));
  }

  @Override
  public void replace(GroupState seen, GroupState first, Answer answer) {
    begin(new Creation(requests, answer, first, seen));
  }

  @Override
  public long cluster() {
    return view.cluster();
  }

  @Override
  public void adopt(DirectoryGroups groups, AdoptionAnswer answer) {
    final AdoptionChange.Obstacle obstacle = new AdoptionChange.Obstacle();
    begin(
        AdoptionChange.adopt(
            requests,
            groups,
            (result, state) -> answer.onAnswer(result, obstacle.text()),
            obstacle));
  }

  @Override
  public void giveUp(long node, long nonce, AdoptionAnswer answer) {
    begin(
        AdoptionChange.giveUp(
            requests, node, nonce, (result, state) -> answer.onAnswer(result, null)));
  }

  @Override
  public void sync(Answer answer) {
    begin(new Sync(requests, answer));
  }

  @Override
  public int poll(Listener listener) {
    if (closed) {
      return 0;
    }
    ensemble.drain();
    view.readChanged();
    announcement.check();
    int calls = deliverAnswers();
    final boolean isCurrent = view.isCurrent();
    final boolean takesPart = isCurrent && !announcement.isKeptOut();
    if (toldConnected && !takesPart) {
      toldConnected = false;
      listener.onConnected(false);
      calls++;
    }
    if (takesPart) {
      if (!toldConnected) {
        toldConnected = true;
        listener.onConnected(true);
        calls++;
      }
    }
    if (takesPart || (isCurrent && announcement.wasAnnounced())) {
      calls += deliverChanges(listener); // an excluded node ends its leadership with these
    }
    return calls + answerSyncs(takesPart);
  }

  @Override
  public void wakeUp(Runnable wakeUp) {
    ensemble.wakeUp(wakeUp);
  }

  @Override
  public void close() {
    closed = true;
    ensemble.close();
  }

  private static void check(Configuration proposed) {
    if (proposed.getNonce() == 0 || proposed.getEpoch() != 0) {
      throw new IllegalArgumentException(
          "a proposal has a nonce and no epoch: proposed=" + proposed);
    }
  }

  private void begin(Request request) {
    if (view.isCurrent()) {
      request.proceed();
    } else if (link == Link.DOWN) {
      requests.end(request, Result.UNKNOWN, null);
    } else {
      waiting.add(request);
    }
  }

  /**
   * Delivers the answers that are queued now: an answer may start a request that is answered at
   * once.
   */
  private int deliverAnswers() {
    final int count = ended.size();
    for (int i = 0; i < count; i++) {
      final Ended next = ended.remove();
      next.answer.onAnswer(next.result, next.state);
    }
    return count;
  }

  private int answerSyncs(boolean isDelivered) {
    final int count = synced.size();
    for (int i = 0; i < count; i++) {
      final Ended next = synced.remove();
      next.answer.onAnswer(isDelivered ? next.result : Result.UNKNOWN, null);
    }
    return count;
  }

  private int deliverChanges(Listener listener) {
    int calls = 0;
    final List<Long> dropped = new ArrayList<>();
    view.takeDropped(dropped::add);
    for (final long group : dropped) {
      if (told.remove(group)) {
        listener.onDropped(group);
        calls++;
      }
    }
    GroupState group;
    while ((group = view.takeChanged()) != null) {
      told.add(group.getGroup());
      listener.onGroup(group);
      calls++;
    }
    final Collection<Long> droppedLast = view.takeDroppedLast();
    if (droppedLast != null) {
      listener.onDroppedGroups(droppedLast);
      calls++;
    }
    final Collection<Node> nodes = view.takeNodes();
    if (nodes != null) {
      listener.onNodes(nodes);
      calls++;
    }
    return calls;
  }

  private void readAll() {
    view.readAll(this::onCurrent, this::onReadLost);
  }

  private void onCurrent() {
    announcement.check();
    final List<Request> requests = waiting;
    waiting = new ArrayList<>();
    requests.forEach(Request::proceed);
  }

  /** Handles the loss of an operation with the connection; Curator may report the loss later. */
  private void onReadLost() {
    if (link == Link.UP && ensemble.isConnected()) {
      readAll();
    } else {
      view.disconnect();
    }
  }

  /** The receiver of the ensemble's events. */
  private final class Links implements Ensemble.Listener {
    @Override
    public void onConnected() {
      link = Link.UP;
      LOGGER.log(Level.INFO, "connected to ZooKeeper: {0}", address);
      announcement.onConnected();
      readAll();
    }

    @Override
    public void onSuspended() {
      link = Link.SUSPENDED;
      LOGGER.log(Level.WARNING, "the connection to ZooKeeper is lost: {0}", address);
      view.disconnect();
    }

    @Override
    public void onLost() {
      link = Link.DOWN;
      LOGGER.log(Level.WARNING, "the session of ZooKeeper is lost: {0}", address);
      view.disconnect();
      final List<Request> undecided = waiting;
      waiting = new ArrayList<>();
      undecided.forEach(request -> requests.end(request, Result.UNKNOWN, null));
    }

    @Override
    public void onChanged(String path) {
      if (!view.onChanged(path)) {
        readAll();
      }
    }
  }

  private final class Requests implements Request.Context {
    @Override
    public Ensemble ensemble() {
      return ensemble;
    }

    @Override
    public ClusterPaths paths() {
      return paths;
    }

    @Override
    public ClusterView view() {
      return view;
    }

    @Override
    public void end(Request request, Result result, GroupState state) {
      (request instanceof Sync ? synced : ended).add(new Ended(request.answer(), result, state));
      ensemble.wakeUp();
    }

    @Override
    public void onLoss(Request request) {
      if (link == Link.DOWN) {
        end(request, Result.UNKNOWN, null);
        return;
      }
      waiting.add(request);
      if (view.isCurrent()) {
        onReadLost();
      }
    }
  }
}
