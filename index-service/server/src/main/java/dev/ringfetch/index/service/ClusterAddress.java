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
   * @throws IOException if the coordinator cannot be opened, or the data directory is that of a
   *     server alone, with the reason as its message
   * @throws IllegalArgumentException if the address is malformed
   */
  public ClusterNode node(Indexes indexes, int replicas, Path shmDirectory) throws IOException {
    final DataDirectory data = indexes.memory().data();
    if (data != null && data.isAlone()) {
      throw new IOException(
          "the data directory is that of a server alone: add --adopt (adopt in a program), with"
              + " which the cluster takes it with its indexes, or start on an empty directory:"
              + " data="
              + data);
    }
    return node(indexes, new NodeStart.OfCluster(indexes.memory()), replicas, shmDirectory);
  }

  /**
   * Same, but if the data directory is that of a server alone, the cluster first adopts it with its
   * indexes: within {@link Indexes#recoverAndServe}, which throws if the cluster refuses it, or
   * does not answer within a minute.
   */
  public ClusterNode adopt(Indexes indexes, int replicas, Path shmDirectory) throws IOException {
    final IndexMemory memory = indexes.memory();
    final DataDirectory data = memory.data();
    if (data == null || !data.isAlone()) {
      return node(indexes, replicas, shmDirectory);
    }
    return node(
        indexes, new NodeStart.Adopted(memory, data, uri, replicas), replicas, shmDirectory);
  }

  private ClusterNode node(Indexes indexes, NodeStart start, int replicas, Path shmDirectory)
      throws IOException {
    return new ClusterNode(
        indexes,
        CoordinatorProvider.of(uri),
        start,
        replicas,
        DataDirectory.bootId(),
        shmDirectory);
  }
}
