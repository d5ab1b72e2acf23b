package dev.ringfetch.index.cli;

import dev.ringfetch.index.v1.DescribeClusterResponse;
import dev.ringfetch.index.v1.GroupDescription;
import dev.ringfetch.index.v1.MemberDescription;
import dev.ringfetch.index.v1.NodeDescription;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * A view of a cluster, merged from its nodes' answers of about the same time. Each index has the
 * newest configuration that any node knows; the lag of members comes from their leaders.
 *
 * @param nodes by their addresses
 * @param indexes by their names
 */
public record ClusterView(List<NodeView> nodes, List<IndexView> indexes) {
  private static final String LEADING = "LEADING";
  private static final String JOINING = "JOINING";

  /**
   * A node.
   *
   * @param id its number; 0 if the node is not known to the others and did not answer
   * @param address host and port
   * @param answers whether the node answered
   * @param coordinated whether the node reaches the coordinator, by its own answer
   * @param disk the state of its disk, by its own answer
   */
  public record NodeView(
      long id, String address, boolean answers, boolean coordinated, DiskView disk) {

    static NodeView silent(long id, String address) {
      return new NodeView(id, address, false, false, DiskView.NONE);
    }
  }

  /**
   * The state of a node's disk.
   *
   * @param obstacle why the disk accepts no more data; empty if it does, or if unknown
   * @param millis for how long; 0 if unknown
   */
  public record DiskView(String obstacle, long millis) {
    static final DiskView NONE = new DiskView("", 0);

    /** Whether the node has reported that its disk is full or refuses writes. */
    public boolean refuses() {
      return !obstacle.isEmpty();
    }
  }

  /**
   * A member of an index other than the leader.
   *
   * @param address of its node, or the node's number in hexadecimal if the address is unknown
   * @param lag records that it lacks; empty if the leader did not report it
   * @param replicatedBy the transport of its records: {@code rpc}, or {@code one-sided} and the
   *     fabric; empty if the leader did not report it
   */
  public record MemberView(String address, OptionalLong lag, String replicatedBy) {}

  /**
   * An index and its configuration.
   *
   * @param leader address of the leader
   * @param served whether the leader answered that it leads, in a configuration that serves
   * @param lost whether no live node has all records, as far as the nodes know
   * @param replicas wanted number of members, the leader included
   * @param followers the other members
   * @param joining addresses of nodes that receive a snapshot
   */
  public record IndexView(
      String index,
      long epoch,
      String leader,
      boolean served,
      boolean lost,
      int replicas,
      List<MemberView> followers,
      List<String> joining) {

    /** Members, the leader included. */
    public int members() {
      return followers.size() + 1;
    }

    /** Whether it is served and has the wanted number of members. */
    public boolean isComplete() {
      return served && members() >= replicas;
    }
  }

  /**
   * Merges answers.
   *
   * @param answers of nodes, by their addresses; empty for nodes that did not answer
   */
  static ClusterView of(Map<String, Optional<DescribeClusterResponse>> answers) {
    final Collection<DescribeClusterResponse> given =
        answers.values().stream().flatMap(Optional::stream).toList();
    final Map<Long, String> addresses = addresses(given);
    final Map<String, NodeView> nodes = new TreeMap<>();
    addresses.forEach((id, address) -> nodes.put(address, NodeView.silent(id, address)));
    answers.forEach(
        (address, answer) -> {
          if (answer.isPresent()) {
            final DescribeClusterResponse said = answer.get();
            final String name = addresses.getOrDefault(said.getNode(), address);
            nodes.put(
                name,
                new NodeView(
                    said.getNode(),
                    name,
                    true,
                    said.getCoordinatorReached(),
                    new DiskView(said.getDiskObstacle(), said.getDiskObstacleMs())));
          } else {
            nodes.putIfAbsent(address, NodeView.silent(0, address));
          }
        });
    final Map<String, IndexView> indexes = new TreeMap<>();
    for (final GroupDescription group : newest(given).values()) {
      indexes.put(group.getIndex(), view(group, given, addresses));
    }
    return new ClusterView(List.copyOf(nodes.values()), List.copyOf(indexes.values()));
  }

  /**
   * Addresses of live nodes by their ids, from the answers of nodes that reach the coordinator;
   * from all answers if none does.
   */
  private static Map<Long, String> addresses(Collection<DescribeClusterResponse> answers) {
    final boolean anyReaches = answers.stream().anyMatch(each -> each.getCoordinatorReached());
    final Map<Long, String> addresses = new TreeMap<>();
    for (final DescribeClusterResponse answer : answers) {
      if (answer.getCoordinatorReached() == anyReaches) {
        for (final NodeDescription node : answer.getNodesList()) {
          addresses.put(node.getNode(), node.getAddress());
        }
      }
    }
    return addresses;
  }

  private static Map<String, GroupDescription> newest(Collection<DescribeClusterResponse> answers) {
    final Map<String, GroupDescription> newest = new TreeMap<>();
    for (final DescribeClusterResponse answer : answers) {
      for (final GroupDescription group : answer.getGroupsList()) {
        newest.merge(
            group.getIndex(),
            group,
            (one, other) ->
                Comparator.comparingLong(GroupDescription::getEpoch)
                            .thenComparing(GroupDescription::getEstablished)
                            .compare(one, other)
                        < 0
                    ? other
                    : one);
      }
    }
    return newest;
  }

  private static IndexView view(
      GroupDescription group,
      Collection<DescribeClusterResponse> answers,
      Map<Long, String> addresses) {
    final List<String> joining = new ArrayList<>();
    boolean isWhole = false;
    GroupDescription ofLeader = null;
    for (final DescribeClusterResponse answer : answers) {
      for (final GroupDescription own : answer.getGroupsList()) {
        if (!own.getIndex().equals(group.getIndex())) {
          continue;
        }
        isWhole |= own.getWhole();
        if (own.getRole().equals(JOINING)) {
          joining.add(name(answer.getNode(), addresses));
        } else if (answer.getNode() == group.getLeader()
            && own.getEpoch() == group.getEpoch()
            && own.getRole().equals(LEADING)) {
          ofLeader = own;
        }
      }
    }
    final List<MemberView> followers = new ArrayList<>();
    for (final MemberDescription member : (ofLeader == null ? group : ofLeader).getMembersList()) {
      if (member.getNode() != group.getLeader()) {
        followers.add(
            new MemberView(
                name(member.getNode(), addresses),
                ofLeader == null ? OptionalLong.empty() : OptionalLong.of(member.getLag()),
                member.getReplicatedBy()));
      }
    }
    return new IndexView(
        group.getIndex(),
        group.getEpoch(),
        name(group.getLeader(), addresses),
        ofLeader != null && ofLeader.getEstablished(),
        ofLeader == null && !isWhole && group.getLost(),
        group.getReplicas(),
        followers,
        joining);
  }

  private static String name(long node, Map<Long, String> addresses) {
    return addresses.getOrDefault(node, "node " + Long.toHexString(node));
  }

  /** The view of an index; empty if no node knows the index. */
  public Optional<IndexView> index(String name) {
    return indexes.stream().filter(index -> index.index().equals(name)).findFirst();
  }

  /** Nodes that answered. */
  public int answering() {
    return (int) nodes.stream().filter(NodeView::answers).count();
  }

  /** Nodes that answered, and reach the coordinator. */
  public int coordinated() {
    return (int) nodes.stream().filter(NodeView::coordinated).count();
  }
}
