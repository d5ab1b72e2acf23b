package dev.ringfetch.benchmarks;

import dev.ringfetch.benchmarks.verbs.VerbsContender;
import dev.ringfetch.benchmarks.verbs.VerbsRound;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * A round, and what the two processes have used in it.
 *
 * @param clientCores processor time of the client's process, as a part of the time that passed.
 * @param serverCores of the server's.
 */
record CostedRound(VerbsRound round, double clientCores, double serverCores) {
  /** Has a peer make calls for some time. */
  static CostedRound measure(VerbsContender contender, int millis) {
    try {
      return measureUse(contender, millis);
    } catch (IOException e) { // the system does not tell what processes use
      throw new UncheckedIOException(e);
    }
  }

  private static CostedRound measureUse(VerbsContender contender, int millis) throws IOException {
    final ProcessUse client = ProcessUse.of(contender.client().pid());
    final ProcessUse server = ProcessUse.of(contender.server().pid());
    final long beginNs = System.nanoTime();
    final VerbsRound round = contender.round(millis);
    final double passedNs = System.nanoTime() - beginNs;
    return new CostedRound(
        round,
        ProcessUse.of(contender.client().pid()).since(client).cpuNs() / passedNs,
        ProcessUse.of(contender.server().pid()).since(server).cpuNs() / passedNs);
  }
}
