package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.MachineUse;
import dev.ringfetch.examples.load.ProcessUse;
import dev.ringfetch.examples.process.ChildProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * The result of a round, and the load of the machine meanwhile.
 *
 * @param value the result of the round.
 * @param clientCores processor time of the clients' processes, divided by the time that passed.
 * @param serverCores of the server's process; 0 where client and server are one process.
 * @param foreign the part of the machine that other processes had, from 0 to 1: other processes,
 *     those of the benchmark that ought to rest, the host of a virtual machine.
 * @param restingCores processor time of the latter, by the time that passed.
 */
record Costed<T>(
    T value, double clientCores, double serverCores, double foreign, double restingCores) {
  /**
   * A measurement.
   *
   * @param <X> the exception that it may throw.
   */
  @FunctionalInterface
  interface Round<T, X extends Exception> {
    T take() throws X;
  }

  /** Measures the processor time of a client's and a server's process during a round of theirs. */
  static <T, X extends Exception> Costed<T> measure(
      ChildProcess client, ChildProcess server, Round<T, X> round) throws X {
    return measure(List.of(client), server, round);
  }

  /** Same, with several clients. */
  static <T, X extends Exception> Costed<T> measure(
      List<ChildProcess> clients, ChildProcess server, Round<T, X> round) throws X {
    return measureProcesses(clients.stream().map(ChildProcess::pid).toList(), server.pid(), round);
  }

  /** Same, with processes by their ids; the server may be one that is no JVM. */
  static <T, X extends Exception> Costed<T> measureProcesses(
      List<Long> clients, long server, Round<T, X> round) throws X {
    final List<Long> processes = new ArrayList<>(clients);
    final boolean one = clients.contains(server);
    if (!one) {
      processes.add(server);
    }
    final Moment before = Moment.of(processes);
    final T value = round.take();
    final Moment after = Moment.of(processes);
    final double wallNs = after.atNs - before.atNs;
    final double ownNs = after.own.since(before.own).cpuNs();
    double clientsNs = 0;
    for (int i = 0; i < clients.size(); i++) {
      clientsNs += after.cpuNsSince(before, i);
    }
    final double serverNs = one ? 0 : after.cpuNsSince(before, clients.size());
    return new Costed<>(
        value,
        clientsNs / wallNs,
        serverNs / wallNs,
        after.machine.since(before.machine).foreign(clientsNs + serverNs + ownNs),
        Math.max(0, after.restingNs - before.restingNs) / wallNs); // less: one has ended
  }

  /** The processor time used up to a moment. */
  private record Moment(
      long atNs, MachineUse machine, ProcessUse own, List<ProcessUse> processes, long restingNs) {
    static Moment of(List<Long> processes) {
      try {
        final long atNs = System.nanoTime();
        final MachineUse machine = MachineUse.now();
        final List<ProcessUse> uses = new ArrayList<>();
        for (final long process : processes) {
          uses.add(ProcessUse.of(process));
        }
        return new Moment(
            atNs,
            machine,
            ProcessUse.of(ProcessHandle.current().pid()),
            uses,
            othersNs(Set.copyOf(processes)));
      } catch (IOException e) { // the system does not report what processes use
        throw new UncheckedIOException(e);
      }
    }

    /** Processor time of this process's other children, as far as the system reports it. */
    private static long othersNs(Set<Long> measured) {
      return ProcessHandle.current()
          .children()
          .filter(child -> !measured.contains(child.pid()))
          .mapToLong(child -> child.info().totalCpuDuration().orElse(Duration.ZERO).toNanos())
          .sum();
    }

    double cpuNsSince(Moment before, int process) {
      return processes.get(process).since(before.processes.get(process)).cpuNs();
    }
  }
}
