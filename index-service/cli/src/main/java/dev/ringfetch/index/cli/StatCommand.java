package dev.ringfetch.index.cli;

import dev.ringfetch.index.v1.IndexDescription;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command that shows the indexes of a server again and again, and how they grow. */
@Command(name = "stat", description = "Show entries, growth, memory and journal until Ctrl-C.")
final class StatCommand extends ClientCommand {
  /** Moves the cursor of a terminal to the upper left corner, and clears what is below. */
  private static final String CLEAR = "\u001b[H\u001b[J";

  @Mixin private IndexName index;

  @Option(names = "--once", description = "Print once.")
  private boolean once;

  @Option(
      names = "--interval",
      paramLabel = "TIME",
      defaultValue = "2s",
      converter = TimeSpan.class,
      description = "Pause between two times. Default: 2s.")
  private Duration interval;

  private final Map<String, Long> before = new HashMap<>();
  private long beforeNs;

  StatCommand(Session session) {
    super(session);
  }

  @Override
  void check() {
    index.orElse("");
  }

  @Override
  int run(Connection connection, Output out) {
    do {
      final List<IndexDescription> indexes = describe(connection);
      final long nowNs = System.nanoTime();
      if (!once && !session().isShell() && !isJson() && stdio().terminals().output()) {
        out.line(
            CLEAR
                + "index server "
                + server().server()
                + ", every "
                + TimeSpan.text(interval)
                + "; Ctrl-C ends");
      }
      print(indexes, nowNs, out);
      connection.describeServer().ifPresent(state -> JournalReport.print(state, isJson(), out));
      out.flush();
      before.clear();
      indexes.stream()
          .filter(each -> !each.getLedElsewhere())
          .forEach(each -> before.put(each.getName(), each.getEntries()));
      beforeNs = nowNs;
    } while (!once && !session().isShell() && !stop().isRequestedWithin(interval.toNanos()));
    return ExitCode.OK;
  }

  private List<IndexDescription> describe(Connection connection) {
    final String name = index.orElse("");
    return name.isEmpty() ? connection.list() : List.of(connection.require(name));
  }

  private void print(List<IndexDescription> indexes, long nowNs, Output out) {
    final TextTable table = new TextTable("llrr").row("INDEX", "KIND", "ENTRIES", "GROWTH/S");
    for (final IndexDescription each : indexes) {
      final Long earlier = before.get(each.getName());
      final double growth =
          earlier == null || each.getLedElsewhere()
              ? 0
              : (each.getEntries() - earlier) * 1e9 / (nowNs - beforeNs);
      if (isJson()) {
        final Output.Json line = IndexTable.json(each, out);
        if (!each.getLedElsewhere()) {
          line.number("growth_per_second", growth);
        }
        line.end();
        continue;
      }
      table.row(
          Printable.escape(each.getName()),
          IndexTable.kind(each),
          IndexTable.entries(each),
          earlier == null || each.getLedElsewhere()
              ? "-"
              : String.format(Locale.ROOT, "%,+.0f", growth));
    }
    if (isJson()) {
      return;
    }
    table.print(out, width());
    if (!indexes.isEmpty()) {
      final IndexDescription any = indexes.get(0);
      out.line(
          String.format(
              Locale.ROOT,
              "memory: %s, %.1f %%",
              IndexTable.memory(any),
              100.0 * any.getMemoryUsed() / any.getMemoryLimit()));
    }
  }
}
