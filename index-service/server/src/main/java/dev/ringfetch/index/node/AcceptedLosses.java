package dev.ringfetch.index.node;

import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.coordinator.Recoveries;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.replication.Replicas;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.DescribeClusterResponse;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.LostCopy;
import dev.ringfetch.index.v1.Node;
import dev.ringfetch.index.v1.RecoverIndexRequest;
import dev.ringfetch.index.v1.RecoverIndexResponse;
import io.grpc.StatusException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * The losses that an operator accepts at one node: a {@linkplain LostGroups lost group} goes on
 * with the log of one directory, or its index begins again, empty.
 *
 * <p>Requests come on any threads; the node's thread carries them out.
 */
public final class AcceptedLosses {
  private final Replicas replicas;
  private final Coordinator coordinator;
  private final CatchUp catchUp;
  private final NewGroups groups;
  private final Executor node;
  private final NodeQuestions questions;

  /**
   * Creates it.
   *
   * @param node runs tasks on the node's thread
   * @param questions to all nodes, this one too
   */
  public AcceptedLosses(
      Replicas replicas,
      Coordinator coordinator,
      CatchUp catchUp,
      NewGroups groups,
      Executor node,
      NodeQuestions questions) {
    this.replicas = replicas;
    this.coordinator = coordinator;
    this.catchUp = catchUp;
    this.groups = groups;
    this.node = node;
    this.questions = questions;
  }

  /** As {@link IndexCatalog#recover}. */
  public void recover(RecoverIndexRequest request, IndexCatalog.Recovered told) {
    CatchUp.whenKnown(
        catchUp,
        () -> known(request),
        group -> carryOut(told, () -> ask(request, told)),
        failure -> told.onEnd(null, failure));
  }

  /** The group as this node knows it; null if it may not know of it yet. */
  private @Nullable GroupState known(RecoverIndexRequest request) throws StatusException {
    if (!replicas.isCoordinated()) {
      throw IndexCreations.noAnswer(request.getIndex());
    }
    return replicas.state(request.getIndex());
  }

  private void ask(RecoverIndexRequest request, IndexCatalog.Recovered told)
      throws StatusException {
    lost(request);
    final Map<Long, Node> asked = replicas.living();
    questions.ask(
        asked.values(), answers -> carryOut(told, () -> decide(request, asked, answers, told)));
  }

  /** Carries a step out on the node's thread. */
  private void carryOut(IndexCatalog.Recovered told, CatchUp.Step step) {
    node.execute(() -> CatchUp.carryOut(step, failure -> told.onEnd(null, failure)));
  }

  /** The group, which is lost as far as this node knows. */
  private GroupState lost(RecoverIndexRequest request) throws StatusException {
    final GroupState seen = known(request);
    LostGroups.check(seen, request, replicas.living());
    return seen;
  }

  private void decide(
      RecoverIndexRequest request,
      Map<Long, Node> asked,
      Map<Long, DescribeClusterResponse> answers,
      IndexCatalog.Recovered told)
      throws StatusException {
    final GroupState seen = lost(request);
    if (!asked.equals(replicas.living())) {
      throw LostGroups.changed(request.getIndex());
    }
    final NodeStatements statements =
        new NodeStatements(seen, request.getGivenUpList(), asked, answers);
    if (request.getLook()) {
      told.onEnd(look(seen, request.getNode(), statements), null);
      return;
    }
    final LostCopy copy = statements.of(request.getNode());
    final long node = copy.getLogEpoch() == 0 ? 0 : request.getNode();
    final Coordinator.Answer answer =
        (result, state) -> tellRecovered(result, state, node, seen, told);
    if (node == 0) {
      coordinator.replace(seen, empty(seen), answer);
    } else {
      coordinator.recover(
          seen,
          Recoveries.recovered(
              seen, node, copy.getLogProcess(), groups.nonce(), groups.incarnation()),
          answer);
    }
  }

  /** The result of accepting the loss of a group. */
  private static RecoverIndexResponse look(
      GroupState seen, long wanted, NodeStatements statements) {
    final RecoverIndexResponse.Builder response =
        RecoverIndexResponse.newBuilder()
            .setStateVersion(seen.getVersion())
            .setEpoch(Recoveries.epoch(seen))
            .setDurability(IndexDefinition.of(seen).durability())
            .addAllCopies(statements.copies());
    Recoveries.last(seen).getMembersList().forEach(each -> response.addMembers(each.getNode()));
    try {
      if (wanted != 0) {
        response.setNode(statements.of(wanted).getLogEpoch() == 0 ? 0 : wanted);
      }
    } catch (StatusException e) {
      response.setObstacle(String.valueOf(e.getStatus().getDescription()));
    }
    return response.build();
  }

  /** The group that takes the place of one of which nothing is left, with later versions. */
  private GroupState empty(GroupState seen) throws StatusException {
    final IndexDefinition definition = IndexDefinition.of(seen);
    final List<Node> chosen =
        Placement.choose(groups.able(definition.durability()), seen.getIndex(), seen.getReplicas());
    if (chosen.isEmpty()) {
      throw IndexCreations.noAnswer(seen.getIndex());
    }
    final CreateIndexRequest.Builder wanted =
        CreateIndexRequest.newBuilder()
            .setIndex(seen.getIndex())
            .setKind(definition.kind())
            .setDurability(definition.durability())
            .setReplicas(seen.getReplicas());
    if (definition.appends() != null) {
      wanted.setAppends(definition.appends());
    }
    return groups.first(wanted.build(), chosen).toBuilder()
        .setRecovery(Recoveries.next(seen))
        .build();
  }

  private static void tellRecovered(
      Coordinator.Result result,
      GroupState state,
      long node,
      GroupState seen,
      IndexCatalog.Recovered told) {
    switch (result) {
      case DONE ->
          told.onEnd(
              RecoverIndexResponse.newBuilder()
                  .setIncarnation(IndexDefinition.of(state).incarnation())
                  .setNode(node)
                  .build(),
              null);
      case CONFLICT -> told.onEnd(null, LostGroups.changed(seen.getIndex()));
      default -> told.onEnd(null, IndexCreations.noAnswer(seen.getIndex()));
    }
  }
}
