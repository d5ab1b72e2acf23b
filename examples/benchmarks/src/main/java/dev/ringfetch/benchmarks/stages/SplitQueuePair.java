package dev.ringfetch.benchmarks.stages;

import dev.ringfetch.fabric.CompletionQueue;
import dev.ringfetch.fabric.FabricCapabilities;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.RegisteredMemory;
import dev.ringfetch.fabric.RemoteMemory;
import java.io.IOException;

/** A queue pair in shared memory that says when something was written. */
final class SplitQueuePair implements QueuePair {
  private final QueuePair queuePair;
  private final Runnable written;

  /**
   * Creates it.
   *
   * @param written run when frames are in the ring.
   */
  SplitQueuePair(QueuePair queuePair, Runnable written) {
    this.queuePair = queuePair;
    this.written = written;
  }

  @Override
  public int write(int offset, int length) {
    final int posted = queuePair.write(offset, length);
    written.run();
    return posted;
  }

  @Override
  public FabricCapabilities capabilities() {
    return queuePair.capabilities();
  }

  @Override
  public MemoryRegion memory() {
    return queuePair.memory();
  }

  @Override
  public RemoteMemory remote() {
    return queuePair.remote();
  }

  @Override
  public RegisteredMemory register(int length) throws IOException {
    return queuePair.register(length);
  }

  @Override
  public MemoryRegion attach(byte[] descriptor, int maxLength) throws IOException {
    return queuePair.attach(descriptor, maxLength);
  }

  @Override
  public MemoryRegion scratch(int length) throws IOException {
    return queuePair.scratch(length);
  }

  @Override
  public String peer() {
    return queuePair.peer();
  }

  @Override
  public void bind(Listener listener) {
    queuePair.bind(listener);
  }

  @Override
  public int read(
      RemoteMemory remote,
      int remoteOffset,
      MemoryRegion local,
      int localOffset,
      int length,
      int firstOffset,
      long workRequestId) {
    return queuePair.read(
        remote, remoteOffset, local, localOffset, length, firstOffset, workRequestId);
  }

  @Override
  public int compareAndSwap(
      RemoteMemory remote, int remoteOffset, long expected, long desired, long workRequestId) {
    return queuePair.compareAndSwap(remote, remoteOffset, expected, desired, workRequestId);
  }

  @Override
  public int fetchAndAdd(RemoteMemory remote, int remoteOffset, long delta, long workRequestId) {
    return queuePair.fetchAndAdd(remote, remoteOffset, delta, workRequestId);
  }

  @Override
  public CompletionQueue completions() {
    return queuePair.completions();
  }

  @Override
  public void ringDoorbell() {
    queuePair.ringDoorbell();
  }

  @Override
  public void close() {
    queuePair.close();
  }
}
