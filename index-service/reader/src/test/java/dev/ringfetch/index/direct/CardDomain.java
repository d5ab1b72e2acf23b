package dev.ringfetch.index.direct;

import dev.ringfetch.fabric.CompletionQueue;
import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.FabricCapabilities;
import dev.ringfetch.fabric.FabricCapabilities.ReadAtomicity;
import dev.ringfetch.fabric.FabricCapabilities.WriteOrder;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.RemoteDomain;
import dev.ringfetch.fabric.Rights;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Random;

/**
 * A domain of one segment that only READs reach: carries them out when their last one's completion
 * is looked for, in any order.
 */
final class CardDomain implements RemoteDomain {
  /** READs that have room at a time. */
  static final int DEPTH = 8;

  final DirectRegion gate = new DirectRegion(4096);
  final DirectRegion segment;

  private final Random random = new Random(Long.getLong("ringfetch.seed", 1));
  private final List<Runnable> posted = new ArrayList<>();
  private final Deque<Long> completed = new ArrayDeque<>();
  private boolean corked;

  /** READs so far. */
  int reads;

  /** Completions so far. */
  int completions;

  /** How often READs were handed over. */
  int doorbells;

  /** READs that succeed before the connection breaks. */
  int left = Integer.MAX_VALUE;

  /** No READ is carried out. */
  boolean silent;

  /** How long a batch takes, in nanoseconds. */
  long batchNs;

  private long postedNs; // the last READ

  boolean closed;

  /** Loads reach the memory, too. */
  boolean mapped;

  /** Why no segment can be attached; null if they can. */
  Error broken;

  /** Is run behind each batch. */
  Runnable loaded = () -> {};

  CardDomain() {
    this(1 << 16);
  }

  /** Creates it with a segment of another length. */
  CardDomain(int length) {
    this(new DirectRegion(length));
  }

  CardDomain(DirectRegion segment) {
    this.segment = segment;
  }

  @Override
  public FabricCapabilities capabilities() {
    return new FabricCapabilities(WriteOrder.NONE, ReadAtomicity.NONE, mapped, 0);
  }

  @Override
  public Rights rights() {
    return Rights.READ;
  }

  @Override
  public int attach(byte[] segmentDescriptor) {
    if (broken != null) {
      throw broken;
    }
    return 0;
  }

  @Override
  public long length(int number) {
    return segment.length();
  }

  @Override
  public void detach(int number) {
    throw new UnsupportedOperationException();
  }

  @Override
  public MemoryRegion view(int number) {
    if (!mapped) {
      throw new IllegalStateException("segment=" + number);
    }
    return number == GATE ? gate : segment;
  }

  @Override
  public MemoryRegion scratch(int length) {
    return new DirectRegion(length);
  }

  @Override
  public int read(
      int number,
      long offset,
      MemoryRegion local,
      int localOffset,
      int length,
      long workRequestId) {
    if (closed || left == 0) {
      return QueuePair.CLOSED;
    }
    if (posted.size() == DEPTH) {
      return QueuePair.SEND_QUEUE_FULL;
    }
    reads++;
    postedNs = System.nanoTime();
    final MemoryRegion source = number == GATE ? gate : segment;
    posted.add(
        () -> {
          final byte[] bytes = new byte[length];
          source.getBytes((int) offset, bytes, 0, length);
          local.putBytes(localOffset, bytes, 0, length);
        });
    if (workRequestId != QueuePair.UNSIGNALED) {
      completions++;
      completed.add(workRequestId);
    }
    return QueuePair.POSTED;
  }

  @Override
  public int write(int n, long at, MemoryRegion local, int offset, int length, long id) {
    throw new UnsupportedOperationException();
  }

  @Override
  public int compareAndSwap(int n, long offset, long expected, long desired, long id) {
    throw new UnsupportedOperationException();
  }

  @Override
  public int fetchAndAdd(int n, long offset, long delta, long id) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void cork() {
    corked = true;
  }

  @Override
  public void uncork() {
    if (corked) {
      doorbells++;
    }
    corked = false;
  }

  @Override
  public CompletionQueue completions() {
    return (handler, limit) -> {
      if (silent || System.nanoTime() - postedNs < batchNs) {
        return 0;
      }
      left = Math.max(0, left - posted.size());
      Collections.shuffle(posted, random);
      posted.forEach(Runnable::run);
      posted.clear();
      loaded.run();
      final Long id = completed.poll();
      if (id == null) {
        return 0;
      }
      handler.onCompletion(id, left == 0 ? QueuePair.FLUSHED : QueuePair.SUCCESS, 0);
      return 1;
    };
  }

  @Override
  public boolean isRevoked() {
    return closed;
  }

  @Override
  public void close() {
    closed = true;
  }
}
