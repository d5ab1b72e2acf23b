package dev.ringfetch.fabric.sim;

import dev.ringfetch.fabric.CompletionQueue;
import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.FabricCapabilities;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.ReadOnlyRegion;
import dev.ringfetch.fabric.RemoteDomain;
import dev.ringfetch.fabric.Rights;
import dev.ringfetch.fabric.WorkRequests;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.LongUnaryOperator;

/** A domain of another process of a simulated network. */
final class SimRemoteDomain implements RemoteDomain {
  private final SimFabric process;
  private final SimNetwork network;
  private final SimDomain domain;
  private final SimRegion stores; // of this side, to all memory of the domain
  private final Map<Integer, Attached> segments = new HashMap<>();
  private final RequestQueue queue;
  private boolean ended;

  /** A segment, or the gate, as this side reaches it. */
  private record Attached(DirectRegion heap, MemoryRegion view, BooleanSupplier gone) {}

  SimRemoteDomain(SimFabric process, SimDomain domain) {
    this.process = process;
    this.network = process.network();
    this.domain = domain;
    final DirectRegion gate = domain.gateMemory();
    this.stores = new SimRegion(process, gate);
    network.regions().add(stores);
    segments.put(GATE, new Attached(gate, new ReadOnlyRegion(stores), () -> false));
    this.queue = new RequestQueue(process, this::endNow);
  }

  @Override
  public FabricCapabilities capabilities() {
    return network.capabilities(false);
  }

  @Override
  public Rights rights() {
    return domain.rights();
  }

  private boolean isOpen() {
    return !ended && !process.isDead();
  }

  private void checkOpen() throws IOException {
    if (!isOpen()) {
      throw new IOException("the connection has ended");
    }
  }

  @Override
  public int attach(byte[] segmentDescriptor) throws IOException {
    synchronized (network) {
      checkOpen();
      final SimDomain.SimSegment segment = domain.find(segmentDescriptor);
      final MemoryRegion view = stores.beside(segment.heap());
      segments.putIfAbsent(
          segment.number(),
          new Attached(
              segment.heap(),
              rights().include(Rights.WRITE) ? view : new ReadOnlyRegion(view),
              segment::isGone));
      return segment.number();
    }
  }

  @Override
  public void detach(int segment) {
    synchronized (network) {
      if (segment != GATE) {
        segments.remove(segment);
      }
    }
  }

  @Override
  public long length(int segment) {
    synchronized (network) {
      return attached(segment).heap().length();
    }
  }

  @Override
  public MemoryRegion view(int segment) {
    synchronized (network) {
      if (!network.context().loadStore()) {
        throw new IllegalStateException("memory of another machine: segment=" + segment);
      }
      return attached(segment).view();
    }
  }

  private Attached attached(int segment) {
    final Attached attached = segments.get(segment);
    if (attached == null) {
      throw new IllegalArgumentException("not attached: segment=" + segment);
    }
    return attached;
  }

  @Override
  public MemoryRegion scratch(int length) throws IOException {
    WorkRequests.checkLength(length);
    synchronized (network) {
      checkOpen();
      return new DirectRegion(length);
    }
  }

  @Override
  public int read(
      int segment,
      long offset,
      MemoryRegion local,
      int localOffset,
      int length,
      long workRequestId) {
    synchronized (network) {
      final Attached source = attached(segment);
      WorkRequests.checkTransfer(offset, source.heap().length(), local, localOffset, length);
      final Transfer transfer =
          new Transfer(source.heap(), (int) offset, local, localOffset, length);
      return post(new RequestQueue.Read(network, transfer, source.gone(), workRequestId));
    }
  }

  @Override
  public int write(
      int segment,
      long offset,
      MemoryRegion local,
      int localOffset,
      int length,
      long workRequestId) {
    synchronized (network) {
      final Attached destination = writable(segment, Rights.WRITE);
      WorkRequests.checkTransfer(offset, destination.heap().length(), local, localOffset, length);
      final Transfer transfer =
          new Transfer(destination.heap(), (int) offset, local, localOffset, length);
      return post(new RequestQueue.Write(network, transfer, destination.gone(), workRequestId));
    }
  }

  @Override
  public int compareAndSwap(
      int segment, long offset, long expected, long desired, long workRequestId) {
    return atomic(segment, offset, word -> word == expected ? desired : word, workRequestId);
  }

  @Override
  public int fetchAndAdd(int segment, long offset, long delta, long workRequestId) {
    return atomic(segment, offset, word -> word + delta, workRequestId);
  }

  private int atomic(int segment, long offset, LongUnaryOperator operator, long workRequestId) {
    synchronized (network) {
      final Attached target = writable(segment, Rights.ATOMIC);
      WorkRequests.checkWord(offset, target.heap().length());
      return post(
          new RequestQueue.Atomic(
              target.heap(), (int) offset, operator, target.gone(), workRequestId));
    }
  }

  private Attached writable(int segment, Rights needed) {
    WorkRequests.checkRights(rights(), needed);
    if (segment == GATE) {
      throw new IllegalArgumentException("only read: segment=" + segment);
    }
    return attached(segment);
  }

  private int post(RequestQueue.Request request) {
    if (!isOpen()) {
      return QueuePair.CLOSED;
    }
    stores.drain(); // what the CPU has stored comes before what the card does
    return queue.post(request);
  }

  @Override
  public void cork() {
    synchronized (network) {
      queue.cork();
    }
  }

  @Override
  public void uncork() {
    synchronized (network) {
      queue.uncork();
    }
  }

  @Override
  public CompletionQueue completions() {
    return queue;
  }

  @Override
  public boolean isRevoked() {
    synchronized (network) {
      network.pump();
      return !isOpen();
    }
  }

  /** The other side has ended the connection, which this side learns later. */
  void endLater() {
    network.timeline().after(process.ringDelayNs(), "revoked", this::endNow);
    network.changed();
  }

  /** The connection ends here and now. */
  void endNow() {
    ended = true;
    queue.flush();
    network.changed();
  }

  /** The process of this side is dead. */
  void kill(boolean keepStores) {
    if (keepStores) {
      stores.drain();
    } else {
      stores.drop();
    }
    network.regions().remove(stores);
    queue.flush();
  }

  @Override
  public void close() {
    synchronized (network) {
      if (!ended) {
        endNow();
      }
      stores.drain();
      network.regions().remove(stores);
      process.forget(this);
    }
  }
}
