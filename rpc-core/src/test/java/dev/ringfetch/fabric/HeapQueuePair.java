package dev.ringfetch.fabric;

import dev.ringfetch.fabric.FabricCapabilities.ReadAtomicity;
import dev.ringfetch.fabric.FabricCapabilities.WriteOrder;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One of two queue pairs over one region. A ring or an end of the peer is kept until the test
 * delivers it through {@link HeapDoorbell}.
 */
public class HeapQueuePair implements QueuePair {
  private final MemoryRegion memory;
  private final String name;
  private final AtomicInteger ringsSent = new AtomicInteger();
  private final AtomicBoolean ringPending = new AtomicBoolean();
  private final List<HeapMemory> registered = new CopyOnWriteArrayList<>();
  private volatile boolean memoryRefused;
  private HeapQueuePair other;
  private volatile Listener listener;
  private volatile String endPending;
  private volatile boolean ended;
  private volatile boolean closed;

  HeapQueuePair(MemoryRegion memory, String name) {
    this.memory = memory;
    this.name = name;
  }

  void other(HeapQueuePair other) {
    this.other = other;
  }

  /** How often this side rang. */
  public int ringsSent() {
    return ringsSent.get();
  }

  /** True while a ring of the peer waits to be delivered. */
  public boolean ringPending() {
    return ringPending.get();
  }

  /** True when nothing can be posted any more. */
  final boolean hasEnded() {
    return closed || endPending != null;
  }

  /** True when this side was closed. */
  public boolean isClosed() {
    return closed;
  }

  /** Ends the connection underneath both sides; each is told when its doorbell delivers. */
  public void disconnect(String reason) {
    lose(reason);
    other.lose(reason);
  }

  private void lose(String reason) {
    if (endPending == null) {
      endPending = reason;
    }
  }

  /** Tells the listener what has happened. Returns how much that was. */
  int deliver() {
    final Listener told = listener;
    if (told == null || ended || closed) {
      return 0;
    }
    int events = 0;
    if (ringPending.compareAndSet(true, false)) {
      told.onDoorbell();
      events++;
    }
    if (endPending != null && !closed) {
      ended = true;
      told.onDisconnected(endPending);
      events++;
    }
    return events;
  }

  @Override
  public FabricCapabilities capabilities() {
    return new FabricCapabilities(WriteOrder.ASCENDING, ReadAtomicity.LINE, true, 0);
  }

  @Override
  public MemoryRegion memory() {
    return memory;
  }

  @Override
  public RemoteMemory remote() {
    return new RemoteMemory(0, memory.length(), 0);
  }

  /** Makes every further {@link #register} fail, or none. */
  public void refuseMemory(boolean refused) {
    memoryRefused = refused;
  }

  /** What this side has registered. */
  public List<HeapMemory> registered() {
    return registered;
  }

  @Override
  public RegisteredMemory register(int length) throws IOException {
    if (memoryRefused || closed) {
      throw new IOException("no memory");
    }
    final DirectRegion heap = HeapMemory.allocate(length);
    final MemoryRegion view = memory instanceof BufferedRegion own ? own.beside(heap) : heap;
    final HeapMemory made = new HeapMemory(heap, view, registered.size());
    registered.add(made);
    return made;
  }

  @Override
  public MemoryRegion attach(byte[] descriptor, int maxLength) throws IOException {
    if (closed) {
      throw new IOException("the connection has ended");
    }
    final HeapMemory found = HeapMemory.find(other.registered, descriptor);
    if (found.region().length() > maxLength) {
      throw new IOException("too long: length=" + found.region().length());
    }
    return found.heap();
  }

  @Override
  public MemoryRegion scratch(int length) throws IOException {
    WorkRequests.checkLength(length);
    if (closed) {
      throw new IOException("the connection has ended");
    }
    return new DirectRegion(length);
  }

  @Override
  public String peer() {
    return name;
  }

  @Override
  public void bind(Listener listener) {
    if (this.listener != null) {
      throw new IllegalStateException("bound twice: " + name);
    }
    this.listener = listener;
  }

  @Override
  public int write(int offset, int length) {
    return hasEnded() ? CLOSED : POSTED;
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
    throw new UnsupportedOperationException("read");
  }

  @Override
  public int compareAndSwap(
      RemoteMemory remote, int remoteOffset, long expected, long desired, long workRequestId) {
    throw new UnsupportedOperationException("compareAndSwap");
  }

  @Override
  public int fetchAndAdd(RemoteMemory remote, int remoteOffset, long delta, long workRequestId) {
    throw new UnsupportedOperationException("fetchAndAdd");
  }

  @Override
  public CompletionQueue completions() {
    throw new UnsupportedOperationException("completions");
  }

  @Override
  public void ringDoorbell() {
    if (!closed) {
      ringsSent.incrementAndGet();
      other.ringPending.set(true);
    }
  }

  @Override
  public void close() {
    closed = true;
    other.lose("peer closed");
  }
}
