package dev.ringfetch.index.linearizability;

import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What the versions of one key owe without any search for an order: they grow in real time, also
 * across deletes, and each belongs to one value and to one write.
 */
final class VersionRules {
  private VersionRules() {}

  /** Says what is wrong with the history of one key, if anything is. */
  static Optional<String> violation(List<Operation> ofOneKey) {
    final Optional<String> shrunk = shrunk(ofOneKey, true);
    return shrunk.isPresent() ? shrunk : shared(ofOneKey, true);
  }

  /**
   * Says what is wrong with the history of one key whose last writes a crash may have taken: what
   * is read may be older than before, and a write that was lost and comes again gets another
   * version. A version that was given out is that of no other value.
   */
  static Optional<String> violationWithLosses(List<Operation> ofOneKey) {
    final Optional<String> shrunk = shrunk(ofOneKey, false);
    return shrunk.isPresent() ? shrunk : shared(ofOneKey, false);
  }

  /** What was answered before another operation began is older than what that writes. */
  private static Optional<String> shrunk(List<Operation> operations, boolean reads) {
    final Iterator<Operation> answered =
        operations.stream()
            .filter(operation -> !operation.isOpen())
            .sorted(Comparator.comparingLong(Operation::answeredNs))
            .iterator();
    Operation next = answered.hasNext() ? answered.next() : null;
    Operation newest = null;
    for (final Operation operation :
        operations.stream().sorted(Comparator.comparingLong(Operation::invokedNs)).toList()) {
      while (next != null && next.answeredNs() < operation.invokedNs()) {
        if (newest == null || next.answer().version() > newest.answer().version()) {
          newest = next;
        }
        next = answered.hasNext() ? answered.next() : null;
      }
      final long version = operation.answer().version();
      if (version > 0 && newest != null && (reads || operation.wrote())) {
        final long least = newest.answer().version() + (operation.wrote() ? 1 : 0);
        if (version < least) {
          return Optional.of("a version went back: " + operation + " after " + newest);
        }
      }
    }
    return Optional.empty();
  }

  private static Optional<String> shared(List<Operation> operations, boolean once) {
    final Map<Long, Operation> byVersion = new HashMap<>();
    final Map<Long, Operation> byValue = new HashMap<>();
    final Map<Long, Operation> writes = new HashMap<>();
    for (final Operation operation : operations) {
      final long version = operation.answer().version();
      if (version <= 0) {
        continue;
      }
      final Operation sameVersion = byVersion.putIfAbsent(version, operation);
      if (sameVersion != null && sameVersion.valueAtVersion() != operation.valueAtVersion()) {
        return Optional.of("two values of one version: " + sameVersion + " and " + operation);
      }
      final Operation sameValue = byValue.putIfAbsent(operation.valueAtVersion(), operation);
      if (once && sameValue != null && sameValue.answer().version() != version) {
        return Optional.of("two versions of one value: " + sameValue + " and " + operation);
      }
      final Operation sameWrite = operation.wrote() ? writes.put(version, operation) : null;
      if (sameWrite != null) {
        return Optional.of("two writes of one version: " + sameWrite + " and " + operation);
      }
    }
    return Optional.empty();
  }
}
