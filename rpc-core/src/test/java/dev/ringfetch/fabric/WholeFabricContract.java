package dev.ringfetch.fabric;

import java.io.IOException;
import org.junit.jupiter.api.Nested;

/** All parts of {@link FabricContract} that every fabric keeps, in one list. */
public abstract class WholeFabricContract {
  /** Opens a fabric; all fabrics of one test can reach each other. */
  protected abstract Fabric open() throws IOException;

  @Nested
  class Connections extends ConnectionContract {
    @Override
    protected Fabric openFabric() throws IOException {
      return open();
    }
  }

  @Nested
  class Memory extends MemoryContract {
    @Override
    protected Fabric openFabric() throws IOException {
      return open();
    }
  }

  @Nested
  class Registered extends RegisteredMemoryContract {
    @Override
    protected Fabric openFabric() throws IOException {
      return open();
    }
  }

  @Nested
  class Doorbells extends DoorbellContract {
    @Override
    protected Fabric openFabric() throws IOException {
      return open();
    }
  }
}
