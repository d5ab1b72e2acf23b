package dev.ringfetch.index.zookeeper;

import dev.ringfetch.index.coordinator.Coordinator.Answer;
import dev.ringfetch.index.coordinator.Coordinator.Result;
import dev.ringfetch.index.v1.GroupState;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.curator.framework.api.CuratorEvent;
import org.apache.curator.framework.api.transaction.CuratorOp;
import org.apache.curator.framework.api.transaction.TransactionOp;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;

/**
 * The creation of a group: creates its name and its znode, and advances the last id, in one change
 * that is conditional on the version of the last id. So each id is assigned once, and smaller ids
 * are older. If the group replaces another one, the same change drops that one.
 */
final class Creation extends Request {
  private static final Logger LOGGER = System.getLogger(Creation.class.getName());
  private static final int NAME = 0;
  private static final int COUNTER = 1;
  private static final int REPLACED = 3;

  private final GroupState first;

  /** The group to replace, in the state that the caller has seen; null if none. */
  private final GroupState replaced;

  /** The id of the last attempt, and the version of the last id as the attempt's condition. */
  private long id;

  private int counterVersion;

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
              } else if (isLost() && event.getStat().getVersion() != counterVersion) {
                decide();
              } else {
                attempt(event);
              }
            });
  }

  private void attempt(CuratorEvent counter) {
    try {
      id = number(counter.getData()) + 1;
    } catch (NumberFormatException e) {
      LOGGER.log(Level.ERROR, "path={0} in ZooKeeper is not a number", context.paths().groups());
      end(Result.UNKNOWN, null);
      return;
    }
    counterVersion = counter.getStat().getVersion();
    if (replaced == null) {
      context.ensemble().change(this::changes, this::onSent);
    } else {
      readDropped(
          dropped ->
              context
                  .ensemble()
                  .change(operation -> replacement(operation, dropped), this::onSent));
    }
  }

  private List<CuratorOp> replacement(TransactionOp operation, LastDropped dropped)
      throws Exception {
    final byte[] number = Long.toUnsignedString(id).getBytes(StandardCharsets.US_ASCII);
    final ClusterPaths paths = context.paths();
    final List<CuratorOp> changes = new ArrayList<>();
    changes.add(operation.setData().forPath(paths.name(first.getIndex()), number));
    changes.add(operation.setData().withVersion(counterVersion).forPath(paths.groups(), number));
    changes.add(operation.create().forPath(paths.group(id), content()));
    changes.addAll(dropped.drop(operation, paths, replaced));
    return changes;
  }

  private List<CuratorOp> changes(TransactionOp operation) throws Exception {
    final byte[] number = Long.toUnsignedString(id).getBytes(StandardCharsets.US_ASCII);
    return List.of(
        operation.create().forPath(context.paths().name(first.getIndex()), number),
        operation.setData().withVersion(counterVersion).forPath(context.paths().groups(), number),
        operation.create().forPath(context.paths().group(id), content()));
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
        final Stat counter = event.getOpResults().get(COUNTER).getResultStat();
        if (replaced != null) {
          context.view().onNoGroup(replaced.getGroup());
        }
        context.view().onGroup(id, content(), 0, counter.getMzxid());
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
              } else {
                try {
                  readNamedGroup(number(event.getData()));
                } catch (NumberFormatException e) {
                  LOGGER.log(
                      Level.ERROR,
                      "path={0} in ZooKeeper is not a number",
                      context.paths().name(first.getIndex()));
                  end(Result.CONFLICT, null);
                }
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
          } else if (isLost() && Long.compareUnsigned(named, id) > 0) {
            end(Result.UNKNOWN, null); // ours may have been there before
          } else {
            end(Result.CONFLICT, now);
          }
        });
  }

  /** Decides whether an attempt whose answer was lost has advanced the last id. */
  private void decide() {
    readGroup(
        id,
        () -> {
          final GroupState now = context.view().group(id);
          if (now == null) {
            end(Result.UNKNOWN, null); // an attempt's, dropped since, or another's
          } else if (isOurs(now)) {
            end(Result.DONE, now);
          } else {
            // Another group has the id: no attempt had an effect.
            forgetLoss();
            proceed();
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

  /** The id of the last group that was created, by its znode's content. */
  static long number(byte[] content) {
    final String text = new String(content, StandardCharsets.US_ASCII);
    return text.isEmpty() ? 0 : Long.parseUnsignedLong(text);
  }
}
