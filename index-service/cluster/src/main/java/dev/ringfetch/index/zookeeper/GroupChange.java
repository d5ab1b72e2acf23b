package dev.ringfetch.index.zookeeper;

import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.coordinator.Coordinator.Answer;
import dev.ringfetch.index.coordinator.Coordinator.Result;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.DroppedGroups;
import dev.ringfetch.index.v1.GroupState;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import org.apache.curator.framework.api.CuratorEvent;
import org.apache.curator.framework.api.transaction.CuratorOp;
import org.apache.curator.framework.api.transaction.TransactionOp;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;

/** A change of a group that there is, conditional on its version. */
final class GroupChange extends Request {
  private static final Logger LOGGER = System.getLogger(GroupChange.class.getName());

  private final GroupState seen;

  /** The group afterwards, as it is stored; null: dropped. */
  private final GroupState changed;

  /** The configuration that the change is about; null: dropped. */
  private final Configuration configuration;

  private GroupChange(
      Context context,
      Answer answer,
      GroupState seen,
      GroupState changed,
      Configuration configuration) {
    super(context, answer);
    this.seen = seen;
    this.changed = changed == null ? null : changed.toBuilder().clearVersion().build();
    this.configuration = configuration;
  }

  static GroupChange win(Context context, Answer answer, GroupState seen, Configuration proposed) {
    return new GroupChange(
        context, answer, seen, seen.toBuilder().setWon(proposed).build(), proposed);
  }

  static GroupChange establish(Context context, Answer answer, GroupState seen) {
    return new GroupChange(context, answer, seen, Coordinator.established(seen), seen.getWon());
  }

  static GroupChange recover(
      Context context, Answer answer, GroupState seen, GroupState recovered) {
    return new GroupChange(context, answer, seen, recovered, recovered.getEstablished());
  }

  static GroupChange drop(Context context, Answer answer, GroupState seen) {
    return new GroupChange(context, answer, seen, null, null);
  }

  @Override
  void proceed() {
    if (isLost()) {
      decide();
    } else {
      send();
    }
  }

  private void send() {
    if (changed == null) {
      readDropped();
    } else {
      context.ensemble().change(this::change, this::onSent);
    }
  }

  /** Reads which groups were dropped last: this one is to be one of them. */
  private void readDropped() {
    context
        .ensemble()
        .read(
            context.paths().dropped(),
            (code, event) -> {
              if (code == Code.OK) {
                final DroppedGroups before = context.view().droppedLast(event.getData());
                final int version = event.getStat().getVersion();
                context
                    .ensemble()
                    .change(operation -> drop(operation, before, version), this::onSent);
              } else if (Ensemble.isLoss(code)) {
                proceedLater();
              } else {
                refuse(code);
              }
            });
  }

  private List<CuratorOp> drop(TransactionOp operation, DroppedGroups before, int version)
      throws Exception {
    final ClusterPaths paths = context.paths();
    final byte[] dropped = Coordinator.dropped(before, seen).toByteArray();
    return List.of(
        operation.delete().withVersion(seen.getVersion()).forPath(paths.group(seen.getGroup())),
        operation.delete().forPath(paths.name(seen.getIndex())),
        operation.setData().withVersion(version).forPath(paths.dropped(), dropped));
  }

  private List<CuratorOp> change(TransactionOp operation) throws Exception {
    final String path = context.paths().group(seen.getGroup());
    return List.of(
        operation.setData().withVersion(seen.getVersion()).forPath(path, changed.toByteArray()));
  }

  private void onSent(Code code, CuratorEvent event) {
    if (Ensemble.isLoss(code)) {
      loseAnswer();
      return;
    }
    switch (code) {
      case OK -> {
        if (changed == null) {
          context.view().onNoGroup(seen.getGroup());
          end(Result.DONE, null);
        } else {
          final Stat stat = event.getOpResults().get(0).getResultStat();
          context
              .view()
              .onGroup(seen.getGroup(), changed.toByteArray(), stat.getVersion(), stat.getMzxid());
          end(Result.DONE, context.view().group(seen.getGroup()));
        }
      }
      case BADVERSION, NONODE -> readState();
      default -> refuse(code);
    }
  }

  private void refuse(Code code) {
    LOGGER.log(
        Level.ERROR,
        "ZooKeeper refuses a change: group={0} code={1}",
        Long.toUnsignedString(seen.getGroup()),
        code);
    end(Result.UNKNOWN, null);
  }

  /** Reads what the group is instead. */
  private void readState() {
    context
        .ensemble()
        .read(
            context.paths().group(seen.getGroup()),
            (code, event) -> {
              if (code == Code.OK) {
                context
                    .view()
                    .onGroup(
                        seen.getGroup(),
                        event.getData(),
                        event.getStat().getVersion(),
                        event.getStat().getMzxid());
              } else if (code == Code.NONODE) {
                context.view().onNoGroup(seen.getGroup());
              } else if (Ensemble.isLoss(code)) {
                proceedLater();
                return;
              } else {
                refuse(code);
                return;
              }
              decide();
            });
  }

  /** Decides, by the state that the view has, what has become of the change. */
  private void decide() {
    final GroupState now = context.view().group(seen.getGroup());
    if (now == null) {
      // Dropped, by this node or another; a change of another kind may have been made before.
      if (changed == null && isLost()) {
        end(Result.DONE, null);
      } else {
        end(isLost() ? Result.UNKNOWN : Result.CONFLICT, null);
      }
    } else if (now.getVersion() == seen.getVersion()) {
      send();
    } else if (isOurs(now)) {
      end(Result.DONE, now);
    } else if (isLost() && changed != null && now.getVersion() - seen.getVersion() > 1) {
      end(Result.UNKNOWN, null); // the first change of several may have been this one
    } else {
      end(Result.CONFLICT, now);
    }
  }

  private boolean isOurs(GroupState now) {
    return configuration != null
        && ((changed.hasWon() && now.getWon().getNonce() == configuration.getNonce())
            || now.getEstablished().getNonce() == configuration.getNonce());
  }
}
