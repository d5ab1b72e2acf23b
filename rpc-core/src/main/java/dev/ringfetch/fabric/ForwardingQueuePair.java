package dev.ringfetch.fabric;

import java.io.IOException;

/**
 * A base of queue pairs that decorate another one: forwards every operation to it. A decorator
 * overrides the operations that it changes, and need not know those that are added later.
 */
public abstract class ForwardingQueuePair implements QueuePair {
  private final QueuePair target;

  /** Forwards to the queue pair {@code target}, which the decorator owns from now on. */
  protected ForwardingQueuePair(QueuePair target) {
    this.target = target;
  }

  @Override
  public FabricCapabilities capabilities() {
    return target.capabilities();
  }

  @Override
  public MemoryRegion memory() {
    return target.memory();
  }

  @Override
  public RemoteMemory remote() {
    return target.remote();
  }

  @Override
  public RegisteredMemory register(int length) throws IOException {
    return target.register(length);
  }

  @Override
  public MemoryRegion attach(byte[] descriptor, int maxLength) throws IOException {
    return target.attach(descriptor, maxLength);
  }

  @Override
  public RemoteMemory attachRemote(byte[] descriptor, int maxLength) throws IOException {
    return target.attachRemote(descriptor, maxLength);
  }

  @Override
  public MemoryRegion scratch(int length) throws IOException {
    return target.scratch(length);
  }

  @Override
  public String peer() {
    return target.peer();
  }

  @Override
  public void bind(Listener listener) {
    target.bind(listener);
  }

  @Override
  public int write(int offset, int length) {
    return target.write(offset, length);
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
    return target.read(
        remote, remoteOffset, local, localOffset, length, firstOffset, workRequestId);
  }

  @Override
  public int compareAndSwap(
      RemoteMemory remote, int remoteOffset, long expected, long desired, long workRequestId) {
    return target.compareAndSwap(remote, remoteOffset, expected, desired, workRequestId);
  }

  @Override
  public int fetchAndAdd(RemoteMemory remote, int remoteOffset, long delta, long workRequestId) {
    return target.fetchAndAdd(remote, remoteOffset, delta, workRequestId);
  }

  @Override
  public int sendDatagram(int offset, int length) {
    return target.sendDatagram(offset, length);
  }

  @Override
  public int pollDatagrams(DatagramHandler handler, int limit) {
    return target.pollDatagrams(handler, limit);
  }

  @Override
  public void cork() {
    target.cork();
  }

  @Override
  public void uncork() {
    target.uncork();
  }

  @Override
  public CompletionQueue completions() {
    return target.completions();
  }

  @Override
  public void ringDoorbell() {
    target.ringDoorbell();
  }

  @Override
  public void close() {
    target.close();
  }
}
