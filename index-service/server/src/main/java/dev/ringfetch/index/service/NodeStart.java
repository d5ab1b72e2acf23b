package dev.ringfetch.index.service;

import dev.ringfetch.index.coordinator.Adoption;
import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.coordinator.CoordinatorProvider;
import dev.ringfetch.index.coordinator.LocalCoordinator;
import dev.ringfetch.index.data.DataDirectory;
import dev.ringfetch.index.log.NodeRecovery;
import java.io.IOException;
import java.net.URI;
import java.util.concurrent.TimeUnit;
import org.agrona.ErrorHandler;

/**
 * The start of a node: what it does with the groups that its journal has, once it has read them.
 */
abstract class NodeStart {
  /** Whether there is never another node. */
  boolean isAlone() {
    return false;
  }

  /** Whether no other node ever had the groups of the journal. */
  boolean wasAlone() {
    return isAlone();
  }

  /**
   * Decides whether the node goes on with the groups, and prepares for it.
   *
   * @param found what the journal and orderly ends have left
   * @param isCopied whether the directory is a copy on which no server has started
   * @throws IOException if the node must not go on, with the reason as its message
   */
  abstract void onRead(NodeRecovery found, boolean isCopied) throws IOException;

  /**
   * The node is about to end in order, and to write what it has of indexes in memory.
   *
   * @param errors is told if the next start will not take that
   */
  void onStop(ErrorHandler errors) {}

  /** The start of the only node, whose coordinator is in its data directory, or in memory. */
  static final class Alone extends NodeStart {
    private final IndexMemory memory;
    private final LocalCoordinator.Truth truth;
    private final long node;

    Alone(IndexMemory memory, LocalCoordinator.Truth truth, long node) {
      this.memory = memory;
      this.truth = truth;
      this.node = node;
    }

    @Override
    boolean isAlone() {
      return true;
    }

    @Override
    void onRead(NodeRecovery found, boolean isCopied) throws IOException {
      memory.checkRecovered(); // nobody else has what was given up
      truth.continueFrom(node, found.states(), found.stopped(), isCopied);
    }

    @Override
    void onStop(ErrorHandler errors) {
      truth.flush(errors::onError);
    }
  }

  /** The start of a node of a cluster, which has other nodes, or may have them. */
  static final class OfCluster extends NodeStart {
    private final IndexMemory memory;

    OfCluster(IndexMemory memory) {
      this.memory = memory;
    }

    @Override
    void onRead(NodeRecovery found, boolean isCopied) throws IOException {
      if (isCopied) {
        throw new IOException(
            "a copy of a node's directory; start on an empty one: data=" + memory.data());
      }
    }
  }

  /** The start of a node on a directory that was alone, which the cluster adopts. */
  static final class Adopted extends NodeStart {
    private static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(60);

    private final IndexMemory memory;
    private final DataDirectory data;
    private final URI cluster;
    private final int replicas;

    /**
     * Creates it.
     *
     * @param memory with a data directory
     * @param replicas that the directory's indexes are to have
     */
    Adopted(IndexMemory memory, DataDirectory data, URI cluster, int replicas) {
      this.memory = memory;
      this.data = data;
      this.cluster = cluster;
      this.replicas = replicas;
    }

    @Override
    boolean wasAlone() {
      return true;
    }

    @Override
    void onRead(NodeRecovery found, boolean isCopied) throws IOException {
      if (isCopied) {
        throw new IOException(
            "a copy of a data directory; start it once without --cluster first: data=" + data);
      }
      memory.checkRecovered();
      final Adoption adoption =
          new Adoption(
              data.path(), data.node(), found.states(), found.stopped(), replicas, data::adopt);
      try (Coordinator coordinator = CoordinatorProvider.of(cluster)) {
        adoption.run(coordinator, LIMIT_NS, memory::checkRecovery);
      }
    }
  }
}
