package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.ProcessUse;
import dev.ringfetch.examples.process.ChildProcess;
import dev.ringfetch.examples.process.Rings;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Idle sessions of a server, in two client processes. */
final class IdleSessions implements AutoCloseable {
  private static final int HOLDERS = 2;
  private static final int FIRST_ADDRESS = 2; // 127.0.0.1 is the busy client's
  private static final int ADDRESSES = 100; // of a holder

  private final List<ChildProcess> holders = new ArrayList<>();

  private IdleSessions() {}

  /** Starts the processes, without a session yet. */
  static IdleSessions start(long port, Rings rings) throws IOException {
    final IdleSessions sessions = new IdleSessions();
    try {
      for (int i = 0; i < HOLDERS; i++) {
        final List<String> arguments = new ArrayList<>(rings.arguments());
        arguments.addAll(List.of("--port", Long.toString(port)));
        arguments.addAll(
            List.of("--first-address", Integer.toString(FIRST_ADDRESS + i * ADDRESSES)));
        sessions.holders.add(ChildProcess.start(List.of(), SessionHolder.class, arguments));
      }
      return sessions;
    } catch (IOException | RuntimeException e) {
      sessions.close();
      throw e;
    }
  }

  /** Opens or ends sessions until there are so many. */
  void hold(int count) {
    for (int i = 0; i < HOLDERS; i++) {
      holders.get(i).ask("hold", count * (i + 1) / HOLDERS - count * i / HOLDERS);
    }
  }

  /** The footprints of the processes. */
  Footprint footprint() throws IOException {
    Footprint sum = Footprint.NONE;
    for (final ChildProcess holder : holders) {
      sum = sum.plus(Footprint.of(holder));
    }
    return sum;
  }

  /** The processor time of the processes so far. */
  List<ProcessUse> use() throws IOException {
    final List<ProcessUse> use = new ArrayList<>();
    for (final ChildProcess holder : holders) {
      use.add(ProcessUse.of(holder.pid()));
    }
    return use;
  }

  /** Time that the processes have had on processors since they had used that. */
  long cpuNsSince(List<ProcessUse> before) throws IOException {
    final List<ProcessUse> now = use();
    long sum = 0;
    for (int i = 0; i < HOLDERS; i++) {
      sum += now.get(i).since(before.get(i)).cpuNs();
    }
    return sum;
  }

  @Override
  public void close() {
    holders.forEach(ChildProcess::close);
  }
}
