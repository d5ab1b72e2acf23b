package dev.ringfetch.index.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ringfetch.index.v1.DescribeClusterResponse;
import dev.ringfetch.index.v1.GroupDescription;
import dev.ringfetch.index.v1.NodeDescription;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Which indexes are lost, and what is left of them, as nodes say that need not know the same. */
final class LostIndexesTest {
  private final Map<String, Optional<DescribeClusterResponse>> answers = new LinkedHashMap<>();

  private void answer(long id, boolean coordinated, GroupDescription.Builder... groups) {
    final DescribeClusterResponse.Builder answer =
        DescribeClusterResponse.newBuilder().setNode(id).setCoordinatorReached(coordinated);
    for (long node = 1; node <= 3; node++) {
      answer.addNodes(NodeDescription.newBuilder().setNode(node).setAddress("n" + node));
    }
    for (final GroupDescription.Builder group : groups) {
      answer.addGroups(group);
    }
    answers.put("n" + id, Optional.of(answer.build()));
  }

  private static GroupDescription.Builder group(int version, String role) {
    return GroupDescription.newBuilder()
        .setIndex("a")
        .setEpoch(9)
        .setStateVersion(version)
        .setLost(true)
        .setRole(role);
  }

  private LostIndexes found() {
    return LostIndexes.of(answers);
  }

  @Test
  void anIndexIsLostOfWhichNoNodeHasAll() {
    answer(1, true, group(4, "NONE").setMayHaveMore(true));
    answer(2, true, group(4, ""));
    assertEquals(List.of("a"), found().lost());
    assertEquals(Set.of("n3"), found().silent());
    assertEquals(Set.of(), found().apart());
    assertEquals("n1", found().address());
  }

  @Test
  void aNodeHasAnAddressAndANumber() {
    answer(1, true);
    assertEquals(3, found().node("n3"));
    assertEquals(2, found().node("2"));
    assertEquals(0, found().node("n4"));
    assertEquals(0, found().node("4"));
    answers.put("alias", answers.remove("n1"));
    assertEquals(1, found().node("alias"));
    assertEquals(1, found().node("n1"));
  }

  @Test
  void aLeaderThatTheCoordinatorHasLostKeepsItsIndex() {
    answer(1, true, group(4, "MEMBER"));
    answer(2, false, group(3, "LEADING"));
    assertEquals(List.of(), found().lost());
  }

  @Test
  void theNewestStateCountsAndAnyNodeThatKnowsOfAMember() {
    answer(1, true, group(4, "MEMBER"));
    answer(2, true, group(5, "MEMBER").setLost(false));
    assertEquals(List.of(), found().lost());
    answer(2, true, group(4, "MEMBER").setLost(false));
    assertEquals(List.of(), found().lost());
    answer(2, true, group(3, "MEMBER").setLost(false));
    assertEquals(List.of("a"), found().lost());
    answer(2, true, group(4, "MEMBER").setWhole(true)); // by the record of an orderly stop
    assertEquals(List.of(), found().lost());
  }

  @Test
  void withoutTheCoordinatorNothingIsKnown() {
    answer(1, false, group(4, "MEMBER"));
    assertEquals(List.of(), found().lost());
    assertEquals("", found().address());
    assertEquals(Set.of("n1"), found().apart());
  }
}
