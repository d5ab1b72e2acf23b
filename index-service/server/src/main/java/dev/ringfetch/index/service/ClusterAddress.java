package dev.ringfetch.index.service;

import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.coordinator.CoordinatorProvider;
import dev.ringfetch.index.coordinator.LocalCoordinator;
import dev.ringfetch.index.data.DataDirectory;
import java.io.IOException;
import java.net.URI;

/**
 * The address of a cluster: that of its coordinator, or {@code local} for a cluster of one node,
 * whose coordinator is in the node's data directory, or in memory without one.
 */
public record ClusterAddress(URI uri) {
  /** Whether the cluster has one node. */
  public boolean isLocal() {
    return uri.toString().equals("local");
  }

  /**
   * Opens the coordinator for the node of these indexes.
   *
   * @throws IOException if it cannot be opened, with the reason as its message
   * @throws IllegalArgumentException if the address is malformed
   */
  public Coordinator open(Indexes indexes) throws IOException {
    if (!isLocal()) {
      return CoordinatorProvider.of(uri);
    }
    final DataDirectory data = indexes.memory().data();
    final LocalCoordinator.Truth truth =
        data == null
            ? new LocalCoordinator.Truth()
            : LocalCoordinator.Truth.open(data.path(), data.cluster());
    return truth.connect();
  }
}
