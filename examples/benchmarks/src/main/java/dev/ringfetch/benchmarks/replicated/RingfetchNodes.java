package dev.ringfetch.benchmarks.replicated;

import dev.ringfetch.benchmarks.stores.StoreClient;
import dev.ringfetch.benchmarks.stores.StoreKind;
import dev.ringfetch.examples.cluster.ClusterProcess;
import dev.ringfetch.examples.cluster.LocalCluster;
import dev.ringfetch.examples.cluster.TemporaryCluster;
import dev.ringfetch.index.cli.ClusterView;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** An index of Ringfetch: nodes, and a coordinator whose process counts as none of the members. */
final class RingfetchNodes implements ReplicatedStore {
  /** How records get to members, whatever that is. */
  static final String ANY = "auto";

  private final TemporaryCluster temporary;
  private final LocalCluster.NodeOptions options;
  private final String shown;
  private final List<ClusterProcess> nodes;

  private RingfetchNodes(
      TemporaryCluster temporary,
      LocalCluster.NodeOptions options,
      String shown,
      List<ClusterProcess> nodes) {
    this.temporary = temporary;
    this.options = options;
    this.shown = shown;
    this.nodes = nodes;
  }

  /**
   * Starts the nodes.
   *
   * @param count of nodes
   * @param replication how records get to members, as the nodes' option has it
   * @param shown the same, as the leader says it; empty: any
   * @param fabric that nodes and clients have; empty: all
   * @param data folder for indexes on disk; null: they are in memory
   */
  static RingfetchNodes start(int count, String replication, String shown, String fabric, Path data)
      throws IOException {
    final TemporaryCluster temporary = TemporaryCluster.open("bench");
    boolean started = false;
    try {
      final LocalCluster.NodeOptions options =
          LocalCluster.NodeOptions.DEFAULT.replicas(count).replication(replication).fabric(fabric);
      if (data != null) {
        temporary.cluster().keepData(data);
      }
      temporary.cluster().up(count, options);
      started = true;
      return new RingfetchNodes(
          temporary, options, shown, new ArrayList<>(temporary.cluster().nodes()));
    } finally {
      if (!started) {
        temporary.close();
      }
    }
  }

  @Override
  public StoreKind kind() {
    return StoreKind.nodes;
  }

  @Override
  public String target() {
    return nodes.stream().map(ClusterProcess::address).collect(Collectors.joining(","));
  }

  @Override
  public List<Long> processes() {
    return nodes.stream().map(ClusterProcess::pid).toList();
  }

  @Override
  public long leader(long number) throws IOException {
    final String address = whole().index(StoreClient.INDEX).orElseThrow().leader();
    return nodes.stream()
        .filter(node -> node.address().equals(address))
        .findFirst()
        .orElseThrow(() -> new IOException("no node of ours leads: " + address))
        .pid();
  }

  @Override
  public void restart(long process) throws IOException {
    for (int i = 0; i < nodes.size(); i++) {
      final ClusterProcess node = nodes.get(i);
      if (node.pid() == process) {
        nodes.set(i, temporary.cluster().start(node.name(), node.port(), options));
      }
    }
  }

  @Override
  public void awaitWhole() throws IOException {
    final var unused = whole();
  }

  private ClusterView whole() throws IOException {
    return temporary
        .cluster()
        .awaitAnswers(
            "the index is not whole",
            view ->
                Optional.of(view)
                    .flatMap(each -> each.index(StoreClient.INDEX))
                    .filter(ClusterView.IndexView::isComplete)
                    .filter(this::isReplicatedAsWanted)
                    .isPresent());
  }

  private boolean isReplicatedAsWanted(ClusterView.IndexView index) {
    return shown.isEmpty()
        || index.followers().stream().allMatch(each -> each.replicatedBy().equals(shown));
  }

  @Override
  public void close() {
    temporary.close();
  }
}
