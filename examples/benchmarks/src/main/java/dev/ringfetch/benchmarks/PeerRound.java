package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.ChildProcess;
import java.util.OptionalLong;

/**
 * The result of one round of a peer.
 *
 * @param figures of the calls.
 * @param client use of the client's process.
 * @param server use of the server's process; nothing where that is the client's.
 * @param foreign the part of the machine that other processes had meanwhile, from 0 to 1: other
 *     processes, peers that ought to rest, the host of a virtual machine.
 * @param restingCores processor time of those peers in the time that passed.
 */
record PeerRound(Figures figures, Use client, Use server, double foreign, double restingCores) {
  /**
   * The processor time and the allocation of a process.
   *
   * @param cores processor time in the time that passed.
   * @param bytesPerCall allocated; NaN where the process cannot tell.
   */
  record Use(double cores, double bytesPerCall) {
    /** Of a side that has no process of its own. */
    static final Use NONE = new Use(0, 0);
  }

  /** Whether other processes had so much that the figures are doubtful. */
  boolean isMarked() {
    return Marks.isMarked(foreign, restingCores);
  }

  /** Makes a peer issue calls for some time, and measures its processes. */
  static PeerRound measure(PeerContender peer, Load load, int millis) {
    final boolean one = peer.isOneProcess();
    final OptionalLong clientBytes = allocated(peer.client());
    final OptionalLong serverBytes = one ? OptionalLong.empty() : allocated(peer.server());
    final Costed<Figures> costed =
        Costed.measure(peer.client(), peer.server(), () -> peer.run(load, millis));
    final long calls = costed.value().calls();
    return new PeerRound(
        costed.value(),
        new Use(costed.clientCores(), perCall(clientBytes, allocated(peer.client()), calls)),
        one
            ? Use.NONE
            : new Use(costed.serverCores(), perCall(serverBytes, allocated(peer.server()), calls)),
        costed.foreign(),
        costed.restingCores());
  }

  private static OptionalLong allocated(ChildProcess process) {
    final Answer answer = process.ask("allocated");
    return answer.has("bytes") ? OptionalLong.of(answer.count("bytes")) : OptionalLong.empty();
  }

  private static double perCall(OptionalLong before, OptionalLong after, long calls) {
    return before.isEmpty() || after.isEmpty()
        ? Double.NaN
        : (double) (after.getAsLong() - before.getAsLong()) / calls;
  }
}
