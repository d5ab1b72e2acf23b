package dev.ringfetch.benchmarks;

import java.io.IOException;
import java.util.List;

/**
 * A peer with its executors: the unit that has processes of its own, as one JVM has one kind of
 * calls.
 */
record Entrant(Peer peer, Setup setup) {
  PeerContender start(List<String> flags) throws IOException {
    return peer.start(setup, flags);
  }

  /** For people. */
  @Override
  public String toString() {
    return setup == Setup.bare ? peer.toString() : peer + ", " + setup.executors() + " executors";
  }
}
