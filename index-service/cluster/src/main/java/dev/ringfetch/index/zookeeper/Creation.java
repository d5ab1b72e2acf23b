package dev.ringfetch.index.zookeeper;

import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.coordinator.Coordinator.Answer;
import dev.ringfetch.index.coordinator.Coordinator.Result;
import dev.ringfetch.index.v1.GroupState;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import org.apache.curator.framework.api.CuratorEvent;
import org.apache.curator.framework.api.transaction.CuratorOp;
import org.apache.curator.framework.api.transaction.TransactionOp;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;

/**
 * The creation of a group: creates its name and its znode, and writes the parent of the groups, in
 * one change that is conditional on the parent's version. So an attempt whose answer is lost has no
 * effect later than the next creation. If the group replaces another one, the same change drops
 * that one.
 */
final class Creation extends Request {
  private static final Logger LOGGER = System.getLogger(Creation.class.getName());
  private static final int NAME = 0;
  private static final int PARENT = 1;
  private static final int GROUP = 2;
  private static final int REPLACED = 3;

  private final GroupState first;

  /** The group to replace, in the state that the caller has seen; null if none. */
  private final GroupState replaced;

  /** The id of the last attempt, and the version of the parent as the attempt's condition. */
  private long id;

  private int parentVersion;

  /**
   * @param first without group, version and epoch
   */
  Creation(Context context, Answer answer, GroupState first) {
    this(context, answer, first, null);
  }

  /**
   * @param replaced the group to drop; null if none
   */
  Creation(Context context, Answer answer, GroupState first, GroupState replaced) {
    super(context, answer);
    this.first = first;
    this.replaced = replaced;
  }

  @Override
  void proceed() {
    context
        .ensemble()
        .read(
            context.paths().groups(),
            (code, event) -> {
              if (code != Code.OK) {
                fail(code);
              } else if (isLost() && event.getStat().getVersion() != parentVersion) {
                decide();
              } else {
                attempt(event.getStat().getVersion());
              }
            });
  }

  private void attempt(int version) {
    readDropped(
        dropped -> {
          if (!isLost()) { // else the first attempt may yet arrive
            id = context.view().drawGroup(dropped.groups());
            parentVersion = version;
          }
          context.ensemble().change(operation -> changes(operation, dropped), this::onSent);
        });
  }

  private List<CuratorOp> changes(TransactionOp operation, LastDropped dropped) throws Exception {
    final ClusterPaths paths = context.paths();
    final String name = paths.name(first.getIndex());
    final byte[] named = ClusterPaths.content(id);
    final byte[] cluster = ClusterPaths.content(context.view().cluster());
    final List<CuratorOp> changes = new ArrayList<>();
    changes.add(
        replaced == null
            ? operation.create().forPath(name, named)
            : operation.setData().forPath(name, named));
    changes.add(operation.setData().withVersion(parentVersion).forPath(paths.groups(), cluster));
    changes.add(operation.create().forPath(paths.group(id), content()));
    if (replaced != null) {
      changes.addAll(dropped.drop(operation, paths, replaced));
    }
    return changes;
  }

  private byte[] content() {
    return first.toBuilder().setGroup(id).build().toByteArray();
  }

  private void onSent(Code code, CuratorEvent event) {
    if (Ensemble.isLoss(code)) {
      loseAnswer();
      return;
    }
    switch (code) {
      case OK -> {
        // All changes of one request have the same zxid.
        final Stat parent = event.getOpResults().get(PARENT).getResultStat();
        if (replaced != null) {
          context.view().onNoGroup(replaced.getGroup());
        }
        context.view().onCreated(id, content(), parent.getMzxid());
        end(Result.DONE, context.view().group(id));
      }
      case BADVERSION, NONODE -> {
        if (replaced != null && isReplacedChanged(event)) {
          readGroup(
              replaced.getGroup(),
              () -> end(Result.CONFLICT, context.view().group(replaced.getGroup())));
        } else if (code == Code.BADVERSION) {
          proceed(); // another group was created or dropped meanwhile
        } else {
          fail(code);
        }
      }
      case NODEEXISTS -> {
        if (event.getOpResults().get(NAME).getError() == Code.NODEEXISTS.intValue()) {
          readNamed();
        } else if (event.getOpResults().get(GROUP).getError() == Code.NODEEXISTS.intValue()) {
          forgetLoss(); // another group has the id
          readGroup(id, this::proceed);
        } else {
          fail(code);
        }
      }
      default -> fail(code);
    }
  }

  /** Whether the group to replace has changed since it was seen, or is gone with its name. */
  private static boolean isReplacedChanged(CuratorEvent event) {
    final int named = event.getOpResults().get(NAME).getError();
    final int group = event.getOpResults().get(REPLACED).getError();
    return named == Code.NONODE.intValue()
        || group == Code.NONODE.intValue()
        || group == Code.BADVERSION.intValue();
  }

  /** Finds the group that has the name. */
  private void readNamed() {
    context
        .ensemble()
        .read(
            context.paths().name(first.getIndex()),
            (code, event) -> {
              if (code == Code.NONODE) {
                proceed(); // it is free again
              } else if (code != Code.OK) {
                fail(code);
              } else if (ClusterPaths.id(event.getData()) == 0) {
                LOGGER.log(
                    Level.ERROR,
                    "path={0} in ZooKeeper is not the id of a group",
                    context.paths().name(first.getIndex()));
                end(Result.CONFLICT, null);
              } else {
                readNamedGroup(ClusterPaths.id(event.getData()));
              }
            });
  }

  private void readNamedGroup(long named) {
    readGroup(
        named,
        () -> {
          final GroupState now = context.view().group(named);
          if (now == null) {
            proceed(); // dropped meanwhile, and with it the name
          } else if (isOurs(now)) {
            end(Result.DONE, now);
          } else if (isLost()) {
            unlessDropped(() -> end(Result.CONFLICT, now));
          } else {
            end(Result.CONFLICT, now);
          }
        });
  }

  /** Decides whether an attempt whose answer was lost has created the group. */
  private void decide() {
    readGroup(
        id,
        () -> {
          final GroupState now = context.view().group(id);
          if (now != null && isOurs(now)) {
            end(Result.DONE, now);
          } else {
            unlessDropped(
                () -> { // no attempt had an effect, or has one later
                  forgetLoss();
                  proceed();
                });
          }
        });
  }

  /** Ends the request if an attempt has created the group, which was dropped since. */
  private void unlessDropped(Runnable then) {
    readDropped(
        dropped -> {
          if (Coordinator.ids(dropped.groups()).contains(id)) {
            end(Result.UNKNOWN, null);
          } else {
            then.run();
          }
        });
  }

  private boolean isOurs(GroupState now) {
    final long nonce = first.getWon().getNonce();
    return now.getGroup() == id
        && (now.getWon().getNonce() == nonce || now.getEstablished().getNonce() == nonce);
  }

  @Override
  String subject() {
    return "to create a group: index=" + first.getIndex();
  }
}
