package dev.ringfetch.index.coordinator;

import dev.ringfetch.index.v1.GroupState;
import java.util.List;

/**
 * The groups of a data directory that was alone, for the cluster that is to adopt them.
 *
 * @param node number of the directory's node, the only member of each group
 * @param nonce of the adoption; not 0
 * @param groups with their ids, names and established configurations
 * @param epoch the newest one that the directory has: later ones are to be greater
 */
public record DirectoryGroups(long node, long nonce, List<GroupState> groups, long epoch) {
  /** Copies the list. */
  public DirectoryGroups {
    groups = List.copyOf(groups);
    if (node == 0 || nonce == 0) {
      throw new IllegalArgumentException("node=" + node + " nonce=" + nonce);
    }
    for (final GroupState group : groups) {
      if (group.getGroup() == 0 || group.hasWon() || group.getEstablished().getEpoch() > epoch) {
        throw new IllegalArgumentException("epoch=" + epoch + " group=" + group);
      }
    }
  }

  /** The obstacle if an index of a name is there. */
  public static String nameTaken(String index) {
    return "the cluster has an index of this name: drop one of the two: index=" + index;
  }

  /** The obstacle if the cluster has adopted the directory, or a copy of it, in another move. */
  public String adoptedBefore() {
    return String.format(
        "the cluster has adopted this directory, or a copy of it, before: node=%016x", node);
  }
}
