package dev.ringfetch.index.service;

import dev.ringfetch.index.coordinator.CoordinatorProvider;
import dev.ringfetch.index.data.DataDirectory;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;

/** The address of a cluster: that of its coordinator. */
public record ClusterAddress(URI uri) {
  /**
   * Creates the node of these indexes.
   *
   * @param replicas nodes that an index is to have which is created there
   * @param shmDirectory of the rings between nodes; null for the default
   * @throws IOException if the coordinator cannot be opened, with the reason as its message
   * @throws IllegalArgumentException if the address is malformed
   */
  public ClusterNode node(Indexes indexes, int replicas, Path shmDirectory) throws IOException {
    return new ClusterNode(
        indexes, CoordinatorProvider.of(uri), replicas, DataDirectory.bootId(), shmDirectory);
  }
}
