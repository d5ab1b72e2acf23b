package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.ChildProcess;
import java.io.IOException;
import java.util.OptionalLong;

/**
 * What one round of a peer gave.
 *
 * @param figures of the calls.
 * @param client what the client's process used.
 * @param server what the server's process used; nothing where that is the client's.
 * @param foreign the part of the machine that others had meanwhile, from 0 to 1: other processes,
 *     peers that ought to rest, the host of a virtual machine.
 */
record PeerRound(Figures figures, Use client, Use server, double foreign) {
  private static final double MAX_FOREIGN = 0.1;

  /**
   * What a process used.
   *
   * @param cores processor time in the time that passed.
   * @param bytesPerCall allocated; NaN where the process cannot tell.
   */
  record Use(double cores, double bytesPerCall) {
    /** Of a side that has no process of its own. */
    static final Use NONE = new Use(0, 0);
  }

  /** Whether others had so much of the machine that the figures are doubtful. */
  boolean isMarked() {
    return foreign > MAX_FOREIGN;
  }

  /** Has a peer make calls for some time, and looks at its processes before and after. */
  static PeerRound measure(PeerContender peer, Load load, int millis) throws IOException {
    final OptionalLong clientBytes = allocated(peer.client());
    final boolean one = peer.isOneProcess();
    final OptionalLong serverBytes = one ? OptionalLong.empty() : allocated(peer.server());
    final Moment before = Moment.of(peer);
    final Figures figures = peer.run(load, millis);
    final Moment after = Moment.of(peer);
    final double wallNs = after.atNs - before.atNs;
    final double clientNs = after.client.since(before.client).cpuNs();
    final double serverNs = one ? 0 : after.server.since(before.server).cpuNs();
    final double ownNs = after.own.since(before.own).cpuNs();
    return new PeerRound(
        figures,
        new Use(clientNs / wallNs, perCall(clientBytes, allocated(peer.client()), figures.calls())),
        one
            ? Use.NONE
            : new Use(
                serverNs / wallNs, perCall(serverBytes, allocated(peer.server()), figures.calls())),
        after.machine.since(before.machine).foreign(clientNs + serverNs + ownNs));
  }

  /** What was used up to a moment. */
  private record Moment(
      long atNs, MachineUse machine, ProcessUse client, ProcessUse server, ProcessUse own) {
    static Moment of(PeerContender peer) throws IOException {
      return new Moment(
          System.nanoTime(),
          MachineUse.now(),
          ProcessUse.of(peer.client().pid()),
          ProcessUse.of(peer.server().pid()),
          ProcessUse.of(ProcessHandle.current().pid()));
    }
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
