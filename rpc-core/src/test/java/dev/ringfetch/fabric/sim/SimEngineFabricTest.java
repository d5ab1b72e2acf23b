package dev.ringfetch.fabric.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ringfetch.fabric.ConnectionContract;
import dev.ringfetch.fabric.DoorbellContract;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.MemoryContract;
import dev.ringfetch.fabric.RegisteredMemoryContract;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;

/**
 * The contract of every fabric, simulated: memory of each side's own, and a thread that has things
 * happen step by step while the threads of both sides run.
 */
class SimEngineFabricTest {
  private final SimNetwork network =
      new SimNetwork(
          new Timeline(System.nanoTime()),
          new SimContext().loadStore(false).engine(true).sendQueueDepth(16 * 1024));
  private final SimEngine engine = SimEngine.start(network);

  @AfterEach
  void close() {
    engine.close();
    assertEquals(List.of(), network.violations(), () -> "seed=" + network.timeline().seed());
  }

  private Fabric open() {
    return network.open();
  }

  @Nested
  class Connections extends ConnectionContract {
    @Override
    protected Fabric openFabric() {
      return open();
    }
  }

  @Nested
  class Memory extends MemoryContract {
    @Override
    protected Fabric openFabric() {
      return open();
    }
  }

  @Nested
  class Registered extends RegisteredMemoryContract {
    @Override
    protected Fabric openFabric() {
      return open();
    }
  }

  @Nested
  class Doorbells extends DoorbellContract {
    @Override
    protected Fabric openFabric() {
      return open();
    }
  }
}
