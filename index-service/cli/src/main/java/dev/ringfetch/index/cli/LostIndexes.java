package dev.ringfetch.index.cli;

import dev.ringfetch.index.v1.DescribeClusterResponse;
import dev.ringfetch.index.v1.GroupDescription;
import dev.ringfetch.index.v1.NodeDescription;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Indexes of a cluster of which no node lives that has all, and what the nodes have of them; put
 * together from the answers of nodes that reach the coordinator.
 *
 * @param lost by their names
 * @param silent addresses of nodes that live, as far as the coordinator knows, and do not answer
 * @param apart addresses of nodes that answer and do not reach the coordinator: they may have not
 *     begun, or be about to take part again
 * @param address of a node that answers and reaches the coordinator; empty: none does
 */
record LostIndexes(List<LostIndex> lost, Set<String> silent, Set<String> apart, String address) {
  private static final String LEADING = "LEADING";

  /**
   * A node that has something, or may have.
   *
   * @param node its number
   * @param epoch of its log; 0: it has none with which the index could go on
   * @param end position up to which the log's records are the group's
   * @param mayHaveMore whether it may have more than it says: nothing is given up before that is
   *     known
   */
  record Copy(String address, long node, long epoch, long end, boolean mayHaveMore) {}

  /**
   * An index.
   *
   * @param group its newest description
   * @param copies of the nodes that answer, the best one first
   */
  record LostIndex(GroupDescription group, List<Copy> copies) {
    /** The copy with which it goes on; empty: there is none, and it begins without entries. */
    Optional<Copy> best() {
      return copies.stream().filter(copy -> copy.epoch() != 0).findFirst();
    }

    /** The nodes that may have more than they say. */
    List<String> unknown() {
      return copies.stream().filter(Copy::mayHaveMore).map(Copy::address).toList();
    }
  }

  private static final Comparator<GroupDescription> AGE =
      Comparator.comparingLong(GroupDescription::getEpoch)
          .thenComparingInt(GroupDescription::getStateVersion);

  /** Puts answers together: of nodes by their addresses, empty where there was none. */
  static LostIndexes of(Map<String, Optional<DescribeClusterResponse>> answers) {
    final Map<String, DescribeClusterResponse> given = new TreeMap<>();
    answers.forEach(
        (address, answer) ->
            answer
                .filter(DescribeClusterResponse::getCoordinatorReached)
                .ifPresent(said -> given.put(address, said)));
    final Set<Long> answered = new TreeSet<>();
    answers.values().forEach(each -> each.ifPresent(said -> answered.add(said.getNode())));
    final Set<String> silent = new TreeSet<>();
    final Set<String> apart = new TreeSet<>();
    answers.forEach((address, answer) -> answer.ifPresent(said -> apart.add(address)));
    apart.removeAll(given.keySet());
    final Map<String, GroupDescription> newest = new TreeMap<>();
    for (final DescribeClusterResponse said : given.values()) {
      said.getNodesList().stream()
          .filter(node -> !answered.contains(node.getNode()))
          .map(NodeDescription::getAddress)
          .forEach(silent::add);
      for (final GroupDescription group : said.getGroupsList()) {
        newest.merge(
            group.getIndex(), group, (one, other) -> AGE.compare(one, other) < 0 ? other : one);
      }
    }
    final List<LostIndex> lost = new ArrayList<>();
    for (final GroupDescription group : newest.values()) {
      if (isLost(group, answers)) {
        lost.add(new LostIndex(group, copies(group.getIndex(), given)));
      }
    }
    return new LostIndexes(lost, silent, apart, given.keySet().stream().findFirst().orElse(""));
  }

  /** A leader that the coordinator has lost serves all the same. */
  private static boolean isLost(
      GroupDescription newest, Map<String, Optional<DescribeClusterResponse>> answers) {
    return newest.getLost()
        && answers.values().stream()
            .flatMap(Optional::stream)
            .flatMap(said -> said.getGroupsList().stream())
            .filter(group -> group.getIndex().equals(newest.getIndex()))
            .noneMatch(
                group ->
                    group.getRole().equals(LEADING)
                        || (group.getWhole() && AGE.compare(group, newest) == 0)
                        || (!group.getLost() && AGE.compare(group, newest) == 0));
  }

  private static List<Copy> copies(String index, Map<String, DescribeClusterResponse> given) {
    final List<Copy> copies = new ArrayList<>();
    given.forEach(
        (address, said) ->
            said.getGroupsList().stream()
                .filter(group -> group.getIndex().equals(index))
                .forEach(
                    group ->
                        copies.add(
                            new Copy(
                                address,
                                said.getNode(),
                                group.getLogEpoch(),
                                group.getLogPosition(),
                                group.getMayHaveMore()))));
    copies.sort(Comparator.comparingLong(Copy::end).thenComparingLong(Copy::epoch).reversed());
    return copies;
  }
}
