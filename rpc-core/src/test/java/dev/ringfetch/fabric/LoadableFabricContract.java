package dev.ringfetch.fabric;

import java.io.IOException;
import org.junit.jupiter.api.Nested;

/** {@link WholeFabricContract}, and what it takes for memory that a peer loads from. */
public abstract class LoadableFabricContract extends WholeFabricContract {
  @Nested
  class Registered extends RegisteredMemoryContract {
    @Override
    protected Fabric openFabric() throws IOException {
      return open();
    }
  }
}
