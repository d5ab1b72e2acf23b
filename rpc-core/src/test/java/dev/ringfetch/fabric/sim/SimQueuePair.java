package dev.ringfetch.fabric.sim;

import dev.ringfetch.fabric.CompletionQueue;
import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.FabricCapabilities;
import dev.ringfetch.fabric.HeapMemory;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.RegisteredMemory;
import dev.ringfetch.fabric.RemoteMemory;
import dev.ringfetch.fabric.WorkRequests;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** One side of a connection of a simulated network. */
public final class SimQueuePair implements QueuePair {
  private static final int REGISTERED = 1 << 30; // keys of memory beside the sessions'

  private enum State {
    OPEN,
    /** The end has been told, or the listener has failed. */
    ENDED,
    CLOSED
  }

  private final SimNetwork network;
  private final SimFabric process;
  private final SimDoorbell doorbell;
  private final SimRegion memory;
  private final RemoteMemory remote;
  private final String name;
  private final SendQueue sendQueue;
  private final Nic.Connection connection;
  private final List<HeapMemory> registered = new ArrayList<>();
  private final List<SimRegion> beside = new ArrayList<>();
  private final Map<RemoteMemory, DirectRegion> attached = new HashMap<>(); // the peer's, to read
  private int refusedMemory;
  private SimQueuePair peer;
  private SimDatagrams datagrams; // null: none
  private Listener listener;
  private State state = State.OPEN;
  private boolean ringOnItsWay; // to this side
  private boolean rung;
  private boolean ending;
  private String end; // to be told

  SimQueuePair(SimFabric process, SimDoorbell doorbell, SimRegion memory, int rkey, String name) {
    this.process = process;
    this.network = process.network();
    this.doorbell = doorbell;
    this.memory = memory;
    this.remote = new RemoteMemory(0, memory.length(), rkey);
    this.name = name;
    this.sendQueue = new SendQueue(network, this);
    this.connection = process.nic().connect();
  }

  void connectTo(SimQueuePair other, SimDatagrams sent) {
    peer = other;
    datagrams = sent;
  }

  SimFabric process() {
    return process;
  }

  /** There is something new for this side. */
  void change() {
    doorbell.change();
  }

  Nic nic() {
    return process.nic();
  }

  Nic.Connection connection() {
    return connection;
  }

  SimQueuePair peerPair() {
    return peer;
  }

  /** This side finds no memory, so many times. */
  public void refuseMemory(int times) {
    refusedMemory = times;
  }

  SimRegion view() {
    return memory;
  }

  boolean isOpen() {
    return state == State.OPEN && !process.isDead();
  }

  @Override
  public FabricCapabilities capabilities() {
    return network.capabilities(datagrams != null);
  }

  @Override
  public MemoryRegion memory() {
    return memory;
  }

  @Override
  public RemoteMemory remote() {
    return remote;
  }

  @Override
  public RegisteredMemory register(int length) throws IOException {
    synchronized (network) {
      if (!isOpen() || (refusedMemory > 0 && refusedMemory-- > 0)) {
        throw new IOException("no memory");
      }
      final DirectRegion heap = HeapMemory.allocate(length);
      final SimRegion region = memory.beside(heap);
      beside.add(region);
      final HeapMemory made = new HeapMemory(heap, region, registered.size());
      registered.add(made);
      return made;
    }
  }

  private HeapMemory find(byte[] descriptor, int maxLength, boolean loads) throws IOException {
    if (!isOpen()) {
      throw new IOException("the connection has ended");
    }
    if (network.context().loadStore() != loads) {
      throw new IOException("not the way to the peer's memory: loads=" + loads);
    }
    final HeapMemory found = HeapMemory.find(peer.registered, descriptor);
    if (found.region().length() > maxLength) {
      throw new IOException("too long: length=" + found.region().length());
    }
    return found;
  }

  @Override
  public RemoteMemory attachRemote(byte[] descriptor, int maxLength) throws IOException {
    synchronized (network) {
      final HeapMemory found = find(descriptor, maxLength, false);
      if (attached.containsValue(found.heap())) {
        throw new IOException("attached before");
      }
      final int rkey = REGISTERED + attached.size();
      final RemoteMemory named = new RemoteMemory(0, found.region().length(), rkey);
      attached.put(named, found.heap());
      return named;
    }
  }

  @Override
  public MemoryRegion attach(byte[] descriptor, int maxLength) throws IOException {
    synchronized (network) {
      final HeapMemory found = find(descriptor, maxLength, true);
      final SimRegion region = memory.beside(found.heap());
      beside.add(region);
      return region;
    }
  }

  @Override
  public MemoryRegion scratch(int length) throws IOException {
    WorkRequests.checkLength(length);
    synchronized (network) {
      if (!isOpen()) {
        throw new IOException("the connection has ended");
      }
      return new DirectRegion(length);
    }
  }

  @Override
  public String peer() {
    return name;
  }

  @Override
  public void bind(Listener listener) {
    synchronized (network) {
      if (this.listener != null) {
        throw new IllegalStateException("bound twice: listener=" + listener);
      }
      this.listener = listener;
      doorbell.add(this::deliver);
    }
  }

  @Override
  public int write(int offset, int length) {
    synchronized (network) {
      WorkRequests.checkRange("offset", offset, length, memory.length());
      if (!isOpen()) {
        return CLOSED;
      }
      return network.context().loadStore() ? POSTED : sendQueue.write(offset, length);
    }
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
    synchronized (network) {
      final DirectRegion source = source(remote);
      WorkRequests.checkRead(remote, remoteOffset, local, localOffset, length, firstOffset);
      return isOpen()
          ? sendQueue.read(
              source, remoteOffset, local, localOffset, length, firstOffset, workRequestId)
          : CLOSED;
    }
  }

  private DirectRegion source(RemoteMemory named) {
    if (attached.containsKey(named)) {
      return attached.get(named);
    }
    WorkRequests.checkRemote(remote, named);
    return peer.view().memory();
  }

  @Override
  public int compareAndSwap(
      RemoteMemory remote, int remoteOffset, long expected, long desired, long workRequestId) {
    synchronized (network) {
      WorkRequests.checkRemote(this.remote, remote);
      WorkRequests.checkWord(remote, remoteOffset);
      return isOpen()
          ? sendQueue.atomic(remoteOffset, word -> word == expected ? desired : word, workRequestId)
          : CLOSED;
    }
  }

  @Override
  public int fetchAndAdd(RemoteMemory remote, int remoteOffset, long delta, long workRequestId) {
    synchronized (network) {
      WorkRequests.checkRemote(this.remote, remote);
      WorkRequests.checkWord(remote, remoteOffset);
      return isOpen()
          ? sendQueue.atomic(remoteOffset, word -> word + delta, workRequestId)
          : CLOSED;
    }
  }

  @Override
  public int sendDatagram(int offset, int length) {
    synchronized (network) {
      WorkRequests.checkDatagram(offset, length, memory.length(), capabilities().maxDatagram());
      return isOpen() && datagrams.isSentBy(this) ? datagrams.send(offset, length) : CLOSED;
    }
  }

  @Override
  public int pollDatagrams(DatagramHandler handler, int limit) {
    return datagrams == null || datagrams.isSentBy(this) ? 0 : datagrams.poll(handler, limit);
  }

  @Override
  public void cork() {
    synchronized (network) {
      sendQueue.cork();
    }
  }

  @Override
  public void uncork() {
    synchronized (network) {
      sendQueue.uncork();
    }
  }

  @Override
  public CompletionQueue completions() {
    return sendQueue;
  }

  @Override
  public void ringDoorbell() {
    synchronized (network) {
      if (!isOpen()) {
        return;
      }
      memory.drain(); // a system call: it does not overtake what was stored before
      if (network.context().loadStore()) {
        peer.ringLater();
      } else {
        sendQueue.ring();
      }
    }
  }

  /** The other side has rung; rings on their way are one. */
  void ringLater() {
    if (!ringOnItsWay) {
      ringOnItsWay = true;
      network.timeline().after(process.ringDelayNs(), "ring", this::ringArrives);
      network.changed();
    }
  }

  private void ringArrives() {
    ringOnItsWay = false;
    rung = true;
    doorbell.add(this::deliver);
  }

  @Override
  public void close() {
    synchronized (network) {
      if (state == State.CLOSED) {
        return;
      }
      state = State.CLOSED;
      if (sendQueue.hasRing()) {
        peer.ringLater(); // an orderly end comes after what was posted
      }
      sendQueue.flush();
      memory.leave();
      beside.forEach(SimRegion::leave);
      network.regions().remove(memory);
      process.remove(this);
      if (!process.isDead()) {
        peer.endLater("the peer has closed the connection");
      }
      network.changed();
    }
  }

  /** The connection ends underneath both sides. */
  void breakDown(String reason) {
    sendQueue.flush();
    peer.sendQueue.flush();
    endLater(reason);
    peer.endLater(reason);
  }

  /** The process of this side is dead. */
  void kill(boolean keepStores) {
    if (keepStores) {
      memory.drain();
    } else {
      memory.drop();
    }
    network.regions().remove(memory);
    sendQueue.flush();
    peer.endLater("the peer has died");
  }

  private void endLater(String reason) {
    if (!ending) {
      ending = true;
      network.timeline().after(process.ringDelayNs(), "end", () -> endArrives(reason));
    }
  }

  private void endArrives(String reason) {
    rung |= ringOnItsWay; // what was sent before the end comes before it
    end = reason;
    doorbell.add(this::deliver);
  }

  /** Tells the listener what has come, in the thread that owns the doorbell. */
  private void deliver() {
    final Listener told;
    final boolean ring;
    final String reason;
    synchronized (network) {
      told = listener;
      if (told == null || state != State.OPEN || process.isDead()) {
        return;
      }
      ring = rung;
      rung = false;
      reason = end;
      end = null;
    }
    if (ring) {
      tellRing(told);
    }
    if (reason != null) {
      tellEnd(told, reason);
    }
  }

  private void tellRing(Listener told) {
    try {
      told.onDoorbell();
    } catch (Throwable t) {
      SimDoorbell.report(t);
      tellEnd(told, "the listener failed: " + t);
    }
  }

  private void tellEnd(Listener told, String reason) {
    synchronized (network) {
      if (state != State.OPEN) {
        return;
      }
      state = State.ENDED;
      sendQueue.flush();
    }
    try {
      told.onDisconnected(reason);
    } catch (Throwable t) {
      SimDoorbell.report(t);
    }
  }
}
