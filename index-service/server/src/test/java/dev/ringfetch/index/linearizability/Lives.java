package dev.ringfetch.index.linearizability;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The lives of an index whose server is killed and followed by another, in their order. Each begins
 * empty and is linearizable by itself, and no answer is of a life that had ended before its call:
 * after an answer of one life, there is none of an earlier one to a call that began later.
 *
 * <p>A call without an answer may have been carried out in any life whose server lived during the
 * call.
 */
final class Lives {
  private final List<Life> lives = new ArrayList<>();

  /**
   * A life.
   *
   * @param incarnation of the index, as answers name it
   * @param beginNs before the server's process began
   * @param endNs after it had ended
   */
  record Life(long incarnation, long beginNs, long endNs) {}

  /** Adds the next life. */
  void add(long incarnation, long beginNs, long endNs) {
    lives.add(new Life(incarnation, beginNs, endNs));
  }

  int count() {
    return lives.size();
  }

  /** Why the history cannot be, in several lines; empty if all is well. */
  Optional<String> violation(Collection<Operation> history) {
    final Map<Long, Integer> numbers = new HashMap<>();
    final List<List<Operation>> parts = new ArrayList<>();
    for (final Life life : lives) {
      numbers.put(life.incarnation, parts.size());
      parts.add(new ArrayList<>());
    }
    if (numbers.size() < lives.size()) {
      return Optional.of("two lives with one incarnation: " + lives);
    }
    for (final Operation operation : history) {
      if (operation.isOpen()) {
        for (int i = 0; i < parts.size(); i++) {
          if (operation.invokedNs() <= lives.get(i).endNs
              && operation.answeredNs() >= lives.get(i).beginNs) {
            parts.get(i).add(operation);
          }
        }
        continue;
      }
      final Integer number = numbers.get(operation.answer().incarnation());
      if (number == null) {
        return Optional.of("of no server: " + operation + " lives=" + lives);
      }
      parts.get(number).add(operation);
    }
    final Optional<String> late = late(parts);
    if (late.isPresent()) {
      return late;
    }
    for (int i = 0; i < parts.size(); i++) {
      final Optional<String> violation = HistoryChecker.violation(parts.get(i));
      if (violation.isPresent()) {
        return Optional.of("life " + i + ": " + violation.get());
      }
    }
    return Optional.empty();
  }

  private static Optional<String> late(List<List<Operation>> parts) {
    Operation first = null; // of the lives after this one, the one that was answered first
    for (int i = parts.size() - 1; i >= 0; i--) {
      Operation firstOfThis = first;
      for (final Operation operation : parts.get(i)) {
        if (operation.isOpen()) {
          continue;
        }
        if (first != null && operation.invokedNs() > first.answeredNs()) {
          return Optional.of("of an earlier server: " + operation + " after " + first);
        }
        if (firstOfThis == null || operation.answeredNs() < firstOfThis.answeredNs()) {
          firstOfThis = operation;
        }
      }
      first = firstOfThis;
    }
    return Optional.empty();
  }

  /** Answers to calls that began when the server of their life was dead, and none had followed. */
  long answersOfTheDead(Collection<Operation> history) {
    long count = 0;
    for (final Operation operation : history) {
      for (final Life life : lives) {
        if (!operation.isOpen()
            && operation.answer().incarnation() == life.incarnation
            && operation.invokedNs() > life.endNs) {
          count++;
        }
      }
    }
    return count;
  }

  @Override
  public String toString() {
    return lives.toString();
  }
}
