package dev.ringfetch.memory;

import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** Over rings and memory of one host. */
class ShmMemoryTest extends MemoryContract {
  @TempDir private Path directory;

  @Override
  protected MemoryHarness open() {
    return MemoryHarness.rings(directory, "shm");
  }
}
