package dev.ringfetch.index.zookeeper;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.direct.NodeAddress;
import dev.ringfetch.index.v1.DroppedGroups;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Node;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.apache.curator.framework.api.CuratorEvent;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;

/**
 * A copy of a cluster's groups and nodes that follows ZooKeeper.
 *
 * <p>One persistent recursive watch reports each change below the cluster's path; the copy then
 * reads the changed znode. Such a watch misses changes while there is no connection
 * (ZOOKEEPER-1416: unlike a watch for one event, it is set again without a comparison of versions).
 * So {@link #readAll} sets it anew after each connection and then reads all znodes; the copy is not
 * current until that is complete. CuratorCache is similar, but does not report when the copy is
 * current, cannot wait for one path, and is in a jar of its own.
 *
 * <p>The state of a group never goes back: versions are compared. A {@code sync} before the read of
 * all znodes makes a lagging server catch up, as a new session may begin at one.
 */
final class ClusterView {
  private static final Logger LOGGER = System.getLogger(ClusterView.class.getName());
  private static final int COMPLAINTS_MAX = 1000;

  /** A node's znode. */
  record Announced(Node node, long session, int version) {}

  private final Ensemble ensemble;
  private final ClusterPaths paths;

  private final Map<Long, GroupState> groups = new HashMap<>();
  private final Map<Long, Announced> nodes = new HashMap<>();
  private final Set<String> changedPaths = new HashSet<>();
  private final Set<String> complaints = new HashSet<>();

  /** Ids of groups that changed or are gone, and that the listener has not received yet. */
  private final Set<Long> changed = new HashSet<>();

  private final Set<Long> dropped = new HashSet<>();
  private DroppedGroups droppedLast = DroppedGroups.getDefaultInstance();
  private boolean droppedLastChanged;
  private boolean nodesChanged;

  /** Number of the last {@link #readAll}; results of earlier ones are ignored. */
  private int round;

  private int outstanding;
  private boolean connected;
  private boolean current;
  private Runnable whenCurrent = () -> {};
  private Runnable whenLost = () -> {};

  private final LongSupplier random;
  private long cluster; // 0 until it is known

  /** Zxid of the last creation of a group that this process has seen. */
  private long lastCreation;

  ClusterView(Ensemble ensemble, ClusterPaths paths, LongSupplier random) {
    this.ensemble = ensemble;
    this.paths = paths;
    this.random = random;
  }

  /** Id of the cluster; 0 before the first connection. */
  long cluster() {
    return cluster;
  }

  /** Draws the id of a group. */
  long drawGroup(DroppedGroups dropped) {
    return Coordinator.drawGroup(random, dropped, groups::containsKey);
  }

  /** Whether all has been read since the connection began. */
  boolean isCurrent() {
    return current;
  }

  /** Marks the copy as not current: there is no connection. */
  void disconnect() {
    round++;
    connected = false;
    current = false;
  }

  /**
   * Reads all.
   *
   * @param whenCurrent run when the copy is current
   * @param whenLost run instead if the connection is lost before
   */
  void readAll(Runnable whenCurrent, Runnable whenLost) {
    round++;
    outstanding = 0;
    connected = true;
    current = false;
    this.whenCurrent = whenCurrent;
    this.whenLost = whenLost;
    changedPaths.clear();
    final byte[] first = ClusterPaths.content(Coordinator.drawId(random));
    for (final String path : paths.permanent()) {
      ensemble.create(
          path,
          path.equals(paths.groups()) ? first : new byte[0],
          inRound(
              (code, event) -> {
                if (code != Code.OK && code != Code.NODEEXISTS) {
                  fail(path, code);
                }
              }));
    }
    ensemble.watch(paths.cluster(), inRound((code, event) -> expectOk(paths.cluster(), code)));
    ensemble.sync(paths.cluster(), inRound((code, event) -> expectOk(paths.cluster(), code)));
    ensemble.read(
        paths.groups(),
        inRound(
            (code, event) -> {
              if (code != Code.OK) {
                fail(paths.groups(), code);
              } else {
                checkCluster(ClusterPaths.id(event.getData()), event.getStat().getMzxid());
              }
            }));
    read(paths.dropped());
    readAllBelow(paths.groups(), groups.keySet(), paths::group);
    readAllBelow(paths.nodes(), nodes.keySet(), paths::node);
  }

  /**
   * Checks that this ensemble has the known cluster, and each creation that was seen. If the
   * ensemble is another one, or has lost its data, all of its data is ignored: otherwise the node
   * would give up every group that the ensemble lacks.
   *
   * @param creation zxid of the last creation
   */
  private void checkCluster(long found, long creation) {
    if (found <= 0 || (cluster != 0 && found != cluster) || creation < lastCreation) {
      disconnect();
      LOGGER.log(
          Level.ERROR,
          "ZooKeeper has lost groups of {0}, or is another one: cluster={1} known={2} creation={3}"
              + " seen={4}; what is served goes on, and no configuration changes",
          paths.cluster(),
          Long.toHexString(found),
          Long.toHexString(cluster),
          Long.toHexString(creation),
          Long.toHexString(lastCreation));
    } else {
      cluster = found;
      lastCreation = creation;
    }
  }

  /**
   * Notes a change at the path; an empty path means that any node may have changed. Returns false
   * if all znodes must be read again.
   */
  boolean onChanged(String path) {
    if (path.isEmpty()) {
      return false;
    }
    if (paths.groupAt(path) != 0 || paths.nodeAt(path) != 0 || path.equals(paths.dropped())) {
      changedPaths.add(path);
    } else if (path.startsWith(paths.groups() + '/') || path.startsWith(paths.nodes() + '/')) {
      complain(path, "its name is not that of a group or a node");
    }
    return true;
  }

  /** Reads the changed znodes. */
  void readChanged() {
    if (connected) {
      changedPaths.forEach(this::read);
    }
    changedPaths.clear();
  }

  /** The newest known state of a group; null if there is none. */
  GroupState group(long id) {
    return groups.get(id);
  }

  /** A node as announced; null if it is not announced. */
  Announced node(long id) {
    return nodes.get(id);
  }

  /** Reads a group or a node again. */
  void reread(String path) {
    changedPaths.add(path);
  }

  /** Notes that this node was announced in this session. */
  void onAnnounced(Node self, long session) {
    nodes.put(self.getId(), new Announced(self, session, 0));
    nodesChanged = true;
  }

  /** Adopts the content of a group's znode, read or written. */
  void onGroup(long id, byte[] content, Stat stat) {
    onGroup(id, content, stat.getVersion(), stat.getCzxid(), stat.getMzxid());
  }

  /** Adopts the content of the znode of a group that was created in a change with this zxid. */
  void onCreated(long id, byte[] content, long zxid) {
    onGroup(id, content, 0, zxid, zxid);
  }

  private void onGroup(long id, byte[] content, int version, long created, long modified) {
    final GroupState state = parse(id, content, version, modified);
    final GroupState known = groups.get(id);
    if (state != null && (known == null || known.getVersion() < version)) {
      lastCreation = Math.max(lastCreation, created);
      groups.put(id, state);
      changed.add(id);
      dropped.remove(id);
    }
  }

  /** Notes that a group's znode is gone. */
  void onNoGroup(long id) {
    if (groups.remove(id) != null) {
      changed.remove(id);
      dropped.add(id);
    }
  }

  /** Takes one group that changed from the list; null if there is none. */
  GroupState takeChanged() {
    final Iterator<Long> ids = changed.iterator();
    if (!ids.hasNext()) {
      return null;
    }
    final long id = ids.next();
    ids.remove();
    return groups.get(id);
  }

  /** Takes the ids of the groups that are gone from the list. */
  void takeDropped(LongConsumer consumer) {
    final List<Long> ids = new ArrayList<>(dropped);
    dropped.clear();
    ids.forEach(consumer::accept);
  }

  /** The groups that were dropped last, if they have changed since they were taken; or null. */
  Collection<Long> takeDroppedLast() {
    if (!droppedLastChanged) {
      return null;
    }
    droppedLastChanged = false;
    return Coordinator.ids(droppedLast);
  }

  /** The groups that were dropped last, by a znode's content. */
  DroppedGroups droppedLast(byte[] content) {
    try {
      return DroppedGroups.parseFrom(content);
    } catch (InvalidProtocolBufferException e) {
      complain(paths.dropped(), "it is not a list of groups: " + e.getMessage());
      return DroppedGroups.getDefaultInstance(); // unknown: disks keep the dropped groups
    }
  }

  private void onDroppedLast(byte[] content) {
    final DroppedGroups found = droppedLast(content);
    droppedLastChanged |= !found.equals(droppedLast);
    droppedLast = found;
  }

  /** All nodes, if they have changed since they were last taken; null otherwise. */
  Collection<Node> takeNodes() {
    if (!nodesChanged) {
      return null;
    }
    nodesChanged = false;
    return nodes.values().stream().map(Announced::node).toList();
  }

  private void readAllBelow(String parent, Set<Long> known, PathOf path) {
    ensemble.children(
        parent,
        inRound(
            (code, event) -> {
              if (code != Code.OK) {
                fail(parent, code);
                return;
              }
              final Set<String> all = new HashSet<>();
              known.forEach(id -> all.add(path.of(id)));
              for (final String child : event.getChildren()) {
                if (onChanged(parent + '/' + child)) {
                  all.add(parent + '/' + child);
                }
              }
              all.removeIf(each -> paths.groupAt(each) == 0 && paths.nodeAt(each) == 0);
              all.forEach(this::read);
              changedPaths.removeAll(all);
            }));
  }

  @FunctionalInterface
  private interface PathOf {
    String of(long id);
  }

  private void read(String path) {
    final long group = paths.groupAt(path);
    final long node = paths.nodeAt(path);
    ensemble.read(
        path,
        inRound(
            (code, event) -> {
              if (code == Code.OK && path.equals(paths.dropped())) {
                onDroppedLast(event.getData());
              } else if (code == Code.NONODE) {
                if (group != 0) {
                  onNoGroup(group);
                } else if (nodes.remove(node) != null) {
                  nodesChanged = true;
                }
              } else if (code != Code.OK) {
                fail(path, code);
              } else if (group != 0) {
                onGroup(group, event.getData(), event.getStat());
              } else {
                onNode(node, event);
              }
            }));
  }

  private void onNode(long id, CuratorEvent event) {
    final Stat stat = event.getStat();
    Node node = null;
    try {
      node = Node.parseFrom(event.getData());
    } catch (InvalidProtocolBufferException e) {
      complain(event.getPath(), "it is not a node: " + e.getMessage());
    }
    if (node != null && (node.getId() != id || node.getIncarnation() == 0)) {
      complain(event.getPath(), "it is not this node");
      node = null;
    }
    if (node != null && !NodeAddress.isValid(node.getAddress())) {
      complain(event.getPath(), "its address is not HOST:PORT: '" + node.getAddress() + "'");
      node = null;
    }
    final Announced found =
        new Announced(
            node == null ? Node.getDefaultInstance() : node,
            stat.getEphemeralOwner(),
            stat.getVersion());
    if (node == null) {
      nodesChanged |= nodes.remove(id) != null;
    } else {
      nodesChanged |= !found.equals(nodes.put(id, found));
    }
  }

  private GroupState parse(long id, byte[] content, int version, long modified) {
    final GroupState state;
    try {
      state = GroupState.parseFrom(content);
    } catch (InvalidProtocolBufferException e) {
      complain(paths.group(id), "it is not a group: " + e.getMessage());
      return null;
    }
    if (state.getGroup() != id || !(state.hasEstablished() || state.hasWon())) {
      complain(paths.group(id), "it is not this group");
      return null;
    }
    final GroupState.Builder known = state.toBuilder().setVersion(version);
    if (state.hasWon()) {
      // Each later write of the znode removes or replaces the won configuration.
      known.getWonBuilder().setEpoch(modified);
    } else if (state.getEstablished().getEpoch() == 0) {
      known.getEstablishedBuilder().setEpoch(modified); // recovered; the next write stores it
    }
    return known.build();
  }

  private void expectOk(String path, Code code) {
    if (code != Code.OK) {
      fail(path, code);
    }
  }

  /** Ends the round: a path could not be read. */
  private void fail(String path, Code code) {
    disconnect();
    if (Ensemble.isLoss(code)) {
      whenLost.run();
    } else {
      LOGGER.log(
          Level.ERROR,
          "ZooKeeper refuses path={0} code={1}: the cluster cannot be read",
          path,
          code);
    }
  }

  /** Counts the operation, and ignores its result after the end of the round. */
  private Ensemble.Completion inRound(Ensemble.Completion completion) {
    final int of = round;
    outstanding++;
    return (code, event) -> {
      if (of != round) {
        return;
      }
      completion.onCompleted(code, event);
      if (of == round && --outstanding == 0 && !current) {
        current = true;
        whenCurrent.run();
      }
    };
  }

  private void complain(String path, String what) {
    if (complaints.size() < COMPLAINTS_MAX && complaints.add(path)) {
      LOGGER.log(
          Level.WARNING,
          "path={0} in ZooKeeper is ignored: {1} (ignored so far: {2})",
          path,
          what,
          complaints.size());
    }
  }
}
