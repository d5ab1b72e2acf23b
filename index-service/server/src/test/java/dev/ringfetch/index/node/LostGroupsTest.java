package dev.ringfetch.index.node;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.coordinator.Recoveries;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.Member;
import dev.ringfetch.index.v1.Node;
import dev.ringfetch.index.v1.RecoverIndexRequest;
import io.grpc.Status;
import io.grpc.StatusException;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** When the loss of a group can be accepted, and what becomes of it. */
final class LostGroupsTest {
  private static final Node FIRST =
      Node.newBuilder().setId(1).setIncarnation(11).setDisk(true).build();
  private static final Node NEXT = FIRST.toBuilder().setIncarnation(12).build();
  private static final Node OTHER = FIRST.toBuilder().setId(2).build();

  private static GroupState group(Durability durability) {
    return GroupState.newBuilder()
        .setGroup(5)
        .setIndex("i")
        .setVersion(3)
        .setDefinition(new IndexDefinition(IndexKind.HASH, durability, 1, 1, 9).encoded())
        .setEstablished(
            Configuration.newBuilder()
                .setEpoch(70)
                .setLeader(1)
                .setNonce(6)
                .addMembers(Member.newBuilder().setNode(1).setIncarnation(11)))
        .setWon(Configuration.newBuilder().setEpoch(80).setLeader(1).setNonce(7))
        .build();
  }

  private static RecoverIndexRequest request(long node) {
    return RecoverIndexRequest.newBuilder()
        .setIndex("i")
        .setStateVersion(3)
        .setEpoch(80)
        .setNode(node)
        .build();
  }

  private static void refuses(GroupState seen, RecoverIndexRequest request, Node... living) {
    assertEquals(
        Status.Code.FAILED_PRECONDITION,
        assertThrows(StatusException.class, () -> LostGroups.check(seen, request, map(living)))
            .getStatus()
            .getCode());
  }

  private static void accepts(GroupState seen, RecoverIndexRequest request, Node... living) {
    assertDoesNotThrow(() -> LostGroups.check(seen, request, map(living)));
  }

  private static Map<Long, Node> map(Node... living) {
    return Arrays.stream(living).collect(Collectors.toMap(Node::getId, node -> node));
  }

  @Test
  void nothingIsGivenUpThatANodeHas() {
    refuses(group(Durability.MEMORY), request(0), FIRST, OTHER);
    accepts(group(Durability.MEMORY), request(0), NEXT, OTHER); // another process
    refuses(group(Durability.DISK), request(2), FIRST, OTHER);
    refuses(group(Durability.DISK), request(2), NEXT, OTHER); // the same directory
    accepts(group(Durability.DISK), request(2), OTHER);
    accepts(group(Durability.DISK), request(0), OTHER);
    refuses(group(Durability.LEADER_DISK), request(2), NEXT, OTHER); // the leader's directory
    final GroupState.Builder ofOther = group(Durability.LEADER_DISK).toBuilder();
    ofOther.getEstablishedBuilder().setLeader(3);
    accepts(ofOther.build(), request(1), NEXT, OTHER); // a member's
    refuses(ofOther.build(), request(1), FIRST, OTHER);
  }

  @Test
  void aProcessThatHasEndedLeadsNothing() {
    final GroupState.Builder seen = group(Durability.MEMORY).toBuilder().clearWon();
    assertEquals(FIRST, LostGroups.leader(seen.build(), map(FIRST, OTHER)));
    assertNull(LostGroups.leader(seen.build(), map(NEXT, OTHER))); // has nothing
    assertNull(LostGroups.leader(seen.build(), map(OTHER)));
    seen.getEstablishedBuilder().setLeader(2).addMembers(Member.newBuilder().setNode(2));
    assertTrue(
        LostGroups.withoutLeader(seen.build(), map(FIRST)).startsWith("the index has no leader"));
    assertTrue(LostGroups.withoutLeader(seen.build(), map(FIRST)).contains("send again"));
    assertEquals(
        "the index has no leader now: none of its last members is announced: index=i members=1,2",
        LostGroups.withoutLeader(seen.build(), map(NEXT)));
  }

  @Test
  void onlyWhatWasSeenIsGivenUp() {
    final GroupState seen = group(Durability.DISK);
    refuses(seen, request(2).toBuilder().setStateVersion(2).build(), OTHER);
    refuses(seen, request(2).toBuilder().setEpoch(70).build(), OTHER);
    accepts(seen, RecoverIndexRequest.newBuilder().setIndex("i").setLook(true).build(), OTHER);
    final GroupState.Builder often = seen.toBuilder();
    often.getRecoveryBuilder().setCount(Recoveries.LIMIT);
    refuses(often.build(), request(2), OTHER);
    assertEquals(
        Status.Code.NOT_FOUND,
        assertThrows(StatusException.class, () -> LostGroups.check(null, request(2), map()))
            .getStatus()
            .getCode());
  }

  @Test
  void aRecoveredGroupHasOneMemberAndAnotherIncarnation() {
    final GroupState seen = group(Durability.DISK);
    final GroupState once = Recoveries.recovered(seen, 2, 0, 33, 44);
    final Configuration alone = once.getEstablished();
    assertEquals(0, alone.getEpoch()); // the coordinator gives it
    assertEquals(33, alone.getNonce());
    assertEquals(2, alone.getLeader());
    assertEquals(1, alone.getMembersCount());
    assertEquals(2, alone.getMembers(0).getNode());
    assertEquals(0, alone.getMembers(0).getIncarnation()); // in whatever process
    assertEquals(
        12,
        Recoveries.recovered(seen, 2, 12, 33, 44).getEstablished().getMembers(0).getIncarnation());
    assertTrue(!once.hasWon());
    assertEquals(seen.getDefinition(), once.getDefinition());
    assertEquals(44, IndexDefinition.of(once).incarnation());
    assertEquals(80, once.getRecovery().getEpoch());
    assertEquals(1L << 40, Recoveries.versionsBefore(once));
    assertEquals(2L << 40, Recoveries.versionsBefore(Recoveries.recovered(once, 2, 0, 35, 46)));
  }
}
