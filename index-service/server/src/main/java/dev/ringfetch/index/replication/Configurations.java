package dev.ringfetch.index.replication;

import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Member;
import dev.ringfetch.index.v1.Node;

/** Questions to configurations. */
final class Configurations {
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  private Configurations() {}

  /** The configuration whose members may win: the last established one, or the first. */
  static Configuration base(GroupState group) {
    return group.hasEstablished() ? group.getEstablished() : group.getWon();
  }

  /** Whether a process is a member. */
  static boolean has(Configuration configuration, Node node) {
    return configuration.getMembersList().stream().anyMatch(member -> is(member, node));
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
}
