package dev.ringfetch.index.node;

import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.replication.Replicas;
import dev.ringfetch.index.store.StoreMemory;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.Member;
import dev.ringfetch.index.v1.Node;
import java.security.SecureRandom;
import java.util.List;
import java.util.function.ToIntFunction;

/**
 * The groups of indexes that are created: which nodes can be their members, and the states with
 * which they begin.
 */
public final class NewGroups {
  private final Replicas replicas;
  private final Durability durability;
  private final ToIntFunction<IndexKind> partitions;
  private final SecureRandom random = new SecureRandom();

  /**
   * Creates it.
   *
   * @param durability of indexes that name none
   * @param partitions of an index of a kind
   */
  public NewGroups(Replicas replicas, Durability durability, ToIntFunction<IndexKind> partitions) {
    this.replicas = replicas;
    this.durability = durability;
    this.partitions = partitions;
  }

  /** The level of an index that is to have this one; if unspecified, this node's default. */
  Durability durability(Durability named) {
    return named == Durability.DURABILITY_UNSPECIFIED ? durability : named;
  }

  /** The nodes that live and can have an index of a level. */
  List<Node> able(Durability durability) {
    return replicas.living().values().stream()
        .filter(node -> node.getDisk() || durability == Durability.MEMORY)
        .toList();
  }

  /** The state with which the group of an index begins on these nodes, the leader first. */
  GroupState first(CreateIndexRequest wanted, List<Node> chosen) {
    final IndexKind kind =
        wanted.getKind() == IndexKind.INDEX_KIND_UNSPECIFIED ? IndexKind.ORDERED : wanted.getKind();
    final IndexDefinition definition =
        new IndexDefinition(
            kind,
            wanted.getDurability(),
            partitions.applyAsInt(kind),
            random.nextLong(),
            incarnation(),
            wanted.hasAppends() ? wanted.getAppends() : null);
    final Configuration.Builder configuration =
        Configuration.newBuilder().setLeader(chosen.get(0).getId()).setNonce(nonce());
    for (final Node node : chosen) {
      configuration.addMembers(
          Member.newBuilder().setNode(node.getId()).setIncarnation(node.getIncarnation()));
    }
    return GroupState.newBuilder()
        .setIndex(wanted.getIndex())
        .setDefinition(definition.encoded())
        .setReplicas(wanted.getReplicas())
        .setWon(configuration)
        .build();
  }

  /** A number of a configuration; not 0. */
  long nonce() {
    return random.nextLong() | 1;
  }

  /** A number of an index, by which it differs from others of its name; not 0. */
  long incarnation() {
    return StoreMemory.mix(random.nextLong()) | 1;
  }
}
