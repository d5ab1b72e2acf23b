package dev.ringfetch.index.zookeeper;

import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.v1.Node;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.LongSupplier;
import org.apache.curator.framework.api.transaction.CuratorOp;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;

/**
 * The ephemeral znode of this node. Each session creates it anew. It replaces the znode of an
 * earlier session, or of an earlier process at the same address, as ZooKeeper removes those only
 * after a timeout. Once another process has replaced this process's znode, this process does not
 * announce the node again: two processes with one id would replace each other for ever.
 *
 * <p>A znode of a process at another address may belong to a process that was killed, or the node's
 * data directory was copied. So this process waits until the znode is gone. If the znode outlives
 * its session's timeout, the other process is alive, and this process is refused.
 */
final class Announcement {
  private static final Logger LOGGER = System.getLogger(Announcement.class.getName());

  private enum State {
    /** The node shall not be announced. */
    OFF,
    /** The node shall be announced when the view is current. */
    WANTED,
    /** Another process is announced, which may have ended. */
    WAITING,
    /** Another process lives, or this one is of another cluster. */
    REFUSED,
    /** A change is under way. */
    CHANGING,
    /** The znode was created in this session. */
    DONE
  }

  private final Ensemble ensemble;
  private final ClusterPaths paths;
  private final ClusterView view;
  private final LongSupplier clock;
  private Node self = Node.getDefaultInstance();
  private Coordinator.Admission admission = other -> {};
  private boolean admitted;
  private long waitingNs; // since when
  private State state = State.OFF;
  private boolean wasAnnounced;

  /** Number of the last change; results of earlier changes are ignored. */
  private int attempt;

  /** The session in which the node was announced last, and the znode that the view had then. */
  private long session;

  private ClusterView.Announced known;

  /**
   * Creates it.
   *
   * @param clock in nanoseconds
   */
  Announcement(Ensemble ensemble, ClusterPaths paths, ClusterView view, LongSupplier clock) {
    this.ensemble = ensemble;
    this.paths = paths;
    this.view = view;
    this.clock = clock;
  }

  /**
   * Begins.
   *
   * @param admission of this process
   */
  void begin(Node self, Coordinator.Admission admission) {
    if (state != State.OFF || self.getId() == 0 || self.getIncarnation() == 0) {
      throw new IllegalArgumentException("node=" + self + " state=" + state);
    }
    this.self = self;
    this.admission = admission;
    state = State.WANTED;
  }

  /**
   * Removes the znode; if that fails, the end of the session removes it. An excluded process stays
   * excluded.
   */
  void end() {
    final boolean isThere = state == State.DONE && view.isCurrent();
    state = isKeptOut() ? State.REFUSED : State.OFF;
    attempt++;
    if (isThere) {
      ensemble.change(
          operation ->
              List.of(
                  operation
                      .delete()
                      .withVersion(known.version())
                      .forPath(paths.node(self.getId()))),
          (code, event) ->
              LOGGER.log(
                  Level.DEBUG,
                  "this node withdraws: id={0} code={1}",
                  Long.toHexString(self.getId()),
                  code));
    }
  }

  /** Notes that the connection is back, perhaps with another session. */
  void onConnected() {
    if (state != State.OFF && state != State.REFUSED) {
      state = State.WANTED;
    }
  }

  /**
   * Whether this process is excluded from the cluster: another process is announced as this node,
   * or may be, as this process has not been announced yet.
   */
  boolean isKeptOut() {
    return state == State.WAITING
        || state == State.REFUSED
        || (!wasAnnounced && (state == State.WANTED || state == State.CHANGING));
  }

  /**
   * Whether this process was ever announced: it may follow or lead, so it must know all changes.
   */
  boolean wasAnnounced() {
    return wasAnnounced;
  }

  /** Compares with the view, if it is current, and announces the node if it is not announced. */
  void check() {
    if (state == State.OFF
        || state == State.REFUSED
        || state == State.CHANGING
        || !view.isCurrent()) {
      return;
    }
    admitted = admitted || admission.onCluster(view.cluster());
    if (!admitted) {
      state = State.REFUSED;
      return;
    }
    final ClusterView.Announced found = view.node(self.getId());
    if (state == State.DONE && Objects.equals(found, known)) {
      return;
    }
    final long now = ensemble.session();
    final boolean same = found != null && found.node().equals(self);
    if (same && found.session() == now) {
      session = now;
      known = found;
      state = State.DONE;
      wasAnnounced = true;
    } else if (found != null && !same && session == now) {
      LOGGER.log(
          Level.ERROR,
          "node={0}: another process announces itself with this id, address={1}",
          Long.toHexString(self.getId()),
          found.node().getAddress());
      state = State.OFF;
    } else if (found != null && !same && Coordinator.mayLiveBeside(found.node(), self)) {
      await(found.node());
    } else {
      state = State.CHANGING;
      change(found);
    }
  }

  private void await(Node other) {
    final long nowNs = clock.getAsLong();
    // ZooKeeper ends sessions at ticks; a timeout has at least two of them.
    final long timeoutNs = ensemble.sessionTimeoutNs() * 3 / 2;
    if (state != State.WAITING) {
      state = State.WAITING;
      waitingNs = nowNs;
      LOGGER.log(
          Level.WARNING,
          "another process is announced as this node, at {0}: this one waits for {1} s at most"
              + " until its session has ended",
          other.getAddress(),
          timeoutNs / 1_000_000_000);
    } else if (timeoutNs > 0 && nowNs - waitingNs > timeoutNs) { // 0 if unknown at the moment
      state = State.REFUSED;
      admission.onTaken(other);
    }
  }

  private void change(ClusterView.Announced found) {
    final String path = paths.node(self.getId());
    final int number = ++attempt;
    ensemble.change(
        operation -> {
          final List<CuratorOp> changes = new ArrayList<>();
          if (found != null) {
            changes.add(operation.delete().withVersion(found.version()).forPath(path));
          }
          changes.add(
              operation.create().withMode(CreateMode.EPHEMERAL).forPath(path, self.toByteArray()));
          return changes;
        },
        (code, event) -> {
          if (number == attempt && state == State.CHANGING) {
            onChanged(path, code);
          }
        });
  }

  private void onChanged(String path, Code code) {
    switch (code) {
      case OK -> {
        state = State.WANTED;
        view.onAnnounced(self, ensemble.session());
        check();
      }
      case NODEEXISTS, NONODE, BADVERSION -> {
        state = State.WANTED;
        view.reread(path);
      }
      default -> {
        if (Ensemble.isLoss(code)) {
          state = State.WANTED; // the view of the next connection shows the result
        } else {
          LOGGER.log(
              Level.ERROR,
              "ZooKeeper refuses to announce this node: path={0} code={1}",
              path,
              code);
          state = State.OFF;
        }
      }
    }
  }
}
