package dev.ringfetch.index.node;

import dev.ringfetch.index.host.Leadership;
import dev.ringfetch.index.replication.Confirmation;
import dev.ringfetch.index.replication.Replica;
import dev.ringfetch.index.replication.Replicas;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.GateMember;
import dev.ringfetch.index.v1.GrantResponse;
import dev.ringfetch.index.v1.Member;
import dev.ringfetch.index.v1.Node;
import io.grpc.Status;
import io.grpc.StatusException;

/**
 * The leadership of a node's groups, as its replicas know of it: whether the node leads still, and
 * at which gates clients find that out themselves.
 *
 * <p>Safe for use by many threads.
 */
public final class GroupLeadership {
  private final long self;
  private final Replicas replicas;

  /**
   * Creates it.
   *
   * @param self id of the node
   */
  public GroupLeadership(long self, Replicas replicas) {
    this.self = self;
    this.replicas = replicas;
  }

  /** As {@link Leadership.Barrier#confirm}. */
  public void confirm(long group, Leadership.Told told) {
    final Replica replica = replicas.find(group);
    if (replica == null) {
      told.onConfirmed(false);
    } else {
      replica.confirm(new Question(told));
    }
  }

  /** As {@link Leadership.Gates#describe}. */
  public void describeGates(long group, GrantResponse.Builder grant) throws StatusException {
    final Replica replica = replicas.find(group);
    final Configuration configuration = replica == null ? null : replica.status().readable();
    if (configuration == null) {
      throw Status.FAILED_PRECONDITION
          .withDescription("no epoch of the index serves here now: group=" + group)
          .asException();
    }
    grant.setGroup(group).setGroupEpoch(configuration.getEpoch());
    for (final Member member : configuration.getMembersList()) {
      final Node node = replicas.living().get(member.getNode());
      if (node == null || node.getIncarnation() != member.getIncarnation()) {
        throw Status.FAILED_PRECONDITION
            .withDescription("a member is not known to live: node=" + member.getNode())
            .asException();
      }
      final GateMember.Builder one =
          GateMember.newBuilder()
              .setNode(node.getId())
              .setIncarnation(node.getIncarnation())
              .setAddress(node.getAddress());
      if (node.getId() == self) {
        grant.addMembers(0, one);
      } else {
        grant.addMembers(one);
      }
    }
  }

  /** A read that asks whether this node leads. */
  private static final class Question extends Confirmation {
    private final Leadership.Told told;

    Question(Leadership.Told told) {
      this.told = told;
    }

    @Override
    public void onConfirmed(boolean leads) {
      told.onConfirmed(leads);
    }
  }
}
