package dev.ringfetch.index.linearizability;

import dev.ringfetch.index.linearizability.Call.Kind;
import dev.ringfetch.index.linearizability.KillEpoch.Seen;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The check of what clients saw of an index over some lives of its server. Each durability promises
 * something else:
 *
 * <ul>
 *   <li>DISK: the whole history is linearizable, as if no server had ended.
 *   <li>MEMORY: each life is, and begins empty.
 *   <li>INTERVAL: each life is, and begins with what is left: the writes of the life before, but
 *       for some of those that were answered within the window before its end.
 * </ul>
 */
final class KillChecks {
  /**
   * A life of the server.
   *
   * @param number of it
   * @param beginNs before the process began
   * @param endNs after the process had ended
   * @param windowNs how long before the end answered writes may be lost
   */
  record Span(int number, long beginNs, long endNs, long windowNs) {}

  private final KilledIndex index;
  private final List<Span> spans;
  private final KillCounts counts;

  /**
   * Creates a check.
   *
   * @param spans of the lives in which the index was served, in their order
   */
  KillChecks(KilledIndex index, List<Span> spans, KillCounts counts) {
    this.index = index;
    this.spans = spans;
    this.counts = counts;
  }

  /** Why the history cannot be, in several lines; empty if all is well. */
  Optional<String> violation(List<Seen> history) {
    count(history);
    final Optional<String> violation =
        switch (index.durability()) {
          case DISK -> HistoryChecker.violation(bounded(operations(history)));
          case MEMORY -> violationOfLives(history);
          default -> violationWithLosses(history);
        };
    return violation.map(text -> index + ": " + text);
  }

  private void count(List<Seen> history) {
    counts.operations.addAndGet(history.size());
    counts.keysChecked.addAndGet(
        history.stream().mapToInt(seen -> seen.operation().key()).distinct().count());
    for (final Seen seen : history) {
      if (seen.operation().wrote() && seen.began() < seen.answered()) {
        final int life = life(seen);
        if (life >= 0) {
          (life == seen.answered() ? counts.carriedOutLater : counts.fromOutcomes)
              .incrementAndGet();
        }
      }
    }
  }

  private int life(Seen seen) {
    return index.life(seen.operation().answer().version());
  }

  private static List<Operation> operations(List<Seen> history) {
    return history.stream().map(Seen::operation).toList();
  }

  /**
   * Bounds the ends of entries, which are open otherwise and make the search for an order long: an
   * end does nothing after an answer with a later version. Without those that never do anything.
   */
  private static List<Operation> bounded(List<Operation> operations) {
    final Map<Long, Operation> writes = new HashMap<>(); // by value
    for (final Operation operation : operations) {
      if (operation.wrote()) {
        writes.put(operation.call().value(), operation);
      }
    }
    final List<Operation> bounded = new ArrayList<>(operations.size());
    for (final Operation operation : operations) {
      final boolean isEnd =
          operation.call().kind() == Kind.REMOVAL
              && operation.isOpen()
              && operation.call().value() != 0;
      final Operation write = isEnd ? writes.get(operation.call().value()) : null;
      final long lastNs = write == null ? Long.MAX_VALUE : replacedNs(operations, write);
      if (lastNs == Long.MAX_VALUE) {
        bounded.add(operation);
      } else if (lastNs >= operation.invokedNs()) {
        bounded.add(
            new Operation(
                operation.key(),
                operation.call(),
                new Answer(false, 0, 0, write.answer().incarnation()),
                operation.ring(),
                operation.invokedNs(),
                lastNs));
      }
    }
    return bounded;
  }

  /** When an answer first told of a version of the key after that of a write. */
  private static long replacedNs(List<Operation> operations, Operation write) {
    return operations.stream()
        .filter(operation -> operation.key() == write.key() && !operation.isOpen())
        .filter(operation -> operation.answer().incarnation() == write.answer().incarnation())
        .filter(operation -> operation.answer().version() > write.answer().version())
        .mapToLong(Operation::answeredNs)
        .min()
        .orElse(Long.MAX_VALUE);
  }

  private Optional<String> violationOfLives(List<Seen> history) {
    final Lives lives = new Lives();
    for (final Span span : spans) {
      lives.add(index.incarnation(span.number), span.beginNs, span.endNs);
    }
    return lives.violation(bounded(operations(history)));
  }

  private Optional<String> violationWithLosses(List<Seen> history) {
    final Map<Integer, List<Seen>> byKey =
        history.stream()
            .collect(
                Collectors.groupingBy(
                    seen -> seen.operation().key(), TreeMap::new, Collectors.toList()));
    for (final Map.Entry<Integer, List<Seen>> one : byKey.entrySet()) {
      final Optional<String> violation = violationOfKey(one.getValue());
      if (violation.isPresent()) {
        return violation.map(text -> "key " + one.getKey() + ": " + text);
      }
    }
    return Optional.empty();
  }

  private Optional<String> violationOfKey(List<Seen> history) {
    final Optional<String> ofVersions =
        VersionRules.violationWithLosses(
            operations(history.stream().filter(seen -> !seen.base()).toList()));
    if (ofVersions.isPresent()) {
      return ofVersions;
    }
    for (int i = 0; i < spans.size(); i++) {
      final Span span = spans.get(i);
      final List<Operation> life = new ArrayList<>();
      final List<Operation> certain = new ArrayList<>();
      final Operation left = i + 1 < spans.size() ? base(history, spans.get(i + 1)) : null;
      for (final Seen seen : history) {
        add(span, seen, life, certain);
        if (left != null && isEnd(seen, span, left)) {
          certain.add(seen.operation());
        }
      }
      final Optional<String> within = HistoryChecker.violation(bounded(life));
      if (within.isPresent()) {
        return within.map(text -> "life " + span.number + ": " + text);
      }
      if (left != null) {
        certain.add(left);
        countLost(life, left);
        if (!HistoryChecker.isLinearizable(bounded(certain))) {
          return Optional.of(
              "no loss explains what is left of "
                  + span
                  + ": "
                  + left
                  + "\n"
                  + certain.stream()
                      .filter(operation -> !operation.isOpen() || !operation.call().kind().isRead())
                      .map(Operation::toString)
                      .collect(Collectors.joining("\n")));
        }
      }
    }
    return Optional.empty();
  }

  /** Whether an entry may have ended between a life and the read that tells what is left of it. */
  private static boolean isEnd(Seen seen, Span span, Operation left) {
    final Operation operation = seen.operation();
    return operation.isOpen()
        && operation.call().kind() == Kind.REMOVAL
        && seen.began() <= span.number
        && operation.invokedNs() >= span.endNs
        && operation.invokedNs() <= left.answeredNs();
  }

  private static Operation base(List<Seen> history, Span span) {
    return history.stream()
        .filter(seen -> seen.base() && seen.began() == span.number)
        .map(Seen::operation)
        .findFirst()
        .orElse(null);
  }

  private void countLost(List<Operation> life, Operation left) {
    counts.lost.addAndGet(
        life.stream()
            .filter(Operation::wrote)
            .filter(operation -> operation.answer().version() > left.answer().version())
            .filter(operation -> left.answer().version() > 0)
            .count());
  }

  /** Adds what an operation was in a life, and what of it is certain to be left after the life. */
  private void add(Span span, Seen seen, List<Operation> life, List<Operation> certain) {
    final Operation operation = seen.operation();
    if (seen.base()) {
      if (seen.began() == span.number && operation.answer().version() > 0) {
        final Operation put =
            new Operation(
                operation.key(),
                Call.put(operation.answer().value()),
                new Answer(true, operation.answer().version(), 0),
                false,
                span.beginNs - 2,
                span.beginNs - 1);
        life.add(put);
        certain.add(put);
      }
      return;
    }
    if (seen.began() > span.number || seen.answered() < span.number) {
      return;
    }
    if (operation.isOpen()) {
      if (operation.invokedNs() < span.endNs) {
        final Operation open = later(operation, span);
        life.add(open);
        certain.add(open);
      }
      return;
    }
    if (seen.began() == seen.answered()) {
      life.add(operation);
      certain.add(
          operation.answeredNs() < span.endNs - span.windowNs ? operation : operation.open());
      return;
    }
    final int executed = operation.wrote() ? life(seen) : -1;
    if (executed >= 0) {
      if (executed > span.number) { // it may have been carried out, and lost
        life.add(operation.open());
        certain.add(operation.open());
      } else if (executed == span.number) {
        final long endNs = Math.min(operation.answeredNs(), span.endNs);
        final Operation done =
            new Operation(
                operation.key(),
                operation.call(),
                operation.answer(),
                operation.ring(),
                Math.max(operation.invokedNs(), span.beginNs),
                endNs);
        life.add(done);
        final boolean left = seen.answered() > span.number || endNs < span.endNs - span.windowNs;
        certain.add(left ? done : done.open());
      }
      return;
    }
    if (operation.call().kind() == Kind.COMPARE_AND_SET && seen.answered() == span.number) {
      return; // lost, now or before
    }
    // A removal: of this life, or of one before.
    final Operation open = later(operation, span).open();
    life.add(open);
    certain.add(open);
  }

  private static Operation later(Operation operation, Span span) {
    return new Operation(
        operation.key(),
        operation.call(),
        operation.answer(),
        operation.ring(),
        Math.max(operation.invokedNs(), span.beginNs),
        Math.max(operation.answeredNs(), span.beginNs));
  }
}
