package dev.ringfetch.fabric.shm;

import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricContract;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** The contract of every fabric, on shared memory. */
class ShmFabricTest extends FabricContract {
  @TempDir Path directory;

  @Override
  protected Fabric openFabric() throws IOException {
    return new ShmProvider().open(new FabricContext().directory(directory));
  }
}
