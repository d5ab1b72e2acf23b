package dev.ringfetch.index;

import dev.ringfetch.index.service.ClusterAddress;
import dev.ringfetch.index.service.ClusterNode;
import dev.ringfetch.index.service.Indexes;
import dev.ringfetch.index.service.ReplicationPath;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options of a server that is a node of a cluster, and the node if they are set. */
final class ClusterOptions {
  @Option(
      names = "--cluster",
      paramLabel = "URI",
      description = "Node of zk://HOST:PORT[,HOST:PORT]/NAME.")
  private @Nullable URI cluster;

  @Option(
      names = "--adopt",
      fallbackValue = "true",
      description = "Take --data of a server alone into --cluster.")
  private boolean adopt;

  @Option(
      names = "--replicas",
      paramLabel = "N",
      defaultValue = "" + ClusterNode.REPLICAS_DEFAULT,
      converter = AtLeast.One.class,
      description = "Nodes that have an index created here. Default: ${DEFAULT-VALUE}.")
  private int replicas;

  @Option(
      names = "--replication",
      paramLabel = "PATH",
      defaultValue = "auto",
      converter = ReplicationPathName.class,
      description = "auto, one-sided or rpc. Default: ${DEFAULT-VALUE}.")
  private ReplicationPath replication;

  @Option(
      names = "--node-timeout",
      paramLabel = "MILLIS",
      defaultValue = "500",
      converter = NodeTimeout.class,
      description = "A node silent for so long is dead. Default: ${DEFAULT-VALUE}.")
  private Duration nodeTimeout;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  /** Whether the server is a node of a cluster. */
  boolean areSet() {
    return cluster != null;
  }

  /** Throws if the options do not fit each other, or the data directory's. */
  void check(@Nullable Path data, boolean adoptCopy) {
    if (adoptCopy && cluster != null) {
      throw misuse(
          "--adopt-copy is for a server without --cluster: a node starts on an empty --data, and"
              + " gets all from the others");
    }
    if (adopt && (cluster == null || data == null)) {
      throw misuse("--adopt needs --cluster URI and --data PATH");
    }
  }

  /**
   * Creates the node of these indexes.
   *
   * @param fabrics over which records reach other nodes' memory, the best first
   */
  ClusterNode join(
      Indexes indexes, ListenOptions listening, List<String> fabrics, @Nullable Path shmDirectory)
      throws IOException {
    final ClusterNode node;
    try {
      final ClusterAddress address = new ClusterAddress(cluster);
      node =
          adopt
              ? address.adopt(indexes, replicas, shmDirectory)
              : address.node(indexes, replicas, shmDirectory);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), "--cluster: " + e.getMessage(), e);
    }
    if (listening.tls() != null) {
      node.credentials(listening.tls().channel());
    }
    try {
      return node.nodeTimeout(nodeTimeout).replication(replication, fabrics);
    } catch (IOException e) {
      node.close();
      throw e;
    }
  }

  private ParameterException misuse(String text) {
    return new ParameterException(spec.commandLine(), text);
  }
}
