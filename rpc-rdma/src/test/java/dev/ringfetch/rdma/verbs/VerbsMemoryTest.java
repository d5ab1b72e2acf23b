package dev.ringfetch.rdma.verbs;

import dev.ringfetch.memory.MemoryContract;
import dev.ringfetch.memory.MemoryHarness;
import dev.ringfetch.rdma.natives.RdmaAssumptions;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/** Memory that programs share, read by an RDMA device. */
@Tag("verbs")
final class VerbsMemoryTest extends MemoryContract {
  @TempDir private Path directory;

  @Override
  protected MemoryHarness open() {
    RdmaAssumptions.assumeDevice();
    return MemoryHarness.rings(directory, "verbs");
  }
}
