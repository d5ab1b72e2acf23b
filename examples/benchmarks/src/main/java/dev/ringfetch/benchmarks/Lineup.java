package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.process.ChildFailure;
import java.io.IOException;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The peers of a benchmark whose processes run. A peer that fails is ended at once, because its
 * remaining processes might poll beside those that are measured. Not for several threads.
 */
final class Lineup<P, C> implements AutoCloseable {
  private static final int ATTEMPTS = 6; // on an emulated machine one JVM in five crashes

  private final Consumer<String> people;
  private final Consumer<C> ending;
  private final Map<P, C> contenders = new LinkedHashMap<>();

  /**
   * Creates an empty one.
   *
   * @param people printer of messages about peers.
   * @param ending ends a peer's processes.
   */
  Lineup(Consumer<String> people, Consumer<C> ending) {
    this.people = people;
    this.ending = ending;
  }

  /** How a peer's processes are started. */
  @FunctionalInterface
  interface Starter<C> {
    C start() throws IOException;
  }

  /** How a peer is warmed up. */
  @FunctionalInterface
  interface Heater<C> {
    void warmUp(C contender) throws IOException;
  }

  /**
   * Starts a peer and warms it up, and tries again if that fails.
   *
   * @param name for people.
   * @return false, after a message, if it cannot take part.
   */
  boolean add(P peer, String name, Starter<C> starter, Heater<C> heater) throws IOException {
    for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
      try {
        final C contender = starter.start();
        contenders.put(peer, contender);
        heater.warmUp(contender);
        return true;
      } catch (ChildFailure e) {
        tell((attempt < ATTEMPTS ? "once more " : "without ") + name + ": " + e.getMessage());
        final C failed = contenders.remove(peer);
        if (failed != null) { // else its processes are ended already
          end(failed);
        }
      }
    }
    return false;
  }

  /** A peer that takes part. */
  C get(P peer) {
    return contenders.get(peer);
  }

  /** All peers that take part. */
  Collection<P> peers() {
    return contenders.keySet();
  }

  /** Prints a message for people. */
  void tell(String what) {
    people.accept(what);
  }

  private void end(C contender) {
    try {
      ending.accept(contender);
    } catch (ChildFailure e) {
      tell(e.getMessage());
    }
  }

  /** Ends all. */
  @Override
  public void close() {
    contenders.values().forEach(this::end);
  }
}
