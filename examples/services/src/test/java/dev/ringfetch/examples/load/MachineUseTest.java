package dev.ringfetch.examples.load;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import org.junit.jupiter.api.Test;

final class MachineUseTest {
  private static final double SECOND_NS = 1e9;

  @Test
  void readsTheFirstLine() {
    final String stat =
        "cpu  100 20 30 1000 5 3 2 40 7 7\ncpu0 100 20 30 1000 5 3 2 40 7 7\nintr 4711\n";
    assertEquals(new MachineUse(155, 40, 1200), MachineUse.parse(stat));
  }

  @Test
  void whatIsNotOursIsOthers() {
    // A second of two processors: one was busy, the other stolen for a tenth of it.
    final MachineUse use = new MachineUse(1100, 20, 2200).since(new MachineUse(1000, 10, 2000));
    assertEquals(0.55, use.foreign(0), 1e-9);
    assertEquals(0.05, use.foreign(SECOND_NS), 1e-9);
  }

  @Test
  void ticksThatAreMissingAreNobodys() {
    assertEquals(0, new MachineUse(10, 0, 200).foreign(SECOND_NS));
    assertEquals(0, new MachineUse(0, 0, 0).foreign(0));
  }

  @Test
  void thisMachineCounts() throws IOException {
    final MachineUse now = MachineUse.now();
    assertTrue(now.busy() > 0 && now.busy() + now.stolen() <= now.all(), now::toString);
  }
}
