package dev.ringfetch.index.zookeeper;

import dev.ringfetch.index.coordinator.Coordinator.Answer;
import dev.ringfetch.index.coordinator.Coordinator.Result;
import dev.ringfetch.index.coordinator.DirectoryGroups;
import dev.ringfetch.index.v1.GroupState;
import java.util.ArrayList;
import java.util.List;
import org.apache.curator.framework.api.CuratorEvent;
import org.apache.curator.framework.api.transaction.CuratorOp;
import org.apache.curator.framework.api.transaction.TransactionOp;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;

/**
 * The adoption of a directory's groups: one change creates all names and groups, and writes the
 * nonce to the directory's znode, on whose version it is conditional. So a request whose answer is
 * lost is found by the nonce, and one that arrives late has no effect after a second one, or after
 * the adoption was given up, which writes the znode, too.
 */
final class AdoptionChange extends Request {
  private static final int ABSENT = -1; // version of a znode

  /** Places of changes in the request; a name and a group follow for each group. */
  private static final int NONCE = 0;

  private static final int FIRST_NAME = 2;

  /** Bytes of a request: a server closes the connection above 1 MiB. */
  private static final int LENGTH_LIMIT = 900_000;

  /** Bytes of a change beside path and content: access list, type, lengths. */
  private static final int CHANGE_LENGTH = 150;

  /** Writes that raise zxids are sent together, so many at most. */
  private static final int RAISE_BATCH = 64;

  /** Zxids are raised up to so many, which takes a minute on a slow disk. */
  private static final int RAISE_LIMIT = 100_000;

  private final long node;
  private final long nonce;
  private final DirectoryGroups groups; // null: the adoption is given up
  private final Obstacle obstacle;

  /** The reason of a refusal, for the receiver of the answer. */
  static final class Obstacle {
    private String text; // null: there is none

    String text() {
      return text;
    }
  }

  private AdoptionChange(
      Context context,
      Answer answer,
      long node,
      long nonce,
      DirectoryGroups groups,
      Obstacle obstacle) {
    super(context, answer);
    this.node = node;
    this.nonce = nonce;
    this.groups = groups;
    this.obstacle = obstacle;
  }

  static AdoptionChange adopt(
      Context context, DirectoryGroups groups, Answer answer, Obstacle obstacle) {
    return new AdoptionChange(context, answer, groups.node(), groups.nonce(), groups, obstacle);
  }

  static AdoptionChange giveUp(Context context, long node, long nonce, Answer answer) {
    return new AdoptionChange(context, answer, node, nonce, null, new Obstacle());
  }

  @Override
  void proceed() {
    context
        .ensemble()
        .read(
            context.paths().adopted(node),
            (code, event) -> {
              if (code == Code.NONODE) {
                attempt(ABSENT);
              } else if (code != Code.OK) {
                fail(code);
              } else {
                decide(ClusterPaths.id(event.getData()), event.getStat().getVersion());
              }
            });
  }

  private void decide(long found, int version) {
    if (found == nonce) {
      end(groups == null ? Result.CONFLICT : Result.DONE, null);
    } else if (found == 0) { // given up once
      attempt(version);
    } else if (groups == null) {
      end(Result.DONE, null);
    } else {
      refuse(groups.adoptedBefore());
    }
  }

  private void attempt(int version) {
    if (groups == null) {
      context
          .ensemble()
          .change(operation -> List.of(write(operation, 0, version)), this::onGivenUp);
    } else if (length() > LENGTH_LIMIT) {
      refuse(
          "the indexes are more than one change of ZooKeeper takes: indexes="
              + groups.groups().size()
              + " bytes="
              + length()
              + " limit="
              + LENGTH_LIMIT);
    } else {
      raise(groups, version, 1);
    }
  }

  private CuratorOp write(TransactionOp operation, long content, int version) throws Exception {
    final String path = context.paths().adopted(node);
    final byte[] bytes = ClusterPaths.content(content);
    return version == ABSENT
        ? operation.create().forPath(path, bytes)
        : operation.setData().withVersion(version).forPath(path, bytes);
  }

  private void onGivenUp(Code code, CuratorEvent event) {
    if (Ensemble.isLoss(code)) {
      loseAnswer();
      return;
    }
    switch (code) {
      case OK -> end(Result.DONE, null);
      case NODEEXISTS, BADVERSION -> proceed();
      default -> fail(code);
    }
  }

  private int length() {
    int length = 0;
    for (final GroupState group : groups.groups()) {
      length += group.getSerializedSize() + 2 * CHANGE_LENGTH;
      length += context.paths().name(group.getIndex()).length();
      length += context.paths().group(group.getGroup()).length();
    }
    return length;
  }

  /**
   * Writes until zxids, which are the epochs of later configurations, are greater than the epochs
   * of the directory: those of one server begin at 1.
   */
  private void raise(DirectoryGroups adopted, int version, long count) {
    for (long i = 1; i < count; i++) {
      context.ensemble().change(this::writeParent, (code, event) -> {});
    }
    context
        .ensemble()
        .change(
            this::writeParent,
            (code, event) -> {
              if (code != Code.OK) {
                fail(code);
                return;
              }
              final long zxid = event.getOpResults().get(0).getResultStat().getMzxid();
              final long missing = adopted.epoch() - zxid;
              if (missing <= 0) {
                send(adopted, version);
              } else if (missing > RAISE_LIMIT) {
                refuse(
                    "ZooKeeper has had fewer changes than the directory has epochs: zxid="
                        + zxid
                        + " epoch="
                        + adopted.epoch());
              } else {
                raise(adopted, version, Math.min(missing, RAISE_BATCH));
              }
            });
  }

  private List<CuratorOp> writeParent(TransactionOp operation) throws Exception {
    return List.of(operation.setData().forPath(context.paths().adopted(), new byte[0]));
  }

  private void send(DirectoryGroups adopted, int version) {
    context
        .ensemble()
        .change(
            operation -> changes(operation, adopted, version),
            (code, event) -> onSent(adopted, code, event));
  }

  private List<CuratorOp> changes(TransactionOp operation, DirectoryGroups adopted, int version)
      throws Exception {
    final ClusterPaths paths = context.paths();
    final List<CuratorOp> changes = new ArrayList<>();
    changes.add(write(operation, nonce, version));
    final byte[] cluster = ClusterPaths.content(context.view().cluster());
    changes.add(operation.setData().forPath(paths.groups(), cluster)); // as each creation
    for (final GroupState group : adopted.groups()) {
      final byte[] named = ClusterPaths.content(group.getGroup());
      changes.add(operation.create().forPath(paths.name(group.getIndex()), named));
      changes.add(operation.create().forPath(paths.group(group.getGroup()), content(group)));
    }
    return changes;
  }

  private static byte[] content(GroupState group) {
    return group.toBuilder().clearVersion().build().toByteArray();
  }

  private void onSent(DirectoryGroups adopted, Code code, CuratorEvent event) {
    if (Ensemble.isLoss(code)) {
      loseAnswer();
      return;
    }
    switch (code) {
      case OK -> {
        final Stat parent = event.getOpResults().get(1).getResultStat();
        for (final GroupState group : adopted.groups()) {
          context.view().onCreated(group.getGroup(), content(group), parent.getMzxid());
        }
        end(Result.DONE, null);
      }
      case BADVERSION -> proceed(); // another request was faster
      case NODEEXISTS -> {
        if (isThere(event, NONCE)) {
          proceed();
        } else {
          refuse(existing(adopted, event));
        }
      }
      default -> fail(code);
    }
  }

  private static boolean isThere(CuratorEvent event, int place) {
    return event.getOpResults().get(place).getError() == Code.NODEEXISTS.intValue();
  }

  private static String existing(DirectoryGroups adopted, CuratorEvent event) {
    for (int i = 0; i < adopted.groups().size(); i++) {
      final GroupState group = adopted.groups().get(i);
      if (isThere(event, FIRST_NAME + 2 * i)) {
        return DirectoryGroups.nameTaken(group.getIndex());
      }
      if (isThere(event, FIRST_NAME + 2 * i + 1)) {
        return String.format("the cluster has a group of this id: group=%016x", group.getGroup());
      }
    }
    return "a znode is there already";
  }

  private void refuse(String reason) {
    obstacle.text = reason;
    end(Result.CONFLICT, null);
  }

  @Override
  String subject() {
    return "to adopt a directory: node=" + Long.toHexString(node);
  }
}
