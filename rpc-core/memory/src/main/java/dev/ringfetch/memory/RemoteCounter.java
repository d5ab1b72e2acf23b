package dev.ringfetch.memory;

import dev.ringfetch.memory.v1.AddRequest;
import dev.ringfetch.rpc.Experimental;

/**
 * A counter of an owner, to which each addition is a call. One whose answer was lost may have been
 * made, and is not repeated. Immutable; safe for use by many threads.
 */
@Experimental
public final class RemoteCounter {
  private final Memory memory;
  private final String name;

  RemoteCounter(Memory memory, String name) {
    this.memory = memory;
    this.name = name;
  }

  /** Adds one, and returns the sum. */
  public long increment() {
    return add(1);
  }

  /** Adds a number, and returns the sum. */
  public long add(long delta) {
    return memory
        .stub()
        .add(AddRequest.newBuilder().setName(name).setDelta(delta).build())
        .getSum();
  }

  /** The sum. */
  public long get() {
    return add(0);
  }
}
