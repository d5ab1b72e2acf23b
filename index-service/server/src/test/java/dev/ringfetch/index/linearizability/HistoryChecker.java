package dev.ringfetch.index.linearizability;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.opensearch.cluster.coordination.LinearizabilityChecker;
import org.opensearch.cluster.coordination.LinearizabilityChecker.History;

/**
 * Says whether a history is linearizable. The index promises this for each key by itself, so the
 * keys are checked one by one.
 */
public final class HistoryChecker {
  /** The search can take exponential time, with many open operations at least. */
  private static final long LIMIT_S = 120;

  private static final int SHOWN = 40;

  private HistoryChecker() {}

  /** Why the history cannot be, in several lines; empty if all is well. */
  public static Optional<String> violation(Collection<Operation> history) {
    final Map<Integer, List<Operation>> byKey =
        history.stream()
            .collect(Collectors.groupingBy(Operation::key, TreeMap::new, Collectors.toList()));
    for (final Map.Entry<Integer, List<Operation>> one : byKey.entrySet()) {
      final List<Operation> operations = one.getValue();
      final Optional<String> ofVersions = VersionRules.violation(operations);
      if (ofVersions.isPresent()) {
        return Optional.of("key " + one.getKey() + ": " + ofVersions.get());
      }
      if (!isLinearizable(operations)) {
        return Optional.of(
            "key " + one.getKey() + ": no order explains this:\n" + shortest(operations));
      }
    }
    return Optional.empty();
  }

  /** Whether there is an order of these operations, which are of one key, that explains them. */
  static boolean isLinearizable(List<Operation> ofOneKey) {
    final long limitNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_S);
    final boolean[] undecided = {false};
    final boolean linearizable =
        new LinearizabilityChecker()
            .isLinearizable(
                new RegisterSpec(),
                history(ofOneKey),
                call -> Answer.OPEN,
                () -> undecided[0] = System.nanoTime() > limitNs);
    if (undecided[0]) {
      throw new AssertionError(
          "undecided after " + LIMIT_S + " s: " + ofOneKey.size() + " operations");
    }
    return linearizable;
  }

  private static History history(List<Operation> operations) {
    final List<Event> events = new ArrayList<>();
    for (final Operation operation : operations) {
      if (operation.isOpen() && operation.call().kind().isRead()) {
        continue; // It says nothing and changes nothing.
      }
      events.add(new Event(operation.invokedNs(), true, operation));
      if (!operation.isOpen()) {
        events.add(new Event(operation.answeredNs(), false, operation));
      }
    }
    events.sort(Event.ORDER);
    final History history = new History();
    final IdentityHashMap<Operation, Integer> ids = new IdentityHashMap<>();
    for (final Event event : events) {
      if (event.invocation) {
        ids.put(event.operation, history.invoke(event.operation.call()));
      } else {
        history.respond(ids.get(event.operation), event.operation.answer());
      }
    }
    return history;
  }

  /** The end of the shortest part, from the start, that cannot be either. */
  private static String shortest(List<Operation> operations) {
    final List<Long> answers =
        operations.stream()
            .filter(operation -> !operation.isOpen())
            .map(Operation::answeredNs)
            .sorted()
            .toList();
    int possible = -1;
    int impossible = answers.size() - 1;
    while (impossible - possible > 1) {
      final int middle = (possible + impossible) >>> 1;
      if (isLinearizable(until(answers.get(middle), operations))) {
        possible = middle;
      } else {
        impossible = middle;
      }
    }
    final List<Operation> part = until(answers.get(impossible), operations);
    return part.stream()
        .skip(Math.max(0, part.size() - SHOWN))
        .map(Operation::toString)
        .collect(Collectors.joining("\n"));
  }

  /** What was known at that moment, in the order in which it began. */
  private static List<Operation> until(long nowNs, List<Operation> operations) {
    return operations.stream()
        .filter(operation -> operation.invokedNs() <= nowNs)
        .map(operation -> operation.answeredNs() <= nowNs ? operation : operation.open())
        .sorted(Comparator.comparingLong(Operation::invokedNs))
        .toList();
  }

  private record Event(long ns, boolean invocation, Operation operation) {
    /** Of one moment, what begins comes first: then the two count as concurrent. */
    static final Comparator<Event> ORDER =
        Comparator.comparingLong(Event::ns)
            .thenComparing(Event::invocation, Comparator.reverseOrder());
  }
}
