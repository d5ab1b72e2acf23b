package dev.ringfetch.index.service;

import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.data.DataDirectory;
import dev.ringfetch.index.v1.Node;
import java.io.IOException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The admission of a process to its cluster: compares the cluster with that of the data directory.
 *
 * @param data directory of the process; null if it has none
 * @param refused receives the reason if the process cannot take part
 */
record NodeAdmission(@Nullable DataDirectory data, Consumer<String> refused)
    implements Coordinator.Admission {
  @Override
  public boolean onCluster(long cluster) {
    try {
      if (data != null) {
        data.join(cluster);
      }
      return true;
    } catch (IOException e) {
      refused.accept(e.getMessage());
      return false;
    }
  }

  @Override
  public void onTaken(Node other) {
    refused.accept(
        "the server at "
            + other.getAddress()
            + " is this node already: it runs on the same --data, or one is a copy of the other's;"
            + " start each node on a directory of its own");
  }
}
