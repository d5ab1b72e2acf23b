package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Figures;
import java.io.IOException;

/**
 * What calls at one rate took, and what both processes used meanwhile.
 *
 * @param figures of the calls.
 * @param clientCores processor time of the client's process by the time that passed.
 * @param serverCores of the server's process.
 */
record LoadRound(Figures figures, double clientCores, double serverCores) {
  /** Has a client make small calls at a rate, 0 for none, by a thread that sleeps until then. */
  static LoadRound of(Pair pair, Contender contender, int rate, int millis) throws IOException {
    final ProcessUse client = ProcessUse.of(pair.client(contender).pid());
    final ProcessUse server = ProcessUse.of(pair.server().pid());
    final long beginNs = System.nanoTime();
    final Figures figures =
        Figures.parse(pair.ask(contender, "sleepy", StubCalls.SMALL, rate, millis));
    final double passedNs = System.nanoTime() - beginNs;
    return new LoadRound(
        figures,
        ProcessUse.of(pair.client(contender).pid()).since(client).cpuNs() / passedNs,
        ProcessUse.of(pair.server().pid()).since(server).cpuNs() / passedNs);
  }
}
