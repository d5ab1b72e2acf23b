package dev.ringfetch.fabric;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/**
 * What every fabric keeps, in several parts: {@link ConnectionContract}, {@link MemoryContract},
 * {@link RegisteredMemoryContract}, {@link DoorbellContract} and {@link DatagramContract}. {@link
 * WholeFabricContract} lists them for a provider, which says how to open its fabric; the last is
 * for those that have datagrams.
 */
public abstract class FabricContract {
  /** Short, but not for a machine. */
  protected static final long SHORT_NS = TimeUnit.MILLISECONDS.toNanos(200);

  protected FabricHarness harness;

  /** Opens a fabric; all fabrics of one test can reach each other. */
  protected abstract Fabric openFabric() throws IOException;

  @BeforeEach
  void openHarness() throws IOException {
    harness = new FabricHarness(openFabric(), openFabric());
  }

  @AfterEach
  void closeHarness() {
    harness.close();
  }
}
