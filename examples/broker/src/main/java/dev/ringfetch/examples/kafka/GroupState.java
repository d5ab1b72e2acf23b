package dev.ringfetch.examples.kafka;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.common.TopicPartition;

/**
 * The state of a consumer group: its members, its generation, and the partitions of its topics. It
 * is one entry of the index, and each member computes the assignment of partitions from it.
 *
 * <table>
 *   <caption>Phases of a group</caption>
 *   <tr><th>phase</th><th>members</th><th>ends when</th></tr>
 *   <tr><td>{@link Phase#EMPTY}</td><td>none</td><td>a consumer joins</td></tr>
 *   <tr><td>{@link Phase#PREPARING}</td><td>some may still hold partitions of the last
 *       generation, and may commit their offsets</td><td>all are ready: the next generation
 *       begins</td></tr>
 *   <tr><td>{@link Phase#STABLE}</td><td>each has its partitions</td><td>a consumer joins, leaves,
 *       is expired, or a topic has other partitions</td></tr>
 * </table>
 *
 * @param generation grows with each assignment, and when the last member goes.
 * @param members by their ids.
 * @param partitions of the topics of all members, at the begin of the generation.
 */
record GroupState(long generation, Map<String, Member> members, Map<String, Integer> partitions) {
  /** The state of a group that has had no member. */
  static final GroupState NONE = new GroupState(0, Map.of(), Map.of());

  private static final String GENERATION = "generation";
  private static final String MEMBER = "member";
  private static final String TOPIC = "topic";
  private static final String READY = "ready";
  private static final String HOLDS = "holds";

  /** The phases of a group. */
  enum Phase {
    EMPTY,
    PREPARING,
    STABLE
  }

  /**
   * A member of a group.
   *
   * @param ready for the next generation: it holds no partition of an earlier one. In a stable
   *     group, all members are.
   * @param topics that it subscribes to.
   */
  record Member(boolean ready, Set<String> topics) {}

  GroupState {
    members = new TreeMap<>(members);
    partitions = new TreeMap<>(partitions);
  }

  /** The phase that follows from the members. */
  Phase phase() {
    if (members.isEmpty()) {
      return Phase.EMPTY;
    }
    return members.values().stream().allMatch(Member::ready) ? Phase.STABLE : Phase.PREPARING;
  }

  /** The same with one more member, which holds no partition. */
  GroupState joined(String id, Set<String> topics, Function<String, Integer> counts) {
    if (members.containsKey(id)) { // the answer of the first attempt was lost
      return this;
    }
    final Map<String, Member> next = disturbed();
    next.put(id, new Member(true, topics));
    return settled(next, counts);
  }

  /** The same without some members: they have left, or their leases have ended. */
  GroupState without(Set<String> ids, Function<String, Integer> counts) {
    if (ids.stream().noneMatch(members::containsKey)) {
      return this;
    }
    final Map<String, Member> next = disturbed();
    next.keySet().removeAll(ids);
    return settled(next, counts);
  }

  /** The same with a member that has given up its partitions. */
  GroupState ready(String id, Function<String, Integer> counts) {
    final Member member = members.get(id);
    if (member == null || member.ready) { // it was removed; or the first answer was lost
      return this;
    }
    final Map<String, Member> next = new HashMap<>(members);
    next.put(id, new Member(true, member.topics));
    return settled(next, counts);
  }

  /** The same, with members that have to give up their partitions and get new ones. */
  GroupState rebalanced() {
    return new GroupState(generation, disturbed(), partitions);
  }

  /** The members, none of them ready if they were all: those that were not before are not now. */
  private Map<String, Member> disturbed() {
    final Map<String, Member> next = new HashMap<>(members);
    if (phase() == Phase.STABLE) {
      next.replaceAll((id, member) -> new Member(false, member.topics()));
    }
    return next;
  }

  /** The state of these members; the next generation if they are all ready, or there are none. */
  private GroupState settled(Map<String, Member> next, Function<String, Integer> counts) {
    final GroupState state = new GroupState(generation, next, partitions);
    if (state.phase() == Phase.PREPARING) {
      return state;
    }
    final Map<String, Integer> counted = new HashMap<>();
    for (final String topic : state.topics()) {
      counted.put(topic, counts.apply(topic));
    }
    return new GroupState(generation + 1, next, counted);
  }

  /** The topics of all members. */
  Set<String> topics() {
    final Set<String> all = new TreeSet<>();
    members.values().forEach(member -> all.addAll(member.topics()));
    return all;
  }

  /** The partitions of each member, by ranges, as Kafka's own assignor computes them. */
  Map<String, List<TopicPartition>> assignment() {
    final Map<String, Subscription> subscriptions = new HashMap<>();
    members.forEach(
        (id, each) -> subscriptions.put(id, new Subscription(List.copyOf(each.topics))));
    final Map<String, Integer> known = new HashMap<>(partitions);
    known.values().removeIf(count -> count == 0);
    return new RangeAssignor().assign(known, subscriptions);
  }

  /** The text in the entry of the index, a line for each part. */
  String text() {
    final StringBuilder text = new StringBuilder();
    text.append(GENERATION).append(' ').append(generation).append('\n');
    partitions.forEach(
        (topic, count) ->
            text.append(TOPIC).append(' ').append(topic).append(' ').append(count).append('\n'));
    members.forEach(
        (id, member) -> {
          text.append(MEMBER).append(' ').append(id).append(' ');
          text.append(member.ready ? READY : HOLDS);
          member.topics.forEach(topic -> text.append(' ').append(topic));
          text.append('\n');
        });
    return text.toString();
  }

  /** Reads what {@link #text} wrote. */
  static GroupState parse(String text) {
    long generation = 0;
    final Map<String, Member> members = new HashMap<>();
    final Map<String, Integer> partitions = new HashMap<>();
    for (final String line : text.split("\n", 0)) {
      final String[] words = line.split(" ", 0);
      switch (words[0]) {
        case GENERATION -> generation = Long.parseLong(words[1]);
        case TOPIC -> partitions.put(words[1], Integer.parseInt(words[2]));
        case MEMBER ->
            members.put(
                words[1],
                new Member(
                    words[2].equals(READY),
                    new TreeSet<>(List.of(words).subList(3, words.length))));
        default -> throw new IllegalArgumentException("no state of a group: line=" + line);
      }
    }
    return new GroupState(generation, members, partitions);
  }
}
