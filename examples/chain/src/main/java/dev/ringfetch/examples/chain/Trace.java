package dev.ringfetch.examples.chain;

import dev.ringfetch.examples.process.Answer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** The spans of one trace, as the processes of a chain report them. */
final class Trace {
  private static final double NS_PER_US = 1000;
  private static final int FIELDS = 3;
  private static final String PACKAGE = "ringfetch\\.(examples\\.chain|index)\\.v1\\.";

  private final Map<String, Span> byParent = new TreeMap<>();
  private int spans;

  /**
   * A span.
   *
   * @param part process that reported it.
   */
  private record Span(Part part, String id, String name, long ns) {}

  /** Adds what a process has answered. */
  void add(Part part, Answer answer) {
    answer
        .fields()
        .forEach(
            (id, text) -> {
              final String[] fields = text.split(" ", FIELDS);
              byParent.put(
                  fields[0],
                  new Span(
                      part, id, fields[2].replaceFirst(PACKAGE, ""), Long.parseLong(fields[1])));
              spans++;
            });
  }

  /** Its spans, each the parent of the next. */
  private List<Span> line(String root) {
    final List<Span> line = new ArrayList<>();
    for (Span span = byParent.get(root); span != null; span = byParent.get(span.id)) {
      line.add(span);
    }
    return line;
  }

  /**
   * True if the trace is whole: it leads through all processes, each call with a span at its caller
   * and one at its service, and no span is beside that.
   *
   * @param root id of the shopper's span.
   */
  boolean isWhole(String root) {
    final List<String> names =
        line(root).stream().map(span -> span.part + " " + span.name).toList();
    return spans == names.size() && names.equals(expected());
  }

  private static List<String> expected() {
    final List<String> names = new ArrayList<>();
    for (Part caller = Part.shopper; caller != Part.index; caller = caller.next()) {
      names.add(caller + " Sent." + caller.call());
      names.add(caller + " Attempt." + caller.call());
      names.add(caller.next() + " Recv." + caller.call());
    }
    return names;
  }

  /** For people: a line for each span. */
  String describe(String root) {
    final StringBuilder text = new StringBuilder();
    String indent = "  ";
    for (final Span span : line(root)) {
      text.append(
          String.format(
              Locale.ROOT,
              "%-48s %-10s %,9.0f us%n",
              indent + span.name,
              span.part,
              span.ns / NS_PER_US));
      indent += " ";
    }
    return text.toString();
  }
}
