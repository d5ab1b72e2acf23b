package dev.ringfetch.index.linearizability;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.linearizability.Call.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Accepts histories that can be, and rejects them once they were corrupted. */
final class HistoryCheckerTest {
  private static final int SEEDS = 50;
  private static final int SIZE = 300;

  /** Versions are multiples of this, so that there is room for wrong ones in between. */
  private static final int VERSION_STEP = 10;

  @Test
  void goodHistoriesAreAccepted() {
    for (int seed = 0; seed < SEEDS; seed++) {
      assertEquals(Optional.empty(), HistoryChecker.violation(good(seed)), "seed=" + seed);
    }
  }

  @Test
  void staleReadIsRejected() {
    everyCorrupted(HistoryCheckerTest::staleRead);
  }

  @Test
  void lostUpdateIsRejected() {
    everyCorrupted(HistoryCheckerTest::lostUpdate);
  }

  @Test
  void versionThatGoesBackIsRejected() {
    everyCorrupted(HistoryCheckerTest::versionBack);
  }

  @Test
  void valueOfNoWriteIsRejected() {
    everyCorrupted(HistoryCheckerTest::writeForgotten);
  }

  /** Here the versions are in order: only the search can know. */
  @Test
  void readOfDeletedEntryIsRejected() {
    final Operation put = at(0, 10, Call.put(1), new Answer(true, 5, 0));
    final Operation delete = at(20, 30, Call.delete(), new Answer(true, 0, 0));
    final Operation get = at(25, 40, Call.read(Kind.GET), new Answer(true, 5, 1));
    final Operation late = at(31, 40, Call.read(Kind.BATCH_GET), new Answer(true, 5, 1));
    assertEquals(Optional.empty(), HistoryChecker.violation(List.of(put, delete, get)));
    assertEquals(Optional.empty(), VersionRules.violation(List.of(put, delete, late)));
    final List<Operation> wrong =
        List.of(late, delete, put, at(50, 60, Call.delete(), Answer.OPEN));
    final String text = HistoryChecker.violation(wrong).orElseThrow();
    assertEquals("key 0: no order explains this:\n" + put + "\n" + delete + "\n" + late, text);
  }

  @Test
  void openWriteMayTakeEffectAtAnyLaterTime() {
    final Operation open = at(10, 20, Call.put(1), Answer.OPEN);
    final Operation absent = at(30, 40, Call.read(Kind.GET), Answer.ABSENT);
    final Operation found = at(50, 60, Call.read(Kind.GET), new Answer(true, 5, 1));
    assertLinearizable(open, absent);
    assertLinearizable(open, absent, found);
    assertNotLinearizable(open, found, at(70, 80, Call.read(Kind.GET), Answer.ABSENT));
    assertNotLinearizable(at(61, 70, Call.put(1), Answer.OPEN), found);
    assertNotLinearizable(found);
  }

  @Test
  void openDeleteExplainsAbsenceOnce() {
    final Operation put = at(0, 10, Call.put(1), new Answer(true, 5, 0));
    final Operation open = at(20, 21, Call.delete(), Answer.OPEN);
    final Operation absent = at(30, 40, Call.read(Kind.GET), Answer.ABSENT);
    final Operation again = at(50, 60, Call.put(2), new Answer(true, 6, 0));
    final Operation absentAgain = at(70, 80, Call.read(Kind.GET), Answer.ABSENT);
    assertLinearizable(put, open, absent, again);
    assertNotLinearizable(put, absent);
    assertNotLinearizable(put, open, absent, again, absentAgain);
  }

  @Test
  void versionsHaveOneValueAndOneWrite() {
    final Operation put = at(0, 10, Call.put(1), new Answer(true, 5, 0));
    final Operation other = at(5, 10, Call.put(2), new Answer(false, 5, 0));
    final Operation read = at(5, 10, Call.read(Kind.GET), new Answer(true, 6, 1));
    assertTrue(VersionRules.violation(List.of(put, other)).orElseThrow().startsWith("two values"));
    assertTrue(VersionRules.violation(List.of(put, read)).orElseThrow().startsWith("two versions"));
    assertTrue(VersionRules.violation(List.of(put, put)).orElseThrow().startsWith("two writes"));
  }

  /** Corrupts a good history of each seed, where it can be. */
  private static void everyCorrupted(Function<List<Operation>, Optional<List<Operation>>> fault) {
    int corrupted = 0;
    for (int seed = 0; seed < SEEDS; seed++) {
      final Optional<List<Operation>> history = fault.apply(good(seed));
      if (history.isPresent()) {
        corrupted++;
        assertFalse(HistoryChecker.isLinearizable(history.get()), "seed=" + seed);
        assertTrue(HistoryChecker.violation(history.get()).isPresent(), "seed=" + seed);
      }
    }
    assertTrue(corrupted > SEEDS / 2, corrupted + " of " + SEEDS + " histories could be corrupted");
  }

  /** A read late in the history answers an entry that was overwritten before it began. */
  private static Optional<List<Operation>> staleRead(List<Operation> history) {
    for (int i = history.size() / 2; i < history.size(); i++) {
      final Operation read = history.get(i);
      if (read.call().kind() == Kind.GET && read.answer().yes()) {
        for (final Operation older : history) {
          if (older.wrote() && older.answer().version() < newestBefore(read, history)) {
            final Answer stale = new Answer(true, older.answer().version(), older.valueAtVersion());
            return Optional.of(replaced(history, i, read.answered(stale)));
          }
        }
      }
    }
    return Optional.empty();
  }

  /** A second compare-and-set is applied on a version that another has replaced before it began. */
  private static Optional<List<Operation>> lostUpdate(List<Operation> history) {
    for (int i = history.size() / 2; i < history.size(); i++) {
      final Operation first = history.get(i);
      if (first.call().kind() == Kind.COMPARE_AND_SET && first.wrote()) {
        final long value = SIZE + 1;
        final Operation second =
            at(
                first.answeredNs() + 1,
                first.answeredNs() + 2,
                Call.compareAndSet(first.call().expected(), value),
                new Answer(true, first.answer().version() + 1, value));
        final List<Operation> corrupted = new ArrayList<>(history);
        corrupted.add(second);
        return first.call().expected() == 0 ? Optional.empty() : Optional.of(corrupted);
      }
    }
    return Optional.empty();
  }

  /** A write has a version below one that was known before it began, wherever it is seen. */
  private static Optional<List<Operation>> versionBack(List<Operation> history) {
    for (int i = history.size() / 2; i < history.size(); i++) {
      final Operation write = history.get(i);
      final long known = newestBefore(write, history);
      if (write.wrote() && known > 0) {
        return Optional.of(
            withVersions(
                history, version -> version == write.answer().version() ? known - 1 : version));
      }
    }
    return Optional.empty();
  }

  /** A write whose value is read is not in the history. */
  private static Optional<List<Operation>> writeForgotten(List<Operation> history) {
    for (final Operation read : history) {
      if (read.call().kind() == Kind.GET && read.answer().yes()) {
        return Optional.of(
            history.stream()
                .filter(operation -> operation.call().value() != read.answer().value())
                .toList());
      }
    }
    return Optional.empty();
  }

  /** The highest version in answers that had come before an operation began; 0 if there is none. */
  private static long newestBefore(Operation operation, List<Operation> history) {
    return history.stream()
        .filter(other -> !other.isOpen() && other.answeredNs() < operation.invokedNs())
        .mapToLong(other -> other.answer().version())
        .max()
        .orElse(0);
  }

  private static List<Operation> good(long seed) {
    return withVersions(GoodHistory.make(seed, SIZE), version -> version * VERSION_STEP);
  }

  private static List<Operation> withVersions(
      List<Operation> history, Function<Long, Long> changed) {
    return history.stream()
        .map(
            one ->
                new Operation(
                    one.key(),
                    new Call(
                        one.call().kind(),
                        one.call().value(),
                        changed.apply(one.call().expected())),
                    one.answer().version() <= 0
                        ? one.answer()
                        : new Answer(
                            one.answer().yes(),
                            changed.apply(one.answer().version()),
                            one.answer().value()),
                    one.ring(),
                    one.invokedNs(),
                    one.answeredNs()))
        .toList();
  }

  private static List<Operation> replaced(List<Operation> history, int index, Operation other) {
    final List<Operation> replaced = new ArrayList<>(history);
    replaced.set(index, other);
    return replaced;
  }

  private static Operation at(long invokedNs, long answeredNs, Call call, Answer answer) {
    return new Operation(0, call, answer, true, invokedNs, answeredNs);
  }

  private static void assertLinearizable(Operation... history) {
    assertEquals(Optional.empty(), HistoryChecker.violation(List.of(history)));
  }

  private static void assertNotLinearizable(Operation... history) {
    assertFalse(HistoryChecker.isLinearizable(List.of(history)));
  }
}
