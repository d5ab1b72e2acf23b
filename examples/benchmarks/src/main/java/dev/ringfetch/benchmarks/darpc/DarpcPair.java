package dev.ringfetch.benchmarks.darpc;

import dev.ringfetch.examples.verbs.ProcessPair;
import java.io.IOException;
import java.net.InetAddress;
import java.util.List;

/** The processes of DaRPC as a pair that is measured like bare verbs. */
public final class DarpcPair {
  private DarpcPair() {}

  /**
   * Starts both processes. DaRPC's threads never stop polling, so both are stopped while others
   * have their turn.
   */
  public static ProcessPair start(InetAddress host, List<String> flags) throws IOException {
    return ProcessPair.start(
        new ProcessPair.Programs(
            DarpcServerProcess.class, DarpcClientProcess.class, List.of(), true),
        host,
        flags);
  }
}
