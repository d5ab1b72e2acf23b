package dev.ringfetch.index.zookeeper;

import dev.ringfetch.index.v1.Node;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.curator.framework.api.transaction.CuratorOp;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;

/**
 * The ephemeral znode of this node. It is created in each session; one of an earlier session or
 * process is replaced, as ZooKeeper removes it only after a timeout. Once another process has
 * replaced this one's, the node is announced no more: two processes with one id would take turns.
 */
final class Announcement {
  private static final Logger LOGGER = System.getLogger(Announcement.class.getName());

  private enum State {
    /** Not to be announced. */
    OFF,
    /** To be announced when the view is current. */
    WANTED,
    /** A change is under way. */
    CHANGING,
    /** It was there in this session. */
    DONE
  }

  private final Ensemble ensemble;
  private final ClusterPaths paths;
  private final ClusterView view;
  private Node self = Node.getDefaultInstance();
  private State state = State.OFF;

  /** Number of the last change: results of earlier ones do not count. */
  private int attempt;

  /** The session in which the node was announced last, and what the view had then. */
  private long session;

  private ClusterView.Announced known;

  Announcement(Ensemble ensemble, ClusterPaths paths, ClusterView view) {
    this.ensemble = ensemble;
    this.paths = paths;
    this.view = view;
  }

  /** Begins. */
  void begin(Node self) {
    if (state != State.OFF || self.getId() == 0 || self.getIncarnation() == 0) {
      throw new IllegalArgumentException("node=" + self + " state=" + state);
    }
    this.self = self;
    state = State.WANTED;
  }

  /** Removes the znode; where that fails, the end of the session does. */
  void end() {
    final boolean isThere = state == State.DONE && view.isCurrent();
    state = State.OFF;
    attempt++;
    if (isThere) {
      ensemble.change(
          operation ->
              List.of(
                  operation.delete().withVersion(known.version()).forPath(paths.node(self.getId()))),
          (code, event) ->
              LOGGER.log(
                  Level.DEBUG, "this node withdraws: id={0} code={1}", Long.toHexString(self.getId()), code));
    }
  }

  /** The session may be another one. */
  void onConnected() {
    if (state != State.OFF) {
      state = State.WANTED;
    }
  }

  /** Compares with the view, if it is current, and announces the node if it is not announced. */
  void check() {
    if (state == State.OFF || state == State.CHANGING || !view.isCurrent()) {
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
    } else if (found != null && !same && session == now) {
      LOGGER.log(
          Level.ERROR,
          "node={0}: another process announces itself with this id, address={1}",
          Long.toHexString(self.getId()),
          found.node().getAddress());
      state = State.OFF;
    } else {
      state = State.CHANGING;
      change(found);
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
          state = State.WANTED; // the next connection's view says what has become of it
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
