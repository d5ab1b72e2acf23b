package dev.ringfetch.index.cli;

import dev.ringfetch.index.cli.LostIndexes.Copy;
import dev.ringfetch.index.cli.LostIndexes.LostIndex;
import dev.ringfetch.index.v1.RecoverIndexRequest;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command that has indexes go on of which no node lives that has all. */
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

  RecoverCommand(Session session) {
    super(session);
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
    try (ClusterQuestions questions =
        new ClusterQuestions(server().addresses(), server().timeout())) {
      final LostIndexes found = LostIndexes.of(questions.answers());
      check(found, name);
      final List<LostIndex> lost =
          found.lost().stream()
              .filter(each -> name.isEmpty() || each.group().getIndex().equals(name))
              .toList();
      for (final LostIndex each : lost) {
        if (acceptLoss && !each.unknown().isEmpty()) {
          throw new CommandFailure(
              ExitCode.FAILED,
              "a node may have more of '"
                  + Printable.escape(each.group().getIndex())
                  + "' than it says; end it, or start it again: "
                  + String.join(", ", each.unknown()));
        }
        if (!isJson()) {
          print(each, out);
        }
        if (acceptLoss) {
          questions.recover(found.address(), request(each));
          say(out, "  its loss is accepted");
        }
        if (isJson()) { // after the change, which may be refused
          print(each, out);
        }
      }
      if (lost.isEmpty()) {
        say(out, "of each index a node lives that has all");
      } else if (!acceptLoss) {
        say(out, "nothing was changed: --accept-loss has them go on so");
      }
    }
    return ExitCode.OK;
  }

  private void check(LostIndexes found, String name) {
    if (found.address().isEmpty()) {
      throw new CommandFailure(
          ExitCode.UNREACHABLE, "no node reaches the coordinator: nothing can be changed");
    }
    if (!name.isEmpty()
        && found.lost().stream().noneMatch(each -> each.group().getIndex().equals(name))) {
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

  private static RecoverIndexRequest request(LostIndex lost) {
    return RecoverIndexRequest.newBuilder()
        .setIndex(lost.group().getIndex())
        .setStateVersion(lost.group().getStateVersion())
        .setEpoch(lost.group().getEpoch())
        .setNode(lost.best().map(Copy::node).orElse(0L))
        .build();
  }

  private void print(LostIndex lost, Output out) {
    final String name = lost.group().getIndex();
    final Optional<Copy> best = lost.best();
    if (isJson()) {
      out.object()
          .text("index", name)
          .text("goes_on_with", best.map(Copy::address).orElse(""))
          .number("records", best.map(Copy::end).orElse(0L))
          .flag("accepted", acceptLoss)
          .end();
      return;
    }
    out.line("index '" + Printable.escape(name) + "': no node lives that has all");
    for (final Copy copy : lost.copies()) {
      out.line("  " + copy.address() + " has " + text(copy));
    }
    out.line(
        best.isPresent()
            ? "  goes on with what " + best.get().address() + " has; what was written later is lost"
            : "  begins anew without entries; all is lost");
  }

  private static String text(Copy copy) {
    if (copy.epoch() != 0) {
      return "records up to " + Printable.number(copy.end()) + ", of epoch " + copy.epoch();
    }
    return copy.mayHaveMore() ? "none that it has read; its disk may have some" : "none";
  }
}
