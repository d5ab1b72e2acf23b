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

/**
 * A conditional change under way.
 *
 * <p>After the loss of the connection, it is unknown whether the change was made. The next
 * connection reads the state; its nonce and its version decide. A change that was not made is sent
 * again with the same condition, so that only one of the two attempts can have an effect, even if
 * the first one arrives late.
 */
abstract class Request {
  /** The coordinator's side of a request. */
  interface Context {
    Ensemble ensemble();

    ClusterPaths paths();

    ClusterView view();

    /** Answers the request. */
    void end(Request request, Result result, GroupState state);

    /** Continues the request after the next connection has read the state. */
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

  /** The subject of the request, for log messages about refusals. */
  abstract String subject();

  /** Sends the request, or continues it. The view is current. */
  abstract void proceed();

  final Answer answer() {
    return answer;
  }

  /** Whether the answer of an attempt was lost. */
  final boolean isLost() {
    return lost;
  }

  /** Notes that the answer of an attempt was lost with the connection. */
  final void loseAnswer() {
    lost = true;
    context.onLoss(this);
  }

  /** Notes that no attempt had an effect. */
  final void forgetLoss() {
    lost = false;
  }

  /** Handles the failure of a read, or a refusal. */
  final void fail(Code code) {
    if (Ensemble.isLoss(code)) {
      context.onLoss(this);
    } else {
      LOGGER.log(Level.ERROR, "ZooKeeper refuses {0} code={1}", subject(), code);
      end(Result.UNKNOWN, null);
    }
  }

  /** Reads a group, if it exists, into the view, then continues. */
  final void readGroup(long group, Runnable then) {
    context
        .ensemble()
        .read(
            context.paths().group(group),
            (code, event) -> {
              if (code == Code.OK) {
                context.view().onGroup(group, event.getData(), event.getStat());
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
   * The groups that were dropped last, as read.
   *
   * @param version of their znode
   */
  record LastDropped(DroppedGroups groups, int version) {
    /** The changes that drop a group and add it to the list of dropped groups. */
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

  /** Reads the list of the groups that were dropped last, then continues. */
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
