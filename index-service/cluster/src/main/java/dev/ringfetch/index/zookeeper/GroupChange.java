package dev.ringfetch.index.zookeeper;

import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.coordinator.Coordinator.Answer;
import dev.ringfetch.index.coordinator.Coordinator.Result;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.GroupState;
import java.util.ArrayList;
import java.util.List;
import org.apache.curator.framework.api.CuratorEvent;
import org.apache.curator.framework.api.transaction.CuratorOp;
import org.apache.curator.framework.api.transaction.TransactionOp;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;

/** A change of an existing group, conditional on its version. */
final class GroupChange extends Request {
  private final GroupState seen;

  /** The group's new content; null to drop the group. */
  private final GroupState changed;

  /** The configuration that the change sets; null to drop the group. */
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
      readDropped(
          dropped ->
              context.ensemble().change(operation -> drop(operation, dropped), this::onSent));
    } else {
      context.ensemble().change(this::change, this::onSent);
    }
  }

  private List<CuratorOp> drop(TransactionOp operation, LastDropped dropped) throws Exception {
    final ClusterPaths paths = context.paths();
    final List<CuratorOp> changes = new ArrayList<>(dropped.drop(operation, paths, seen));
    changes.add(operation.delete().forPath(paths.name(seen.getIndex())));
    return changes;
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
          context.view().onGroup(seen.getGroup(), changed.toByteArray(), stat);
          end(Result.DONE, context.view().group(seen.getGroup()));
        }
      }
      case BADVERSION, NONODE ->
          readGroup(seen.getGroup(), this::decide); // reads its present state
      default -> fail(code);
    }
  }

  @Override
  String subject() {
    return "a change: group=" + Long.toUnsignedString(seen.getGroup());
  }

  /** Decides by the view's state whether the change was made. */
  private void decide() {
    final GroupState now = context.view().group(seen.getGroup());
    if (now == null) {
      // The group was dropped, by this node or another one. A change of another kind may have been
      // made before.
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
      end(Result.UNKNOWN, null); // the first of several changes may have been this one
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
