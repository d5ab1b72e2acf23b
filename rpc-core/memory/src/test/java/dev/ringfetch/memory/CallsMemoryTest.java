package dev.ringfetch.memory;

/** Over gRPC, where nothing connects the two processes. */
class CallsMemoryTest extends MemoryContract {
  @Override
  protected MemoryHarness open() {
    return MemoryHarness.grpc(null, 0);
  }
}
