package dev.ringfetch.benchmarks;

import dev.ringfetch.benchmarks.stages.Stage;
import dev.ringfetch.benchmarks.stages.StageFigures;
import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.load.Spread;
import java.io.PrintStream;
import java.util.List;
import java.util.Locale;

/**
 * The budget of a call: compares its stages in one thread, plus the way between two processes, with
 * the call between two processes.
 *
 * @param stages rounds of the call in one thread, in nanoseconds.
 * @param bytes that the stages allocate.
 * @param raw rounds of the way there and back.
 * @param calls rounds of the call between two processes.
 * @param clientIdleNs a look of the caller that finds nothing.
 * @param serverIdleNs a look of the server's poller that finds nothing.
 */
record StageBudget(
    List<StageFigures> stages,
    StageFigures bytes,
    List<Figures> raw,
    List<Figures> calls,
    double clientIdleNs,
    double serverIdleNs) {
  private static final double NS_PER_US = 1_000;
  private static final String ROW = "%-14s %-6s %-27s %6s  %s%n";

  /** Nanoseconds of the stages that a call waits for. */
  Spread path() {
    return Spread.of(stages, round -> round.sum(false));
  }

  /** Nanoseconds of the way there and back. */
  Spread way() {
    return Spread.of(raw, figures -> figures.p50Us() * NS_PER_US);
  }

  /** Nanoseconds of the call between two processes. */
  Spread whole() {
    return Spread.of(calls, figures -> figures.p50Us() * NS_PER_US);
  }

  /** The difference of the whole and its parts, in nanoseconds: round by round. */
  Spread rest() {
    final double[] rests = new double[stages.size()];
    for (int i = 0; i < rests.length; i++) {
      rests[i] = (calls.get(i).p50Us() - raw.get(i).p50Us()) * NS_PER_US - stages.get(i).sum(false);
    }
    return Spread.of(rests);
  }

  /** Prints it: for people, then for scripts. */
  void print(PrintStream out) {
    out.printf(ROW, "stage", "of", "ns", "bytes", "what it is");
    for (final Stage stage : Stage.values()) {
      out.printf(
          ROW,
          stage,
          stage.part(),
          Spread.of(stages, round -> round.of(stage)).text(0),
          number(bytes.of(stage)),
          stage.text());
    }
    out.println();
    final String hidden = Spread.of(stages, round -> round.sum(true)).text(0);
    sum(
        out,
        "on the way",
        path().text(0),
        number(bytes.sum(false)),
        "stages that a call waits for");
    sum(out, "hidden", hidden, number(bytes.sum(true)), "the other side works meanwhile");
    sum(out, "between cores", way().text(0), "", "raw shared memory, 32 bytes there and back, p50");
    sum(out, "not explained", rest().text(0), "", "the whole without the way and the stages on it");
    sum(out, "whole", whole().text(0), "", "the call between two processes, p50");
    out.printf(
        Locale.ROOT,
        "%nA look that finds nothing takes the caller %.0f ns and the server's poller %.0f ns: what"
            + " comes meanwhile waits for the next one.%n%n",
        clientIdleNs,
        serverIdleNs);
    for (final Stage stage : Stage.values()) {
      result(
          out,
          stage.toString(),
          stage.part().toString(),
          Spread.of(stages, round -> round.of(stage)),
          number(bytes.of(stage)));
    }
    result(out, "on-the-way", "both", path(), number(bytes.sum(false)));
    result(out, "between-cores", "both", way(), "0");
    result(out, "not-explained", "both", rest(), "0");
    result(out, "whole", "both", whole(), number(bytes.sum(false) + bytes.sum(true)));
  }

  private static void sum(PrintStream out, String name, String ns, String bytes, String text) {
    out.printf(ROW, name, "", ns, bytes, text);
  }

  private static void result(PrintStream out, String name, String of, Spread ns, String bytes) {
    out.printf(
        Locale.ROOT, "RESULT stage=%s of=%s ns=%.1f bytes=%s%n", name, of, ns.median(), bytes);
  }

  private static String number(double figure) {
    return Long.toString(Math.round(figure)); // a format would print a negative zero
  }
}
