package dev.ringfetch.rdma.verbs;

import dev.ringfetch.fabric.DatagramContract;
import dev.ringfetch.fabric.DomainContract;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.WholeFabricContract;
import dev.ringfetch.fabric.WorkRequestContract;
import dev.ringfetch.rdma.natives.RdmaAssumptions;
import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The contract of every fabric, over a device. */
@Tag("verbs")
final class VerbsFabricTest extends WholeFabricContract {
  @BeforeEach
  void device() {
    RdmaAssumptions.assumeDevice();
  }

  static Fabric openVerbs() throws IOException {
    return new VerbsProvider().open(new FabricContext());
  }

  @Override
  protected Fabric open() throws IOException {
    return openVerbs();
  }

  @Nested
  class Datagrams extends DatagramContract {
    @Override
    protected Fabric openFabric() throws IOException {
      return open();
    }
  }

  @Nested
  class Domains extends DomainContract {
    @Override
    protected Fabric openFabric() throws IOException {
      return open();
    }
  }

  @Nested
  class WorkRequests extends WorkRequestContract {
    @Override
    protected Fabric openFabric() throws IOException {
      return open();
    }

    /** Registered memory is there from the first byte to the last, so no more than it takes. */
    @Override
    protected int[] longSegments() {
      return new int[] {1 << 30, 1 << 30, 1 << 16};
    }

    /** Each takes some milliseconds on an emulated processor. */
    @Override
    protected int rounds() {
      return 200;
    }

    /** Gives up to 2 GiB back before others need them. */
    @AfterEach
    void collect() {
      System.gc();
    }
  }
}
