package dev.ringfetch.fabric;

import java.io.IOException;
import org.junit.jupiter.api.Nested;

/**
 * {@link WholeFabricContract}, and {@linkplain DomainContract domains}, also where peers
 * {@linkplain WorkRequestContract read} these only.
 */
public abstract class LoadableFabricContract extends WholeFabricContract {
  @Nested
  class Domains extends DomainContract {
    @Override
    protected Fabric openFabric() throws IOException {
      return open();
    }
  }

  @Nested
  class Requests extends WorkRequestContract {
    @Override
    protected Fabric openFabric() throws IOException {
      return open();
    }
  }
}
