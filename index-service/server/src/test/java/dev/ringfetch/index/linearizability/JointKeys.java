package dev.ringfetch.index.linearizability;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.opensearch.cluster.coordination.LinearizabilityChecker;
import org.opensearch.cluster.coordination.LinearizabilityChecker.History;
import org.opensearch.cluster.coordination.LinearizabilityChecker.SequentialSpec;

/**
 * A few keys as transactions see them: together. Says whether a history of transactions and of
 * writes of single keys is linearizable. Reads of single keys beside them are no part of it, as the
 * index promises those for each key by itself.
 */
final class JointKeys {
  /** Number of keys; each transaction is about all of them, in a circle from its own. */
  static final int KEYS = 3;

  private static final long LIMIT_S = 120;

  private JointKeys() {}

  /** The operations. */
  enum Kind {
    PUT,
    DELETE,
    /**
     * If the key and the next one have the expected versions: writes the key, writes or removes the
     * next one, and reads the last; otherwise reads all, from the key on.
     */
    TRANSACTION
  }

  /**
   * The request of a call.
   *
   * @param value number of the value to be written
   * @param expected version of the key; 0: it is absent
   * @param expectedOfNext the same of the next key
   */
  record Call(
      Kind kind, int key, long value, long expected, long expectedOfNext, boolean removesNext) {}

  /**
   * The answer to a call.
   *
   * @param yes put: created; delete: existed; transaction: succeeded
   * @param version of what was written; 0 if it was nothing
   * @param found for each operation of a transaction
   */
  record Answer(boolean yes, long version, List<Found> found) {}

  /** The answer of one operation; version and value are 0 but of a read that has found an entry. */
  record Found(boolean existed, long version, long value) {}

  /** An operation of a history. */
  record Operation(Call call, Answer answer, long invokedNs, long answeredNs) {}

  static int next(int key) {
    return (key + 1) % KEYS;
  }

  /** A key: its entry, if it is present, and the last version that it had. */
  private record State(boolean present, long value, long version) {
    static final State INITIAL = new State(false, 0, 0);

    boolean isExpected(long expected) {
      return expected == 0 ? !present : present && version == expected;
    }

    boolean isAsRead(Found found) {
      return found.equals(present ? new Found(true, version, value) : new Found(false, 0, 0));
    }

    boolean isAsWritten(Found found) {
      return found.equals(new Found(present, 0, 0));
    }

    State removed() {
      return new State(false, 0, version);
    }
  }

  private static final class Spec implements SequentialSpec {
    @Override
    public Object initialState() {
      return Collections.nCopies(KEYS, State.INITIAL);
    }

    @Override
    @SuppressWarnings("unchecked")
    public Optional<Object> nextState(Object state, Object call, Object answer) {
      return Optional.ofNullable(after((List<State>) state, (Call) call, (Answer) answer));
    }

    /** The keys after a call with this answer; null if it cannot be. */
    private static List<State> after(List<State> keys, Call call, Answer answer) {
      final State key = keys.get(call.key());
      return switch (call.kind()) {
        case PUT ->
            answer.yes() == !key.present() && answer.version() > key.version()
                ? with(keys, call.key(), new State(true, call.value(), answer.version()))
                : null;
        case DELETE -> answer.yes() == key.present() ? with(keys, call.key(), key.removed()) : null;
        case TRANSACTION -> afterTransaction(keys, call, answer);
      };
    }

    private static List<State> afterTransaction(List<State> keys, Call call, Answer answer) {
      final int second = next(call.key());
      final State one = keys.get(call.key());
      final State two = keys.get(second);
      final State three = keys.get(next(second));
      final List<Found> found = answer.found();
      final boolean holds =
          one.isExpected(call.expected()) && two.isExpected(call.expectedOfNext());
      if (answer.yes() != holds || !three.isAsRead(found.get(2))) {
        return null;
      }
      if (!holds) {
        return one.isAsRead(found.get(0)) && two.isAsRead(found.get(1)) ? keys : null;
      }
      if (!one.isAsWritten(found.get(0))
          || !two.isAsWritten(found.get(1))
          || answer.version() <= Math.max(one.version(), two.version())) {
        return null;
      }
      final State written = new State(true, call.value(), answer.version());
      return with(
          with(keys, call.key(), written), second, call.removesNext() ? two.removed() : written);
    }

    private static List<State> with(List<State> keys, int key, State state) {
      final List<State> changed = new ArrayList<>(keys);
      changed.set(key, state);
      return changed;
    }
  }

  private record Event(long ns, boolean invocation, Operation operation) {}

  /** Whether an order of these operations explains their answers, all of which have come. */
  static boolean isLinearizable(List<Operation> operations) {
    final List<Event> events = new ArrayList<>();
    for (final Operation operation : operations) {
      events.add(new Event(operation.invokedNs(), true, operation));
      events.add(new Event(operation.answeredNs(), false, operation));
    }
    events.sort(
        Comparator.comparingLong(Event::ns)
            .thenComparing(Event::invocation, Comparator.reverseOrder()));
    final History history = new History();
    final IdentityHashMap<Operation, Integer> ids = new IdentityHashMap<>();
    for (final Event event : events) {
      if (event.invocation()) {
        ids.put(event.operation(), history.invoke(event.operation().call()));
      } else {
        history.respond(ids.get(event.operation()), event.operation().answer());
      }
    }
    final long limitNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_S);
    final boolean[] undecided = {false};
    final boolean linearizable =
        new LinearizabilityChecker()
            .isLinearizable(
                new Spec(),
                history,
                call -> {
                  throw new AssertionError("no answer: " + call);
                },
                () -> undecided[0] = System.nanoTime() > limitNs);
    if (undecided[0]) {
      throw new AssertionError(
          "undecided after " + LIMIT_S + " s: " + operations.size() + " operations");
    }
    return linearizable;
  }
}
