package dev.ringfetch.index.zookeeper;

import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.coordinator.Coordinator.Answer;
import dev.ringfetch.index.coordinator.Coordinator.Result;
import dev.ringfetch.index.v1.DroppedGroups;
import dev.ringfetch.index.v1.GroupState;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.function.Consumer;
import org.apache.curator.framework.api.transaction.CuratorOp;
import org.apache.curator.framework.api.transaction.TransactionOp;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;

/**
 * A conditional change under way.
 *
 * <p>When the connection is lost, whether the change was made is unknown. The next connection reads
 * the state, and the nonce in it, and versions, tell. A change that was not made is sent again: it
 * has the same condition, so a first attempt that arrives late, or the second, has no effect.
 */
abstract class Request {
  /** What a request needs of the coordinator. */
  interface Context {
    Ensemble ensemble();

    ClusterPaths paths();

    ClusterView view();

    /** The request is answered. */
    void end(Request request, Result result, GroupState state);

    /** The request goes on when the state has been read in another connection. */
    void onLoss(Request request);
  }

  private static final Logger LOGGER = System.getLogger(Request.class.getName());

  final Context context;
  private final Answer answer;
  private boolean lost;

  Request(Context context, Answer answer) {
    this.context = context;
    this.answer = answer;
  }

  /** What ZooKeeper refuses where it does so, for the log. */
  abstract String subject();

  /** Sends the request, or goes on with it. The view is current. */
  abstract void proceed();

  final Answer answer() {
    return answer;
  }

  /** Whether the answer of an attempt was lost. */
  final boolean isLost() {
    return lost;
  }

  /** The answer of an attempt was lost with the connection. */
  final void loseAnswer() {
    lost = true;
    context.onLoss(this);
  }

  /** All attempts were found to have had no effect. */
  final void forgetLoss() {
    lost = false;
  }

  /** An operation failed that only reads, or was refused. */
  final void fail(Code code) {
    if (Ensemble.isLoss(code)) {
      context.onLoss(this);
    } else {
      LOGGER.log(Level.ERROR, "ZooKeeper refuses {0} code={1}", subject(), code);
      end(Result.UNKNOWN, null);
    }
  }

  /** Reads a group, if it is there, into the view, and goes on. */
  final void readGroup(long group, Runnable then) {
    context
        .ensemble()
        .read(
            context.paths().group(group),
            (code, event) -> {
              if (code == Code.OK) {
                final Stat stat = event.getStat();
                context.view().onGroup(group, event.getData(), stat.getVersion(), stat.getMzxid());
                then.run();
              } else if (code == Code.NONODE) {
                context.view().onNoGroup(group);
                then.run();
              } else {
                fail(code);
              }
            });
  }

  /**
   * The groups that were dropped last, as they were read.
   *
   * @param version of their znode
   */
  record LastDropped(DroppedGroups groups, int version) {
    /** The changes by which another group goes, and is one of them. */
    List<CuratorOp> drop(TransactionOp operation, ClusterPaths paths, GroupState group)
        throws Exception {
      return List.of(
          operation.delete().withVersion(group.getVersion()).forPath(paths.group(group.getGroup())),
          operation
              .setData()
              .withVersion(version)
              .forPath(paths.dropped(), Coordinator.dropped(groups, group).toByteArray()));
    }
  }

  /** Reads which groups were dropped last, and goes on. */
  final void readDropped(Consumer<LastDropped> then) {
    context
        .ensemble()
        .read(
            context.paths().dropped(),
            (code, event) -> {
              if (code == Code.OK) {
                then.accept(
                    new LastDropped(
                        context.view().droppedLast(event.getData()), event.getStat().getVersion()));
              } else {
                fail(code);
              }
            });
  }

  final void end(Result result, GroupState state) {
    context.end(this, result, state);
  }
}
