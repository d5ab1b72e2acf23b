package dev.ringfetch.fabric.shm;

import dev.ringfetch.fabric.ConnectionContract;
import dev.ringfetch.fabric.DoorbellContract;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.MemoryContract;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.io.TempDir;

/** The contract of every fabric, on shared memory. */
class ShmFabricTest {
  @TempDir Path directory;

  private Fabric open() throws IOException {
    return new ShmProvider().open(new FabricContext().directory(directory));
  }

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
  class Doorbells extends DoorbellContract {
    @Override
    protected Fabric openFabric() throws IOException {
      return open();
    }
  }
}
