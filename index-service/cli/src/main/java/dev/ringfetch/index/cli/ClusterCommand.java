package dev.ringfetch.index.cli;

import dev.ringfetch.index.cli.ClusterView.IndexView;
import dev.ringfetch.index.cli.ClusterView.NodeView;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command that shows the nodes of a cluster, and the leader and the members of each index. */
@Command(
    name = "cluster",
    description = {
      "Show the nodes of a cluster, leaders and members of its indexes.",
      "Some nodes are enough: --server HOST:PORT,HOST:PORT; they name the others."
    })
final class ClusterCommand extends ClientCommand {
  /** Moves the cursor of a terminal to the upper left corner, and clears what is below. */
  private static final String CLEAR = "\u001b[H\u001b[J";

  @Option(names = "--watch", description = "Show it again and again, until Ctrl-C.")
  private boolean watch;

  @Option(
      names = "--interval",
      paramLabel = "TIME",
      defaultValue = "1s",
      converter = TimeSpan.class,
      description = "Pause between two times. Default: 1s.")
  private Duration interval;

  ClusterCommand(Session session) {
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
    final boolean screen = watch && !isJson() && stdio().terminals().output();
    try (ClusterQuestions questions = ClusterQuestions.of(server())) {
      do {
        final ClusterView view = questions.ask();
        if (screen) {
          out.line(CLEAR + "cluster, every " + TimeSpan.text(interval) + "; Ctrl-C ends");
        }
        if (isJson()) {
          printJson(view, out);
        } else {
          print(view, out);
        }
        out.flush();
      } while (watch && !stop().isRequestedWithin(interval.toNanos()));
    }
    return ExitCode.OK;
  }

  private void print(ClusterView view, Output out) {
    final TextTable nodes = new TextTable("llr").row("NODE", "STATE", "LEADS");
    for (final NodeView node : view.nodes()) {
      nodes.row(
          node.address(),
          state(node),
          node.answers()
              ? Long.toString(
                  view.indexes().stream()
                      .filter(index -> index.leader().equals(node.address()))
                      .count())
              : "-");
    }
    nodes.print(out, width());
    if (view.indexes().isEmpty()) {
      out.line("no index yet: '" + IndexProgram.NAME + " create NAME' makes one");
    } else {
      final TextTable indexes =
          new TextTable("lrlll")
              .row("INDEX", "EPOCH", "LEADER", "STATE", "FOLLOWERS AND THEIR LAG");
      for (final IndexView index : view.indexes()) {
        indexes.row(
            Printable.escape(index.index()),
            Long.toString(index.epoch()),
            index.leader(),
            state(index),
            followers(index));
      }
      out.line("");
      indexes.print(out, width());
    }
    out.line("");
    out.line(
        view.coordinated() == 0
            ? "WARNING: no node reaches the coordinator: no node can take another's place"
            : "coordinator: reached by "
                + view.coordinated()
                + " of "
                + view.answering()
                + " nodes");
    warnings(view).forEach(out::line);
  }

  /** Says which nodes' disks are full. */
  static List<String> warnings(ClusterView view) {
    return view.nodes().stream()
        .filter(node -> node.disk().refuses())
        .map(
            node ->
                "WARNING: "
                    + node.address()
                    + ": the disk refuses writes, or soon will"
                    + (node.disk().millis() == 0
                        ? ""
                        : ", for " + Math.max(1, node.disk().millis() / 1000) + " s")
                    + ": "
                    + Printable.escape(node.disk().obstacle()))
        .toList();
  }

  private static String state(NodeView node) {
    if (!node.answers()) {
      return "no answer";
    }
    return "lives"
        + (node.coordinated() ? "" : ", without coordinator")
        + (node.disk().refuses() ? ", disk full" : "");
  }

  private static String state(IndexView index) {
    if (!index.served()) {
      return index.lost() ? "lost" : "not served";
    }
    return index.isComplete() ? "complete" : index.members() + " of " + index.replicas();
  }

  private static String followers(IndexView index) {
    final List<String> parts = new ArrayList<>();
    for (final ClusterView.MemberView each : index.followers()) {
      final String lag =
          each.lag().isPresent() ? " " + Printable.number(each.lag().getAsLong()) : "";
      final String path = each.replicatedBy().isEmpty() ? "" : " " + each.replicatedBy();
      parts.add(each.address() + lag + path);
    }
    index.joining().forEach(each -> parts.add(each + " joins"));
    return parts.stream().collect(Collectors.joining(", "));
  }

  private static void printJson(ClusterView view, Output out) {
    for (final NodeView node : view.nodes()) {
      out.object()
          .text("node", Long.toHexString(node.id()))
          .text("address", node.address())
          .flag("answers", node.answers())
          .flag("coordinator_reached", node.coordinated())
          .text("disk_obstacle", node.disk().obstacle())
          .number("disk_obstacle_ms", node.disk().millis())
          .end();
    }
    for (final IndexView index : view.indexes()) {
      out.object()
          .text("index", index.index())
          .number("epoch", index.epoch())
          .text("leader", index.leader())
          .flag("served", index.served())
          .flag("lost", index.lost())
          .number("members", index.members())
          .number("replicas", index.replicas())
          .end();
      for (final ClusterView.MemberView member : index.followers()) {
        final Output.Json line =
            out.object().text("index", index.index()).text("member", member.address());
        member.lag().ifPresent(lag -> line.number("lag", lag));
        if (!member.replicatedBy().isEmpty()) {
          line.text("replicated_by", member.replicatedBy());
        }
        line.end();
      }
      for (final String joining : index.joining()) {
        out.object().text("index", index.index()).text("joining", joining).end();
      }
    }
  }
}
