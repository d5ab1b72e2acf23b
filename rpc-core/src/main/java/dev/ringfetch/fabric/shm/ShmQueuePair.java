package dev.ringfetch.fabric.shm;

import dev.ringfetch.fabric.CompletionQueue;
import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.FabricCapabilities;
import dev.ringfetch.fabric.MappedRegion;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.RegisteredMemory;
import dev.ringfetch.fabric.RemoteMemory;
import dev.ringfetch.fabric.WorkRequests;
import java.io.IOException;

/**
 * The queue pair of shm: executes work requests on memory that both sides map; each is done, and
 * complete, when it was posted. Rings and the end of the connection are those of its {@link Link}.
 *
 * <p>{@link #compareAndSwap} and {@link #fetchAndAdd} are outside of the failure model of a file
 * that a process of one's own user truncates: they may kill the JVM then (see {@link
 * MappedRegion}). Rings use neither of them. A {@link #read} of such memory returns undefined data;
 * {@link MemoryRegion#verify()} of {@link #memory()} reports the fault.
 */
final class ShmQueuePair implements QueuePair {
  private static final String ENDED = "the connection has ended";

  private final ShmFabric fabric;
  private final Link link;
  private final MappedRegion memory;
  private final RemoteMemory remote;
  private final Nonce nonce;
  private final String peer;
  private final ShmCompletions completions = new ShmCompletions();

  ShmQueuePair(ShmFabric fabric, Link link, MappedRegion memory, SessionAddress address) {
    this.fabric = fabric;
    this.link = link;
    this.memory = memory;
    // Both sides know the nonce, and it distinguishes the memory of different sessions.
    this.nonce = address.nonce();
    this.remote = new RemoteMemory(0, memory.length(), (int) nonce.first());
    this.peer = "shm " + address.process() + "/session-" + address.session();
  }

  @Override
  public FabricCapabilities capabilities() {
    return ShmFabric.CAPABILITIES;
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
    final SessionAddress address = fabric.address(length, SessionAddress.NO_BELL, nonce.beside());
    final SessionFile file = fabric.create(address);
    if (!link.own(file)) {
      file.unlink();
      file.truncate();
      file.close();
      throw new IOException(ENDED);
    }
    return new ShmMemory(file, address);
  }

  @Override
  public MemoryRegion attach(byte[] descriptor, int maxLength) throws IOException {
    final SessionAddress address = SessionAddress.decode(descriptor);
    if (!address.isRegistered() || !address.nonce().isBeside(nonce)) {
      throw new IOException("not registered for this connection");
    }
    if (!link.isOpen()) {
      throw new IOException(ENDED);
    }
    if (address.length() > maxLength) {
      throw new IOException("too long: length=" + address.length() + " of " + maxLength);
    }
    return fabric.attach(address);
  }

  @Override
  public MemoryRegion scratch(int length) throws IOException {
    WorkRequests.checkLength(length);
    if (!link.isOpen()) {
      throw new IOException(ENDED);
    }
    return new DirectRegion(length);
  }

  @Override
  public String peer() {
    return peer;
  }

  @Override
  public void bind(Listener listener) {
    link.bind(listener);
  }

  @Override
  public int write(int offset, int length) {
    WorkRequests.checkRange("offset", offset, length, memory.length());
    return link.isOpen() ? POSTED : CLOSED;
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
    WorkRequests.checkRemote(this.remote, remote);
    WorkRequests.checkRead(remote, remoteOffset, local, localOffset, length, firstOffset);
    final int refusal = refusal(workRequestId);
    if (refusal != POSTED) {
      return refusal;
    }
    local.putLong(localOffset + firstOffset, memory.getLongAcquire(remoteOffset + firstOffset));
    // Acquire for the other words too: it costs nothing on x86, and of several frames in the range,
    // each of which was published by its lowest word, none is copied newer below than above.
    for (int i = 0; i < length; i += Long.BYTES) {
      if (i != firstOffset) {
        local.putLong(localOffset + i, memory.getLongAcquire(remoteOffset + i));
      }
    }
    complete(workRequestId, length);
    return POSTED;
  }

  @Override
  public int compareAndSwap(
      RemoteMemory remote, int remoteOffset, long expected, long desired, long workRequestId) {
    WorkRequests.checkRemote(this.remote, remote);
    WorkRequests.checkWord(remote, remoteOffset);
    final int refusal = refusal(workRequestId);
    if (refusal == POSTED) {
      complete(workRequestId, memory.compareAndExchangeLong(remoteOffset, expected, desired));
    }
    return refusal;
  }

  @Override
  public int fetchAndAdd(RemoteMemory remote, int remoteOffset, long delta, long workRequestId) {
    WorkRequests.checkRemote(this.remote, remote);
    WorkRequests.checkWord(remote, remoteOffset);
    final int refusal = refusal(workRequestId);
    if (refusal == POSTED) {
      complete(workRequestId, memory.getAndAddLong(remoteOffset, delta));
    }
    return refusal;
  }

  /** Returns why a work request cannot be posted, or {@link #POSTED}. */
  private int refusal(long workRequestId) {
    if (!link.isOpen()) {
      return CLOSED;
    }
    return workRequestId != UNSIGNALED && completions.isFull() ? SEND_QUEUE_FULL : POSTED;
  }

  private void complete(long workRequestId, long value) {
    if (workRequestId != UNSIGNALED) {
      completions.add(workRequestId, value);
    }
  }

  @Override
  public CompletionQueue completions() {
    return completions;
  }

  @Override
  public void ringDoorbell() {
    link.ring();
  }

  @Override
  public void close() {
    link.close();
  }

  @Override
  public String toString() {
    return "ShmQueuePair[" + peer + "]";
  }
}
