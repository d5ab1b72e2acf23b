package dev.ringfetch.index.zookeeper;

import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.DroppedGroup;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Node;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.function.Consumer;

/**
 * A coordinator on ZooKeeper, through Curator.
 *
 * <p>One znode for each group; the epoch of a won configuration is the zxid of the write that won
 * it, so epochs grow over all groups. Each change is conditional on the znode's version. {@link
 * ClusterPaths} has the znodes; {@link Request} what becomes of changes whose answer is lost;
 * {@link ClusterView} how changes are followed.
 *
 * <p>While the connection is away, for less than the session's timeout, requests wait. When the
 * session is lost, those that wait end UNKNOWN, and so do new ones until there is a connection. The
 * node is announced again in each session. {@code onConnected(true)} comes when all groups and
 * nodes have been read, and is followed by what has changed.
 *
 * <p>Znodes of others, and those that cannot be read as a group or a node, are ignored, and logged
 * once. Without {@link ZooKeeperAddress#credentials} any client that reaches ZooKeeper can change
 * the cluster.
 *
 * <p>Curator and ZooKeeper have three threads, which only queue what comes; all else is done by the
 * thread that polls. {@link #close} waits up to a second for ZooKeeper to end the session.
 */
public final class ZooKeeperCoordinator implements Coordinator {
  private enum Link {
    /** There was none yet, or the session was lost. */
    DOWN,
    /** The session may go on. */
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

  /** Requests that go on when the view is current. */
  private List<Request> waiting = new ArrayList<>();

  private final Queue<Ended> ended = new ArrayDeque<>();

  /** Syncs that have ended: answered when what they have found is delivered. */
  private final Queue<Ended> synced = new ArrayDeque<>();

  /** Groups that the listener was told of. */
  private final Set<Long> told = new HashSet<>();

  /** Begins to connect to ZooKeeper. */
  public ZooKeeperCoordinator(ZooKeeperAddress address) {
    this.address = address;
    paths = new ClusterPaths(address.cluster());
    ensemble = new Ensemble(address, new Links());
    view = new ClusterView(ensemble, paths);
    announcement = new Announcement(ensemble, paths, view, System::nanoTime);
  }

  @Override
  public void announce(Node self, Consumer<Node> taken) {
    announcement.begin(self, taken);
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
      calls += deliverChanges(listener); // with which one that is kept out ends what it leads
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

  /** Those that there are: an answer may lead to a request that is answered at once. */
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
    final Collection<DroppedGroup> droppedLast = view.takeDroppedLast();
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

  /** An operation was lost with the connection, of which Curator may tell later. */
  private void onReadLost() {
    if (link == Link.UP && ensemble.isConnected()) {
      readAll();
    } else {
      view.disconnect();
    }
  }

  /** What Curator and ZooKeeper tell. */
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
