package dev.ringfetch.index.service;

import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.coordinator.CoordinatorProvider;
import dev.ringfetch.index.coordinator.LocalCoordinator;
import dev.ringfetch.index.data.DataDirectory;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;

/**
 * The address of a cluster: that of its coordinator, or {@code local} for a cluster of one node,
 * whose coordinator is in the node's data directory, or in memory without one.
 */
public record ClusterAddress(URI uri) {
  /**
   * Creates the node of these indexes.
   *
   * @param replicas nodes that an index is to have which is created there; of an only node: 1
   * @param shmDirectory of the rings between nodes; null for the default
   * @throws IOException if the coordinator cannot be opened, with the reason as its message
   * @throws IllegalArgumentException if the address is malformed
   */
  public ClusterNode node(Indexes indexes, int replicas, Path shmDirectory) throws IOException {
    final String bootId = DataDirectory.bootId();
    return uri.toString().equals("local")
        ? new ClusterNode(indexes, local(indexes), 1, bootId, shmDirectory).only()
        : new ClusterNode(indexes, CoordinatorProvider.of(uri), replicas, bootId, shmDirectory);
  }

  private static Coordinator local(Indexes indexes) throws IOException {
    final DataDirectory data = indexes.memory().data();
    final LocalCoordinator.Truth truth =
        data == null
            ? new LocalCoordinator.Truth()
            : LocalCoordinator.Truth.open(data.path(), data.cluster());
    return truth.connect();
  }
}
