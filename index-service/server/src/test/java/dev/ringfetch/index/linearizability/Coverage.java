package dev.ringfetch.index.linearizability;

import dev.ringfetch.index.linearizability.Call.Kind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Counts what histories contain: a check of a history in which little happened proves little. */
final class Coverage {
  private static final String RING = "ring";
  private static final String GRPC = "grpc";
  private static final String OPEN = "open";
  private static final List<String> ANSWERS = List.of("yes", "no");

  private final Map<String, Long> counts = new HashMap<>();
  private long operations;
  private long meetings;

  /** Adds a history of a round. */
  void add(Collection<Operation> history) {
    operations += history.size();
    for (final Operation operation : history) {
      final String outcome =
          operation.isOpen() ? OPEN : ANSWERS.get(operation.answer().yes() ? 0 : 1);
      counts.merge(name(operation.ring(), operation.call().kind(), outcome), 1L, Long::sum);
    }
    history.stream()
        .collect(Collectors.groupingBy(Operation::key))
        .values()
        .forEach(this::countMeetings);
  }

  /**
   * Counts where an operation over one transport began while the one before, over the other, was.
   */
  private void countMeetings(List<Operation> ofOneKey) {
    final List<Operation> ordered =
        ofOneKey.stream().sorted(Comparator.comparingLong(Operation::invokedNs)).toList();
    for (int i = 1; i < ordered.size(); i++) {
      final Operation before = ordered.get(i - 1);
      if (before.ring() != ordered.get(i).ring()
          && ordered.get(i).invokedNs() < before.answeredNs()) {
        meetings++;
      }
    }
  }

  /** How often an operation over a ring and one over gRPC were under way on a key together. */
  long meetings() {
    return meetings;
  }

  /**
   * The operations, answers and transports that did not come together, and the transports without
   * an operation that stayed open: few do, so that not every kind is among them.
   */
  List<String> missing() {
    final List<String> missing = new ArrayList<>();
    for (final boolean ring : new boolean[] {true, false}) {
      for (final Kind kind : Kind.OF_KEYS) {
        for (final String answer : ANSWERS) {
          final String name = name(ring, kind, answer);
          if (!counts.containsKey(name)) {
            missing.add(name);
          }
        }
      }
      if (Arrays.stream(Kind.values())
          .noneMatch(kind -> counts.containsKey(name(ring, kind, OPEN)))) {
        missing.add((ring ? RING : GRPC) + " " + OPEN);
      }
    }
    return missing;
  }

  /** The sums, in one line. */
  @Override
  public String toString() {
    return String.format(
        "operations=%d ring=%d grpc=%d open=%d meetings=%d",
        operations, sum(RING), sum(GRPC), sum(OPEN), meetings);
  }

  private long sum(String word) {
    return counts.entrySet().stream()
        .filter(entry -> entry.getKey().contains(word))
        .mapToLong(Map.Entry::getValue)
        .sum();
  }

  private static String name(boolean ring, Kind kind, String outcome) {
    return (ring ? RING : GRPC) + " " + kind + " " + outcome;
  }
}
