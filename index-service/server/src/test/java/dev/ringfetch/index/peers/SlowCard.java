package dev.ringfetch.index.peers;

import dev.ringfetch.fabric.CompletionQueue;
import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.FabricCapabilities;
import dev.ringfetch.fabric.GateDescriptor;
import dev.ringfetch.fabric.GatePage;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.RemoteDomain;
import dev.ringfetch.fabric.Rights;
import java.util.ArrayDeque;

/**
 * A member's memory behind a card that carries requests out when the test says, in their order.
 * Until then they belong to it: what it writes is what its memory has at that moment.
 */
final class SlowCard implements RemoteDomain {
  /** Requests that it has room for. */
  static final int DEPTH = 64;

  static final int SEGMENT = 3;

  /** So many bytes more than there are, as the peer says. */
  long claimed;

  final DirectRegion memory;
  final GatePage gate = GatePage.in(new DirectRegion(GateDescriptor.LENGTH));
  private final boolean isReadBehindWrites;
  private final ArrayDeque<Request> linked = new ArrayDeque<>();
  private final ArrayDeque<Request> posted = new ArrayDeque<>();
  private final ArrayDeque<long[]> completed = new ArrayDeque<>();
  private boolean isSlow; // else it works whenever completions are asked for
  private boolean corked;
  private int most;
  private int doorbells;
  private int incomplete; // requests that no completion has come for yet
  private boolean revoked;
  private boolean closed;

  private record Request(Runnable action, long id) {}

  SlowCard(int length, boolean isReadBehindWrites) {
    memory = new DirectRegion(length);
    this.isReadBehindWrites = isReadBehindWrites;
  }

  /** Works when the test says, from now on. */
  void slow() {
    isSlow = true;
  }

  /** Carries out some of the requests that were posted. */
  void work(int limit) {
    for (int i = 0; i < limit && !posted.isEmpty() && !revoked; i++) {
      final Request request = posted.poll();
      request.action.run();
      if (request.id != QueuePair.UNSIGNALED) {
        completed.add(new long[] {request.id, QueuePair.SUCCESS});
      }
    }
  }

  /** The member ends the connection: what is under way fails. */
  void revoke() {
    revoked = true;
    fail();
  }

  /** What is under way fails; that the connection has ended is not known yet. */
  void fail() {
    for (final Request request : posted) {
      if (request.id != QueuePair.UNSIGNALED) {
        completed.add(new long[] {request.id, QueuePair.FLUSHED});
      }
    }
    posted.clear();
  }

  boolean isClosed() {
    return closed;
  }

  /** Times that requests were handed over. */
  int doorbells() {
    return doorbells;
  }

  /** The most requests that were not known to be done at one time. */
  int most() {
    return most;
  }

  private int post(Runnable action, long id) {
    if (isRevoked()) {
      return QueuePair.CLOSED;
    }
    if (linked.size() + incomplete >= DEPTH) {
      return QueuePair.SEND_QUEUE_FULL;
    }
    linked.add(new Request(action, id));
    most = Math.max(most, linked.size() + incomplete);
    if (!corked) {
      uncork();
    }
    return QueuePair.POSTED;
  }

  @Override
  public FabricCapabilities capabilities() {
    return new FabricCapabilities(
            FabricCapabilities.WriteOrder.ASCENDING,
            FabricCapabilities.ReadAtomicity.NONE,
            false,
            0)
        .ordered(isReadBehindWrites, false);
  }

  @Override
  public Rights rights() {
    return Rights.WRITE;
  }

  @Override
  public int attach(byte[] segmentDescriptor) {
    return SEGMENT;
  }

  @Override
  public void detach(int segment) {}

  @Override
  public long length(int segment) {
    return memory(segment).length() + claimed;
  }

  private MemoryRegion memory(int segment) {
    return segment == GATE ? gate.region() : memory;
  }

  @Override
  public MemoryRegion view(int segment) {
    throw new IllegalStateException("segment=" + segment);
  }

  @Override
  public MemoryRegion scratch(int length) {
    return new DirectRegion(length);
  }

  @Override
  public int read(
      int segment, long offset, MemoryRegion local, int localOffset, int length, long id) {
    return post(() -> copy(memory(segment), (int) offset, local, localOffset, length), id);
  }

  @Override
  public int write(
      int segment, long offset, MemoryRegion local, int localOffset, int length, long id) {
    return post(() -> copy(local, localOffset, memory, (int) offset, length), id);
  }

  private static void copy(MemoryRegion from, int at, MemoryRegion to, int toAt, int length) {
    final byte[] bytes = new byte[length];
    from.getBytes(at, bytes, 0, length);
    to.putBytes(toAt, bytes, 0, length);
  }

  @Override
  public int compareAndSwap(int segment, long offset, long expected, long desired, long id) {
    throw new IllegalArgumentException("segment=" + segment);
  }

  @Override
  public int fetchAndAdd(int segment, long offset, long delta, long id) {
    throw new IllegalArgumentException("segment=" + segment);
  }

  @Override
  public void cork() {
    corked = true;
  }

  @Override
  public void uncork() {
    corked = false;
    doorbells += linked.isEmpty() ? 0 : 1;
    incomplete += linked.size();
    posted.addAll(linked);
    linked.clear();
  }

  @Override
  public CompletionQueue completions() {
    return (handler, limit) -> {
      if (!isSlow) {
        work(Integer.MAX_VALUE);
      }
      int count = 0;
      while (count < limit && !completed.isEmpty()) {
        final long[] one = completed.poll();
        incomplete = posted.size(); // a completion stands for all requests before it
        handler.onCompletion(one[0], (int) one[1], 0);
        count++;
      }
      return count;
    };
  }

  @Override
  public boolean isRevoked() {
    return revoked || closed;
  }

  @Override
  public void close() {
    closed = true;
  }
}
