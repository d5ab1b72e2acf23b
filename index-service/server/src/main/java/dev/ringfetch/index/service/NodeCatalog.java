package dev.ringfetch.index.service;

import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.node.AcceptedLosses;
import dev.ringfetch.index.node.CatchUp;
import dev.ringfetch.index.node.ClusterDescription;
import dev.ringfetch.index.node.IndexCatalog;
import dev.ringfetch.index.node.IndexCreations;
import dev.ringfetch.index.node.LostGroups;
import dev.ringfetch.index.peers.NodeCertificate;
import dev.ringfetch.index.replication.Replicas;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.DescribeClusterResponse;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.IndexDescription;
import dev.ringfetch.index.v1.RecoverIndexRequest;
import io.grpc.Status;
import io.grpc.StatusException;
import java.util.List;
import javax.net.ssl.SSLSession;

/**
 * The catalog of a node: the indexes of its cluster, of which it leads some.
 *
 * <p>Safe for use by many threads.
 */
final class NodeCatalog implements IndexCatalog {
  private final Indexes indexes;
  private final Replicas replicas;
  private final long self;
  private final boolean isAlone;
  private final Requests requests;

  /** The parts of the node that carry requests out. */
  record Requests(
      CatchUp syncs,
      IndexCreations creations,
      AcceptedLosses losses,
      ClusterDescription description) {}

  /**
   * Creates it.
   *
   * @param self number of the node
   * @param isAlone whether there is never another node
   */
  NodeCatalog(Indexes indexes, Replicas replicas, long self, boolean isAlone, Requests requests) {
    this.indexes = indexes;
    this.replicas = replicas;
    this.self = self;
    this.isAlone = isAlone;
    this.requests = requests;
  }

  @Override
  public boolean isOfCluster() {
    return !isAlone;
  }

  @Override
  public boolean isNode(SSLSession caller) {
    return replicas.living().values().stream()
        .anyMatch(node -> NodeCertificate.isOf(caller, node.getAddress()));
  }

  @Override
  public void checkElsewhere(String name) throws StatusException {
    final GroupState group = replicas.state(name);
    if (group == null) {
      if (!replicas.isCoordinated()) {
        throw Status.UNAVAILABLE
            .withDescription(
                "the coordinator is not reached, so it is unknown whether there is such an index:"
                    + " index="
                    + name)
            .asException();
      }
      return;
    }
    if (group.hasEstablished()) { // else it is being created, and nothing was acknowledged
      throw LostGroups.elsewhere(group, self, replicas.living());
    }
  }

  @Override
  public void sync(Synced told) {
    requests.syncs.sync(told);
  }

  @Override
  public List<String> addresses() {
    return LostGroups.addresses(replicas.living());
  }

  @Override
  public void create(CreateIndexRequest wanted, Created created) {
    final String index = wanted.getIndex();
    final Durability durability = wanted.getDurability();
    final IndexMemory memory = indexes.memory();
    final boolean isKept =
        (durability == Durability.DURABILITY_UNSPECIFIED ? memory.durability() : durability)
            != Durability.MEMORY;
    if (isKept && memory.statuses().isOverQuota() && replicas.state(index) == null) {
      created.onEnd(0, false, memory.statuses().overQuota("index=" + index).asException());
      return;
    }
    requests.creations.create(wanted, created);
  }

  @Override
  public void drop(String index, long incarnation, Created dropped) {
    requests.creations.drop(index, incarnation, dropped);
  }

  @Override
  public void recover(RecoverIndexRequest request, Recovered recovered) {
    requests.losses.recover(request, recovered);
  }

  @Override
  public DescribeClusterResponse describe() {
    return requests.description.describe();
  }

  @Override
  public List<IndexDescription> ledElsewhere() {
    return replicas.states().stream()
        .filter(group -> indexes.find(group.getIndex()) == null)
        .map(group -> indexes.describeElsewhere(group.getIndex(), IndexDefinition.of(group)))
        .toList();
  }
}
