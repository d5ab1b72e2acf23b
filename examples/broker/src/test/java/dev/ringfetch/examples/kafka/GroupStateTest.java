package dev.ringfetch.examples.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.examples.kafka.GroupState.Phase;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

/** The states of a group. */
final class GroupStateTest {
  private static int counts(String topic) {
    return topic.equals("none") ? 0 : 5;
  }

  @Test
  void goesThroughItsPhases() {
    GroupState state = GroupState.NONE;
    assertEquals(Phase.EMPTY, state.phase());
    state = state.joined("a", Set.of("t"), GroupStateTest::counts);
    assertEquals(Phase.STABLE, state.phase());
    assertEquals(1, state.generation());
    state = state.joined("b", Set.of("t", "none"), GroupStateTest::counts);
    assertEquals(Phase.PREPARING, state.phase());
    assertEquals(1, state.generation()); // a still holds what it has
    state = state.joined("c", Set.of("t"), GroupStateTest::counts);
    state = state.ready("a", GroupStateTest::counts);
    assertEquals(Phase.STABLE, state.phase());
    assertEquals(2, state.generation());
    assertEquals(2, state.assignment().get("a").size());
    assertEquals(1, state.assignment().get("c").size());
    assertEquals(state, state.joined("a", Set.of("t"), GroupStateTest::counts));
    assertEquals(state, state.without(Set.of("x"), GroupStateTest::counts));
    assertEquals(state, state.ready("a", GroupStateTest::counts));
    state = state.without(Set.of("b", "c"), GroupStateTest::counts);
    assertEquals(Phase.PREPARING, state.phase());
    state = state.without(Set.of("a"), GroupStateTest::counts);
    assertEquals(Phase.EMPTY, state.phase());
    assertEquals(3, state.generation()); // what the last one held is fenced
  }

  @Test
  void isReadAsItWasWritten() {
    final GroupState state =
        GroupState.NONE
            .joined("a-1.x_y", Set.of("t", "u"), GroupStateTest::counts)
            .joined("b", Set.of(), GroupStateTest::counts)
            .rebalanced();
    assertEquals(state, GroupState.parse(state.text()));
    assertEquals(GroupState.NONE, GroupState.parse(GroupState.NONE.text()));
    assertThrows(IllegalArgumentException.class, () -> GroupState.parse("x 1"));
  }

  /** In any order of steps, no partition has two members, and no member two generations. */
  @Test
  void assignsEachPartitionOnceInAnyOrder() {
    final long seed = Long.getLong("ringfetch.seed", 1);
    final Random random = new Random(seed);
    GroupState state = GroupState.NONE;
    for (int i = 0; i < 20_000; i++) {
      final String id = "m" + random.nextInt(6);
      final GroupState before = state;
      state =
          switch (random.nextInt(4)) {
            case 0 -> state.joined(id, Set.of("t", "u"), GroupStateTest::counts);
            case 1 -> state.without(Set.of(id), GroupStateTest::counts);
            case 2 -> state.ready(id, GroupStateTest::counts);
            default -> state.phase() == Phase.STABLE ? state.rebalanced() : state;
          };
      final String text = "seed=" + seed + " step=" + i + "\n" + before.text() + state.text();
      assertEquals(state, GroupState.parse(state.text()), text);
      final boolean isNext = state.generation() > before.generation();
      assertEquals(
          isNext ? before.generation() + 1 : before.generation(), state.generation(), text);
      if (isNext) { // all that were there before have given up theirs, or are gone
        for (final String held : before.members().keySet()) {
          assertTrue(
              before.members().get(held).ready()
                  || held.equals(id)
                  || !state.members().containsKey(held)
                  || before.phase() == Phase.EMPTY,
              text);
        }
      }
      if (state.phase() == Phase.STABLE) {
        assertTrue(
            isNext || state.equals(before), text); // members change with the generation alone
        final Set<TopicPartition> all = new HashSet<>();
        state
            .assignment()
            .values()
            .forEach(each -> each.forEach(place -> assertTrue(all.add(place))));
        assertEquals(10, all.size(), text);
      }
    }
  }
}
