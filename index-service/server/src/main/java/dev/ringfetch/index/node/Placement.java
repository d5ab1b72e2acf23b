package dev.ringfetch.index.node;

import com.google.common.hash.Hashing;
import dev.ringfetch.index.v1.Node;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/**
 * The choice of the nodes that a new index lives on: those of the largest hashes of index and node
 * (rendezvous hashing, Thaler and Ravishankar, 1998), so that indexes spread, and all nodes choose
 * the same.
 */
final class Placement {
  private Placement() {}

  /** The nodes of an index, up to so many; the leader first. */
  static List<Node> choose(Collection<Node> living, String index, int count) {
    return living.stream()
        .sorted(
            Comparator.comparingLong((Node node) -> weight(index, node.getId()))
                .thenComparingLong(Node::getId))
        .limit(count)
        .toList();
  }

  private static long weight(String index, long node) {
    return Hashing.murmur3_128()
        .newHasher()
        .putString(index, StandardCharsets.UTF_8)
        .putLong(node)
        .hash()
        .asLong();
  }
}
