package dev.ringfetch.fabric;

import dev.ringfetch.fabric.FabricCapabilities.ReadAtomicity;
import dev.ringfetch.fabric.FabricCapabilities.WriteOrder;
import java.util.ArrayDeque;
import java.util.Arrays;

/**
 * A queue pair of a card: what it writes is in the server's memory at once, what it reads is read
 * when its owner looks for completions. Datagrams are the test's to send. One thread.
 */
public final class HeapCard extends HeapQueuePair {
  private static final int MAX_DATAGRAM = 256;
  private static final int MAX_WAITING = 32; // datagrams; those beyond are lost

  private static final FabricCapabilities CAPABILITIES =
      new FabricCapabilities(WriteOrder.NONE, ReadAtomicity.NONE, false, 0, MAX_DATAGRAM);

  private final DirectRegion server;
  private final ArrayDeque<Read> reads = new ArrayDeque<>();
  private final ArrayDeque<byte[]> datagrams = new ArrayDeque<>();
  private final DirectRegion received = new DirectRegion(MAX_DATAGRAM);
  private boolean stalled;
  private int refusals;
  private boolean broken;

  HeapCard(DirectRegion own, DirectRegion server, String name) {
    super(own, name);
    this.server = server;
  }

  private record Read(
      int remoteOffset, MemoryRegion local, int localOffset, int length, long workRequestId) {}

  /** While stalled, no read is done. */
  public void stall(boolean stall) {
    stalled = stall;
  }

  /** The send queue is full for so many posts. */
  public void refuse(int posts) {
    refusals = posts;
  }

  /** No more datagrams come. */
  public void breakDatagrams() {
    broken = true;
  }

  private boolean refuses() {
    return refusals > 0 && refusals-- > 0;
  }

  /** The server writes a range of its memory into this side's. */
  public void push(int offset, int length) {
    copy(server, offset, memory(), offset, length);
  }

  /** Receives a datagram of the server, or of an impostor. */
  public void receive(byte[] datagram) {
    if (datagrams.size() < MAX_WAITING) {
      datagrams.add(Arrays.copyOf(datagram, Math.min(datagram.length, MAX_DATAGRAM)));
    }
  }

  private static void copy(MemoryRegion from, int offset, MemoryRegion to, int at, int length) {
    final byte[] bytes = new byte[length];
    from.getBytes(offset, bytes, 0, length);
    to.putBytes(at, bytes, 0, length);
  }

  @Override
  public FabricCapabilities capabilities() {
    return CAPABILITIES;
  }

  @Override
  public int write(int offset, int length) {
    if (refuses()) {
      return SEND_QUEUE_FULL;
    }
    final int posted = super.write(offset, length);
    if (posted == POSTED && memory() != server) {
      copy(memory(), offset, server, offset, length);
    }
    return posted;
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
    if (refuses()) {
      return SEND_QUEUE_FULL;
    }
    if (hasEnded()) {
      return CLOSED;
    }
    reads.add(new Read(remoteOffset, local, localOffset, length, workRequestId));
    return POSTED;
  }

  @Override
  public CompletionQueue completions() {
    return (handler, limit) -> {
      int count = 0;
      while (!reads.isEmpty() && count < limit && (!stalled || hasEnded())) {
        final Read read = reads.remove();
        final boolean done = !hasEnded();
        if (done) {
          copy(server, read.remoteOffset, read.local, read.localOffset, read.length);
        }
        if (read.workRequestId != UNSIGNALED) {
          count++;
          handler.onCompletion(read.workRequestId, done ? SUCCESS : FLUSHED, read.length);
        }
      }
      return count;
    };
  }

  @Override
  public int sendDatagram(int offset, int length) {
    WorkRequests.checkDatagram(offset, length, memory().length(), MAX_DATAGRAM);
    if (refuses()) {
      return SEND_QUEUE_FULL;
    }
    return hasEnded() || broken ? CLOSED : POSTED;
  }

  @Override
  public int pollDatagrams(DatagramHandler handler, int limit) {
    int count = 0;
    while (count < limit && !datagrams.isEmpty()) {
      final byte[] datagram = datagrams.remove();
      received.putBytes(0, datagram, 0, datagram.length);
      handler.onDatagram(received, 0, datagram.length);
      count++;
    }
    return broken && count == 0 ? CLOSED : count;
  }
}
