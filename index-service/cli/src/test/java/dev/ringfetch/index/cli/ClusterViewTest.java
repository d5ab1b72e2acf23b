package dev.ringfetch.index.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.cli.ClusterView.DiskView;
import dev.ringfetch.index.cli.ClusterView.IndexView;
import dev.ringfetch.index.cli.ClusterView.MemberView;
import dev.ringfetch.index.cli.ClusterView.NodeView;
import dev.ringfetch.index.v1.DescribeClusterResponse;
import dev.ringfetch.index.v1.GroupDescription;
import dev.ringfetch.index.v1.MemberDescription;
import dev.ringfetch.index.v1.NodeDescription;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** What the answers of nodes, which need not know the same, say together. */
final class ClusterViewTest {
  private final Map<String, Optional<DescribeClusterResponse>> answers = new LinkedHashMap<>();

  private static DescribeClusterResponse.Builder node(long id, boolean coordinated, long... nodes) {
    final DescribeClusterResponse.Builder answer =
        DescribeClusterResponse.newBuilder().setNode(id).setCoordinatorReached(coordinated);
    for (final long each : nodes) {
      answer.addNodes(NodeDescription.newBuilder().setNode(each).setAddress("n" + each + ":1"));
    }
    return answer;
  }

  private static GroupDescription.Builder group(long epoch, long leader, String role) {
    return GroupDescription.newBuilder()
        .setIndex("a")
        .setEpoch(epoch)
        .setLeader(leader)
        .setEstablished(true)
        .setReplicas(3)
        .setRole(role);
  }

  private static MemberDescription member(long node, long lag) {
    return MemberDescription.newBuilder().setNode(node).setLag(lag).build();
  }

  private void answer(DescribeClusterResponse.Builder said) {
    answers.put("n" + said.getNode() + ":1", Optional.of(said.build()));
  }

  private IndexView only() {
    return ClusterView.of(answers).index("a").orElseThrow();
  }

  @Test
  void lagIsTheLeadersWord() {
    answer(node(1, true, 1, 2).addGroups(group(9, 2, "MEMBER").addMembers(member(1, 0))));
    answer(
        node(2, true, 1, 2)
            .addGroups(
                group(9, 2, "LEADING")
                    .addMembers(member(1, 5).toBuilder().setReplicatedBy("one-sided shm"))
                    .addMembers(member(2, 0))));
    assertEquals(
        new IndexView(
            "a",
            9,
            "n2:1",
            true,
            false,
            3,
            List.of(new MemberView("n1:1", OptionalLong.of(5), "one-sided shm")),
            List.of()),
        only());
    assertFalse(only().isComplete());
  }

  @Test
  void theNewestEpochCounts() {
    answer(node(1, false, 1, 2).addGroups(group(7, 1, "LEADING").addMembers(member(1, 0))));
    answer(node(2, true, 1, 2).addGroups(group(9, 2, "LEADING").addMembers(member(2, 0))));
    assertEquals("n2:1", only().leader());
    assertTrue(only().served());
    assertEquals(1, only().members());
  }

  @Test
  void aLeaderWhoseEpochIsNewerThanItsOwnAnswerServesNothing() {
    answer(node(1, true, 1, 2).addGroups(group(7, 1, "LEADING").addMembers(member(1, 0))));
    answer(node(2, true, 1, 2).addGroups(group(9, 1, "MEMBER").addMembers(member(1, 0))));
    assertFalse(only().served());
  }

  @Test
  void anIndexIsLostWhereNobodyLeadsIt() {
    answer(node(1, true, 1).addGroups(group(7, 2, "MEMBER").setLost(true)));
    assertTrue(only().lost());
    answer(node(2, false, 1).addGroups(group(7, 2, "LEADING")));
    assertFalse(only().lost());
  }

  @Test
  void aNodeThatJoinsIsNoMember() {
    answer(node(1, true, 1, 2).addGroups(group(7, 1, "LEADING").addMembers(member(1, 0))));
    answer(node(2, true, 1, 2).addGroups(group(7, 1, "JOINING").addMembers(member(1, 0))));
    assertEquals(List.of("n2:1"), only().joining());
    assertEquals(1, only().members());
  }

  @Test
  void nodesAreThoseOfTheCoordinatorAndThoseThatWereAsked() {
    answers.put("n4:1", Optional.empty());
    answer(node(1, true, 1, 2));
    answer(node(3, false, 1, 2, 3, 5)); // 5 has died since
    assertEquals(
        List.of(
            new NodeView(1, "n1:1", true, true, DiskView.NONE),
            NodeView.silent(2, "n2:1"),
            new NodeView(3, "n3:1", true, false, DiskView.NONE),
            NodeView.silent(0, "n4:1")),
        ClusterView.of(answers).nodes());
    assertEquals(2, ClusterView.of(answers).answering());
    assertEquals(1, ClusterView.of(answers).coordinated());
  }

  @Test
  void aFullDiskIsShownWithItsNode() {
    answer(node(1, true, 1, 2, 3));
    answer(
        node(2, true, 1, 2, 3)
            .setDiskObstacle("No space left on device")
            .setDiskObstacleMs(90_000));
    answer(node(3, true, 1, 2, 3).setDiskObstacle("Input/output error"));
    final ClusterView view = ClusterView.of(answers);
    assertEquals(
        new NodeView(2, "n2:1", true, true, new DiskView("No space left on device", 90_000)),
        view.nodes().get(1));
    assertEquals(
        List.of(
            "WARNING: n2:1: the disk refuses writes, or soon will, for 90 s: No space left on device",
            "WARNING: n3:1: the disk refuses writes, or soon will: Input/output error"),
        ClusterCommand.warnings(view));
  }
}
