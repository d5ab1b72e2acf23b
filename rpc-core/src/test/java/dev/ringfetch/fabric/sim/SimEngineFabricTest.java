package dev.ringfetch.fabric.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ringfetch.fabric.DatagramContract;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.LoadableFabricContract;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;

/**
 * The contract of every fabric, simulated: memory of each side's own, and a thread that has things
 * happen step by step while the threads of both sides run.
 */
class SimEngineFabricTest extends LoadableFabricContract {
  private final SimNetwork network =
      new SimNetwork(
          new Timeline(System.nanoTime()),
          new SimContext()
              .loadStore(false)
              .engine(true)
              .sendQueueDepth(16 * 1024)
              .maxDatagram(1024));
  private final SimEngine engine = SimEngine.start(network);

  @AfterEach
  void close() {
    engine.close();
    assertEquals(List.of(), network.violations(), () -> "seed=" + network.timeline().seed());
  }

  @Override
  protected Fabric open() {
    return network.open();
  }

  @Nested
  class Datagrams extends DatagramContract {
    @Override
    protected Fabric openFabric() {
      return open();
    }
  }
}
