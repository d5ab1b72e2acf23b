package dev.ringfetch.index.replication;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.v1.Adopt;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.LeaderMessage;
import dev.ringfetch.index.v1.Member;
import dev.ringfetch.index.v1.Node;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * When a member proposes itself in the place of a leader that is silent, and with which members.
 */
final class CandidacyTest implements IdlePeers {
  private static final long GROUP = 3;
  private static final long EPOCH = 7;
  private static final Node SELF = node(1);
  private static final Node OTHER = node(2);
  private static final Node LEADER = node(3);

  private long nowNs = 1_000_000_000;
  private final ReplicaContext context =
      new ReplicaContext(
          GROUP,
          SELF,
          1,
          this,
          new EmptyStore(),
          () -> nowNs,
          () -> 1,
          ReplicaContext.Limits.DEFAULT,
          failure -> {
            throw new AssertionError(failure);
          });

  private static Node node(long id) {
    return Node.newBuilder().setId(id).setIncarnation(1).build();
  }

  private static GroupState.Builder established(long epoch, Node... members) {
    final Configuration.Builder configuration =
        Configuration.newBuilder().setEpoch(epoch).setLeader(LEADER.getId());
    for (final Node member : members) {
      configuration.addMembers(Configurations.member(member));
    }
    return GroupState.newBuilder().setGroup(GROUP).setEstablished(configuration);
  }

  @Test
  void theFirstMemberProposesItselfAtOnceAndAsTheLastOneIfItsNodeEnds() {
    final ReplicaCore core = new ReplicaCore(context);
    final AwaitedLeader awaited =
        new AwaitedLeader(context.limits().nodeTimeoutNs(), context.clock().getAsLong());
    final Candidacy candidacy = new Candidacy(context, core, awaited);
    final GroupState group = established(EPOCH, SELF, OTHER, LEADER).build();
    awaited.await(LEADER.getId(), nowNs);
    candidacy.onNodes(Map.of(1L, SELF, 2L, OTHER, 3L, LEADER), node -> true);
    assertFalse(candidacy.isDue(group, nowNs));
    awaited.onGone(LEADER.getId());
    assertTrue(candidacy.isDue(group, nowNs));
    final List<Member> both = List.of(Configurations.member(SELF), Configurations.member(OTHER));
    assertEquals(both, candidacy.members(group));
    core.nodeEnd().begin();
    assertFalse(candidacy.isDue(group, nowNs));
    assertTrue(candidacy.isDue(group, nowNs + candidacy.delayNs(group)));
    candidacy.onDisconnected(OTHER.getId());
    assertTrue(candidacy.isDue(group, nowNs), "nobody else may");
  }

  /** It has obeyed the leader of an epoch that was never established, to join. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void onlyAMemberOfTheConfigurationThatCountsProposesItself(boolean counts) {
    final Replica replica = new Replica(context, new NodeRest(() -> {}));
    replica.onCoordinated(() -> true);
    replica.onGroup(
        GroupState.newBuilder()
            .setVersion(1)
            .setWon(established(EPOCH, SELF, LEADER).getEstablished())
            .build());
    replica.onMessage(
        LEADER.getId(),
        LeaderMessage.newBuilder()
            .setGroup(GROUP)
            .setEpoch(EPOCH + 2)
            .setAdopt(Adopt.getDefaultInstance())
            .setBusy(true)
            .build());
    replica.drive();
    final GroupState.Builder state =
        counts ? established(EPOCH + 1, SELF, LEADER) : established(EPOCH + 1, LEADER);
    replica.onGroup(state.setVersion(2).build());
    for (int i = 0; i < 100; i++) {
      nowNs += context.limits().nodeTimeoutNs();
      replica.drive();
    }
    if (counts) {
      assertNotNull(replica.takeProposal());
    } else {
      assertNull(replica.takeProposal());
    }
  }
}
