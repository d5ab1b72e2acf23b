package dev.ringfetch.index.replication;

import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.EpochBegin;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Member;
import dev.ringfetch.index.v1.Node;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Predicates of configurations and their members. */
final class Configurations {
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  private Configurations() {}

  /** The configuration whose members may win: the last established one, or the first. */
  static Configuration base(GroupState group) {
    return group.hasEstablished() ? group.getEstablished() : group.getWon();
  }

  /** The disks that have a record of a group before it is committed. */
  static AwaitedDisks awaitedDisks(GroupState group) {
    return AwaitedDisks.of(durability(group));
  }

  private static Durability durability(GroupState group) {
    final IndexDefinition definition = IndexDefinition.decoded(group.getDefinition());
    return definition == null ? Durability.DURABILITY_UNSPECIFIED : definition.durability();
  }

  /**
   * The position up to which an older log belongs to the group: where the next established epoch
   * began.
   *
   * @param epoch of the log, earlier than the group's
   * @param end position of its last record
   * @return -1 if unknown, or if the group continued without records that may be in the log
   */
  static long shared(GroupState group, long epoch, long end) {
    return isBeforeRecovery(group, epoch) ? -1 : given(group, epoch, end);
  }

  /** Whether an accepted loss may have discarded records of a log of this epoch. */
  static boolean isBeforeRecovery(GroupState group, long epoch) {
    return epoch <= group.getRecovery().getEpoch();
  }

  /**
   * As {@link #shared}, as far as the group had it before it went on without something, and has it
   * yet: what was given up then may have been other records.
   */
  static long given(GroupState group, long epoch, long end) {
    long given = end;
    for (int i = group.getBeginsCount() - 1; i >= 0; i--) {
      final EpochBegin begin = group.getBegins(i);
      if (begin.getEpoch() <= epoch) {
        return given;
      }
      given = Math.min(given, begin.getPosition());
    }
    return group.getBeginsCount() < Coordinator.BEGINS_LIMIT ? given : -1;
  }

  /** Whether a process is a member. */
  static boolean has(Configuration configuration, Node node) {
    return configuration.getMembersList().stream().anyMatch(member -> is(member, node));
  }

  /**
   * Whether no member of a configuration is announced.
   *
   * @param byDirectory whether nodes count in whatever process
   */
  static boolean isGone(
      Configuration configuration, Map<Long, Node> living, Node self, boolean byDirectory) {
    return configuration.getMembersList().stream()
        .noneMatch(
            member -> {
              final Node node =
                  member.getNode() == self.getId() ? self : living.get(member.getNode());
              return node != null && (byDirectory || is(member, node));
            });
  }

  /** Whether a node is a member, in this process or another. */
  static boolean hasNode(Configuration configuration, long node) {
    return configuration.getMembersList().stream().anyMatch(member -> member.getNode() == node);
  }

  /** Whether a member is this process. */
  static boolean is(Member member, Node node) {
    return node != null
        && member.getNode() == node.getId()
        && member.getIncarnation() == node.getIncarnation();
  }

  /** Whether a process leads a configuration. */
  static boolean leads(Configuration configuration, Node node) {
    return configuration.getLeader() == node.getId() && has(configuration, node);
  }

  static Member member(Node node) {
    return Member.newBuilder().setNode(node.getId()).setIncarnation(node.getIncarnation()).build();
  }

  /** The weight of a node for a group: those with the largest are chosen (rendezvous hashing). */
  static long weight(long group, long node) {
    long hash = (group * GOLDEN) ^ node;
    hash = (hash ^ (hash >>> 30)) * 0xBF58476D1CE4E5B9L;
    hash = (hash ^ (hash >>> 27)) * 0x94D049BB133111EBL;
    return hash ^ (hash >>> 31);
  }

  /**
   * Whether an epoch is over: a later configuration serves, or an operator has the group go on
   * without its leader, whom nobody has told that.
   *
   * @param group null if the group is unknown
   */
  static boolean isOver(@Nullable GroupState group, long epoch) {
    return group != null && epoch < group.getEstablished().getEpoch();
  }

  /**
   * Whether an epoch is known to be led by another node than this one.
   *
   * @param state null if the group is unknown
   */
  static boolean isLedByOther(@Nullable GroupState state, long epoch, long leader) {
    return state != null
        && (isLedByOther(state.getWon(), epoch, leader)
            || isLedByOther(state.getEstablished(), epoch, leader));
  }

  private static boolean isLedByOther(Configuration configuration, long epoch, long leader) {
    return configuration.getEpoch() == epoch && configuration.getLeader() != leader;
  }
}
