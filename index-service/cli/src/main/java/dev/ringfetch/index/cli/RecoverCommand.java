package dev.ringfetch.index.cli;

import dev.ringfetch.index.v1.LostCopy;
import dev.ringfetch.index.v1.RecoverIndexRequest;
import dev.ringfetch.index.v1.RecoverIndexResponse;
import dev.ringfetch.index.v1.UnreadFile;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command that recovers indexes of which no live node has all records. */
@Command(
    name = "recover",
    description = {
      "Show indexes of which no node lives that has all, and what is left of them.",
      "With --accept-loss they go on with that: each with what the best node has, or",
      "empty. The rest is lost, also where a node comes back that has it."
    })
final class RecoverCommand extends ClientCommand {
  @Mixin private IndexName index;

  @Option(names = "--accept-loss", description = "Have them go on. Else nothing is changed.")
  private boolean acceptLoss;

  @Option(
      names = "--node",
      paramLabel = "HOST:PORT",
      completionCandidates = Completion.Nodes.class,
      description = "The node, or its number, if none has more.")
  private String node;

  @Option(
      names = "--give-up",
      paramLabel = "NODE/FILE",
      description = "A file that cannot be read counts as none.")
  private List<String> givenUp = List.of();

  RecoverCommand(Session session) {
    super(session);
  }

  @Override
  boolean isChanging() {
    return true;
  }

  @Override
  boolean isOffline() {
    return true; // it has connections of its own, to each node
  }

  @Override
  int run(Connection connection, Output out) {
    return runOffline(out);
  }

  @Override
  int runOffline(Output out) {
    final String name = index.orElse("");
    try (ClusterQuestions questions = ClusterQuestions.of(server())) {
      final LostIndexes found = LostIndexes.of(questions.answers());
      check(found, name);
      final List<String> lost =
          found.lost().stream().filter(each -> name.isEmpty() || each.equals(name)).toList();
      final RecoverIndexRequest request = request(found);
      final List<String> refused = new ArrayList<>();
      for (final String each : lost) {
        if (!recover(questions, found.address(), request.toBuilder().setIndex(each), out)) {
          refused.add(Printable.escape(each));
        }
      }
      if (lost.isEmpty()) {
        say(out, "of each index a node lives that has all");
      } else if (!acceptLoss) {
        say(out, "nothing was changed: --accept-loss has them go on so");
      } else if (!refused.isEmpty()) {
        out.flush(); // before the failure
        throw new CommandFailure(
            ExitCode.FAILED,
            "the loss of "
                + refused.size()
                + " of "
                + lost.size()
                + (lost.size() == 1 ? " index" : " indexes")
                + " was not accepted: "
                + String.join(", ", refused));
      }
    }
    return ExitCode.OK;
  }

  private void check(LostIndexes found, String name) {
    if (found.address().isEmpty()) {
      throw new CommandFailure(
          ExitCode.UNREACHABLE, "no node reaches the coordinator: nothing can be changed");
    }
    if (!name.isEmpty() && !found.lost().contains(name)) {
      throw new CommandFailure(
          ExitCode.FAILED, "a node lives that has all of it, or there is no such index: " + name);
    }
    if (acceptLoss && !found.apart().isEmpty()) {
      throw new CommandFailure(
          ExitCode.FAILED,
          "a node answers that does not reach the coordinator, or has not begun; wait, or end it: "
              + String.join(", ", found.apart()));
    }
    if (acceptLoss && !found.silent().isEmpty()) {
      throw new CommandFailure(
          ExitCode.FAILED,
          "a node lives that does not answer; end it, or wait: "
              + String.join(", ", found.silent()));
    }
  }

  /** The common part of the requests for all indexes. */
  private RecoverIndexRequest request(LostIndexes found) {
    final RecoverIndexRequest.Builder request = RecoverIndexRequest.newBuilder();
    if (node != null) {
      request.setNode(number(found, node));
    }
    for (final String each : givenUp) {
      final int slash = each.indexOf('/');
      if (slash < 1 || slash == each.length() - 1) {
        throw CommandFailure.misuse("'" + each + "' is not NODE/FILE, as host1:50051/stop-...");
      }
      request.addGivenUp(
          UnreadFile.newBuilder()
              .setNode(number(found, each.substring(0, slash)))
              .setName(each.substring(slash + 1)));
    }
    return request.build();
  }

  private static long number(LostIndexes found, String node) {
    final long number = found.node(node);
    if (number == 0) {
      throw new CommandFailure(
          ExitCode.FAILED,
          "there is no node '"
              + node
              + "'; there are: "
              + String.join(", ", found.nodes().keySet()));
    }
    return number;
  }

  /** Reports on an index, and recovers it if asked to; returns false if that was refused. */
  private boolean recover(
      ClusterQuestions questions, String address, RecoverIndexRequest.Builder request, Output out) {
    RecoverIndexResponse found = RecoverIndexResponse.getDefaultInstance();
    String refusal;
    try {
      found = questions.recover(address, request.setLook(true).build());
      refusal = found.getObstacle();
      if (acceptLoss && refusal.isEmpty()) {
        questions.recover(
            address,
            request
                .setLook(false)
                .setStateVersion(found.getStateVersion())
                .setEpoch(found.getEpoch())
                .build());
      }
    } catch (StatusRuntimeException e) {
      if (e.getStatus().getCode() != Status.Code.FAILED_PRECONDITION
          && e.getStatus().getCode() != Status.Code.UNAVAILABLE) {
        throw e;
      }
      refusal = String.valueOf(e.getStatus().getDescription());
    }
    print(request.getIndex(), found, refusal, out);
    return refusal.isEmpty();
  }

  private void print(String name, RecoverIndexResponse found, String refusal, Output out) {
    final LostCopy best =
        found.getCopiesList().stream()
            .filter(copy -> copy.getNode().getNode() == found.getNode())
            .findFirst()
            .orElse(LostCopy.getDefaultInstance());
    if (isJson()) {
      out.object()
          .text("index", name)
          .text("goes_on_with", best.getNode().getAddress())
          .number("records", best.getLogPosition())
          .flag("accepted", acceptLoss && refusal.isEmpty())
          .text("refusal", refusal)
          .end();
      return;
    }
    out.line("index '" + Printable.escape(name) + "': no node lives that has all");
    for (final LostCopy copy : found.getCopiesList()) {
      out.line("  " + copy.getNode().getAddress() + " " + text(copy));
    }
    if (!refusal.isEmpty()) {
      out.line("  is not to go on yet: " + Printable.escape(refusal));
    } else if (found.getNode() == 0) {
      out.line("  begins anew without entries; all is lost");
    } else {
      out.line(
          "  goes on with what "
              + best.getNode().getAddress()
              + " has; what was written later is lost");
    }
    if (acceptLoss && refusal.isEmpty()) {
      out.line("  its loss is accepted");
    }
  }

  private static String text(LostCopy copy) {
    if (copy.hasUnread()) {
      return "cannot read its record of an orderly end; to give it up: --give-up "
          + copy.getNode().getAddress()
          + "/"
          + Printable.escape(copy.getUnread().getName())
          + " ("
          + Printable.escape(copy.getUnread().getReason())
          + ")";
    }
    if (copy.getLogEpoch() != 0) {
      return "has records up to "
          + Printable.number(copy.getLogPosition())
          + ", of epoch "
          + copy.getLogEpoch();
    }
    return copy.getObstacle().isEmpty() ? "has none" : "has none that it has said";
  }
}
