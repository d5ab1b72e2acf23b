package dev.ringfetch.index.cli;

import dev.ringfetch.index.v1.LostCopy;
import dev.ringfetch.index.v1.RecoverIndexRequest;
import dev.ringfetch.index.v1.RecoverIndexResponse;
import dev.ringfetch.index.v1.UnreadFile;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The command that recovers indexes of which no live node has all records: says what one node's
 * directory has of them, and has them go on with that.
 */
@Command(
    name = "recover",
    description = {
      "Show indexes of which no node lives that has all, and what is left of them.",
      "With --node and --accept-loss they go on with what that node's directory has,",
      "if no other one has more. The rest is lost, also if a node comes back with it."
    })
final class RecoverCommand extends ClientCommand {
  @Mixin private IndexName index;

  @Option(
      names = "--node",
      paramLabel = "HOST:PORT",
      completionCandidates = Completion.Nodes.class,
      description = "The node with the directory, or the node's number.")
  private String node;

  @Option(names = "--accept-loss", description = "Have them go on. Else nothing is changed.")
  private boolean acceptLoss;

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
    if (acceptLoss && node == null) {
      throw CommandFailure.misuse("--accept-loss needs --node: one directory at a time");
    }
    try (ClusterQuestions questions = ClusterQuestions.of(server())) {
      final LostIndexes found = LostIndexes.of(questions.answers());
      check(found, name);
      final List<String> lost =
          found.lost().stream().filter(each -> name.isEmpty() || each.equals(name)).toList();
      final RecoverIndexRequest request = request(found);
      final List<String> refused = new ArrayList<>();
      for (final String each : lost) {
        if (!recover(questions, found, request.toBuilder().setIndex(each), out)) {
          refused.add(Printable.escape(each));
        }
      }
      if (lost.isEmpty()) {
        say(out, "of each index a node lives that has all");
      } else if (!acceptLoss) {
        say(
            out,
            node == null
                ? "nothing was changed: --node HOST:PORT says what it means to go on with one node"
                : "nothing was changed: --accept-loss has them go on so");
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
      ClusterQuestions questions,
      LostIndexes lost,
      RecoverIndexRequest.Builder request,
      Output out) {
    RecoverIndexResponse found = RecoverIndexResponse.getDefaultInstance();
    String refusal;
    try {
      found = questions.recover(lost.address(), request.setLook(true).build());
      refusal = found.getObstacle();
      if (acceptLoss && refusal.isEmpty()) {
        questions.recover(
            lost.address(),
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
    print(request.build(), found, lost, refusal, out);
    return refusal.isEmpty();
  }

  private void print(
      RecoverIndexRequest request,
      RecoverIndexResponse found,
      LostIndexes lost,
      String refusal,
      Output out) {
    final LostCopy named =
        found.getCopiesList().stream()
            .filter(copy -> copy.getNode().getNode() == request.getNode())
            .findFirst()
            .orElse(LostCopy.getDefaultInstance());
    final boolean isAccepted = acceptLoss && refusal.isEmpty();
    final String level = found.getDurability().name().toLowerCase(Locale.ROOT).replace('_', '-');
    if (isJson()) {
      out.object()
          .text("index", request.getIndex())
          .text("level", level)
          .text("node", named.getNode().getAddress())
          .number("records", named.getLogPosition())
          .number("epoch", named.getLogEpoch())
          .number("written_ms", named.getWrittenMs())
          .flag("accepted", isAccepted)
          .text("refusal", refusal)
          .end();
      return;
    }
    out.line(
        "index '"
            + Printable.escape(request.getIndex())
            + "' at "
            + level
            + ": no node lives that has all");
    for (final LostCopy copy : found.getCopiesList()) {
      if (node == null || copy.equals(named)) {
        out.line("  " + copy.getNode().getAddress() + " " + text(copy));
      }
    }
    out.line(
        "  its last members, which may have had more: "
            + found.getMembersList().stream().map(lost::name).collect(Collectors.joining(", ")));
    if (!refusal.isEmpty()) {
      out.line("  is not to go on yet: " + Printable.escape(refusal));
    } else if (node != null) {
      out.line(
          named.getLogEpoch() == 0
              ? "  begins anew without entries: all is lost"
              : "  goes on with that: what was written later is lost; nobody knows how much");
    }
    if (isAccepted) {
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
          + copy.getLogEpoch()
          + (copy.getWrittenMs() == 0
              ? ""
              : ", last written " + Instant.ofEpochSecond(copy.getWrittenMs() / 1000));
    }
    return copy.getObstacle().isEmpty() ? "has none" : "has none that it has said";
  }
}
