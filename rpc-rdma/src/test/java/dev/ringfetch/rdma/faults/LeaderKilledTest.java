package dev.ringfetch.rdma.faults;

import dev.ringfetch.rdma.natives.RdmaAssumptions;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A leader that places its records in a member's memory over a device, and is killed. */
@Tag("verbs")
@Tag("slow")
@Timeout(900)
final class LeaderKilledTest {
  @TempDir private Path directory;

  @Test
  void nothingAcknowledgedIsLost() throws Exception {
    RdmaAssumptions.assumeDevice();
    try (NodeProcesses nodes = new NodeProcesses(directory, 2, "one-sided");
        FailOverSteps steps = new FailOverSteps(nodes.addresses())) {
      final String leader = steps.place(null);
      steps.writeBeyond(leader, () -> nodes.kill(leader));
    }
  }
}
