package dev.ringfetch.index.linearizability;

import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import org.opensearch.cluster.coordination.LinearizabilityChecker.SequentialSpec;

/**
 * The {@link Register} as the checker takes it. A state is the set of all registers there may be.
 */
final class RegisterSpec implements SequentialSpec {
  @Override
  public Object initialState() {
    return Set.of(Register.INITIAL);
  }

  @Override
  public Optional<Object> nextState(Object state, Object call, Object answer) {
    final Set<Register> next = new HashSet<>();
    for (final Object register : (Set<?>) state) {
      next.addAll(((Register) register).after((Call) call, (Answer) answer));
    }
    return next.isEmpty() ? Optional.empty() : Optional.of(next);
  }
}
