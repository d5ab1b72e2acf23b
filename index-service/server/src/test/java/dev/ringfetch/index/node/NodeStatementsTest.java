package dev.ringfetch.index.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.DescribeClusterResponse;
import dev.ringfetch.index.v1.GroupDescription;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Node;
import dev.ringfetch.index.v1.UnreadFile;
import io.grpc.Status;
import io.grpc.StatusException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What nodes say for which a loss is not accepted. */
final class NodeStatementsTest {
  private static final GroupState SEEN =
      GroupState.newBuilder()
          .setIndex("i")
          .setVersion(4)
          .setEstablished(Configuration.newBuilder().setEpoch(70))
          .build();

  private final Map<Long, Node> living = new TreeMap<>();
  private final Map<Long, DescribeClusterResponse> answers = new TreeMap<>();

  @BeforeEach
  void twoNodesThatHaveNothing() {
    say(1, group());
    say(2, group());
  }

  private static GroupDescription.Builder group() {
    return GroupDescription.newBuilder().setIndex("i").setStateVersion(4).setEpoch(70);
  }

  private static GroupDescription.Builder log(long epoch, long position) {
    return group().setRole("MEMBER").setLogEpoch(epoch).setLogPosition(position);
  }

  private static DescribeClusterResponse.Builder answer(long node) {
    return DescribeClusterResponse.newBuilder()
        .setNode(node)
        .setAcceptsLosses(true)
        .setCoordinatorReached(true);
  }

  private void say(long id, GroupDescription.Builder group) {
    living.put(id, Node.newBuilder().setId(id).setAddress("n" + id).build());
    answers.put(id, answer(id).addGroups(group).build());
  }

  /** The epoch of the log with which the group goes on; 0: it begins empty. */
  private long epoch(long node, UnreadFile... givenUp) throws StatusException {
    return new NodeStatements(SEEN, List.of(givenUp), living, answers).of(node).getLogEpoch();
  }

  private void refuses(long node, String why) {
    final Status status = assertThrows(StatusException.class, () -> epoch(node)).getStatus();
    assertEquals(Status.Code.FAILED_PRECONDITION, status.getCode());
    assertTrue(status.getDescription().contains(why), status::toString);
  }

  @Test
  void withoutALogTheIndexBeginsEmpty() throws StatusException {
    assertEquals(0, epoch(1));
    assertEquals(0, epoch(2));
    refuses(3, "not announced");
    refuses(0, "not announced");
    say(2, group().setMayHaveMore(true));
    refuses(1, "may have more");
  }

  @Test
  void eachNodeIsToAnswer() {
    answers.remove(2L);
    refuses(1, "does not answer");
    answers.put(2L, answer(2).setCoordinatorReached(false).addGroups(group()).build());
    refuses(1, "does not reach the coordinator");
    answers.put(2L, answer(2).setAcceptsLosses(false).addGroups(group()).build());
    refuses(1, "earlier version");
    answers.put(2L, answer(2).build());
    refuses(1, "has not seen");
    say(2, group().setStateVersion(3));
    refuses(1, "has not seen");
    say(2, group().setEpoch(60));
    refuses(1, "has not seen");
  }

  @Test
  void nothingIsGivenUpThatANodeHasOrMayHave() throws StatusException {
    say(1, log(60, 40));
    assertEquals(60, epoch(1));
    refuses(2, "another node has more");
    say(2, group().setWhole(true)); // its process, or the record of an orderly stop
    refuses(1, "has all");
    say(2, group().setRole("LEADING"));
    refuses(1, "has all");
    say(2, group().setMayHaveMore(true));
    refuses(1, "may have more");
  }

  @Test
  void theLogWithMostOfTheGroupIsTheBest() throws StatusException {
    say(1, log(80, 41)); // had begun to resume
    say(2, log(70, 150));
    refuses(1, "another node has more");
    assertEquals(70, epoch(2));
    assertEquals(
        List.of(2L, 1L),
        new NodeStatements(SEEN, List.of(), living, answers)
            .copies().stream().map(copy -> copy.getNode().getNode()).toList());
    say(1, log(80, 150));
    refuses(2, "another node has more");
    assertEquals(80, epoch(1));
  }

  @Test
  void aFileThatCannotBeReadMayHaveMoreUnlessItIsGivenUp() throws StatusException {
    final UnreadFile file =
        UnreadFile.newBuilder().setNode(2).setName("stop-5").setReason("damaged").build();
    say(1, log(60, 40));
    say(2, group().setUnread(file));
    refuses(1, "file=stop-5");
    assertEquals(60, epoch(1, file.toBuilder().clearReason().build()));
    assertThrows(StatusException.class, () -> epoch(1, file.toBuilder().setNode(1).build()));
    assertThrows(StatusException.class, () -> epoch(1, file.toBuilder().setName("x").build()));
  }
}
