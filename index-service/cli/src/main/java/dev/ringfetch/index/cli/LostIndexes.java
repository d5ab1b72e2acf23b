package dev.ringfetch.index.cli;

import dev.ringfetch.index.v1.DescribeClusterResponse;
import dev.ringfetch.index.v1.GroupDescription;
import dev.ringfetch.index.v1.NodeDescription;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The indexes of a cluster of which no live node has all records, merged from the answers of nodes
 * that reach the coordinator. A node that asks all others reports which records are left.
 *
 * @param lost their names, in order
 * @param silent addresses of nodes that the coordinator lists as live, and that do not answer
 * @param apart addresses of nodes that answer, but do not reach the coordinator: they may be
 *     starting, or about to return
 * @param address of a node that answers and reaches the coordinator; empty if none does
 * @param nodes the numbers of nodes by their addresses, as announced or as asked
 */
record LostIndexes(
    List<String> lost,
    Set<String> silent,
    Set<String> apart,
    String address,
    Map<String, Long> nodes) {
  private static final String LEADING = "LEADING";

  private static final Comparator<GroupDescription> AGE =
      Comparator.comparingLong(GroupDescription::getEpoch)
          .thenComparingInt(GroupDescription::getStateVersion);

  /**
   * Merges answers.
   *
   * @param answers of nodes, by their addresses; empty for nodes that did not answer
   */
  static LostIndexes of(Map<String, Optional<DescribeClusterResponse>> answers) {
    final Map<String, DescribeClusterResponse> given = new TreeMap<>();
    final Map<String, Long> nodes = new TreeMap<>();
    final Set<String> apart = new TreeSet<>();
    answers.forEach(
        (address, answer) ->
            answer.ifPresent(
                said -> {
                  nodes.put(address, said.getNode());
                  if (said.getCoordinatorReached()) {
                    given.put(address, said);
                  } else {
                    apart.add(address);
                  }
                }));
    final Set<Long> answered = Set.copyOf(nodes.values());
    final Set<String> silent = new TreeSet<>();
    final Map<String, GroupDescription> newest = new TreeMap<>();
    for (final DescribeClusterResponse said : given.values()) {
      for (final NodeDescription node : said.getNodesList()) {
        nodes.put(node.getAddress(), node.getNode());
        if (!answered.contains(node.getNode())) {
          silent.add(node.getAddress());
        }
      }
      for (final GroupDescription group : said.getGroupsList()) {
        newest.merge(
            group.getIndex(), group, (one, other) -> AGE.compare(one, other) < 0 ? other : one);
      }
    }
    final List<String> lost =
        newest.values().stream()
            .filter(group -> isLost(group, answers))
            .map(GroupDescription::getIndex)
            .toList();
    return new LostIndexes(
        lost, silent, apart, given.keySet().stream().findFirst().orElse(""), nodes);
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

  /** The address of a node, or its number if no node answers that knows it. */
  String name(long number) {
    return nodes.entrySet().stream()
        .filter(node -> node.getValue() == number)
        .map(Map.Entry::getKey)
        .findFirst()
        .orElse(Long.toHexString(number));
  }

  /**
   * The number of a node.
   *
   * @param text its address, or the number in hexadecimal
   * @return 0 if there is no such node
   */
  long node(String text) {
    final Long named = nodes.get(text);
    if (named != null) {
      return named;
    }
    try {
      final long number = Long.parseUnsignedLong(text, 16);
      return nodes.containsValue(number) ? number : 0;
    } catch (NumberFormatException e) { // neither
      return 0;
    }
  }
}
