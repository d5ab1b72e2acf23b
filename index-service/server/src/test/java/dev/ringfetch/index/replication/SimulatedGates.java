package dev.ringfetch.index.replication;

import dev.ringfetch.fabric.CompletionQueue;
import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.FabricCapabilities;
import dev.ringfetch.fabric.FabricCapabilities.ReadAtomicity;
import dev.ringfetch.fabric.FabricCapabilities.WriteOrder;
import dev.ringfetch.fabric.GateDescriptor;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.RemoteDomain;
import dev.ringfetch.fabric.Rights;
import dev.ringfetch.index.layout.GatesDescriptor;
import dev.ringfetch.index.layout.MemberGates;
import dev.ringfetch.index.layout.PostedGates;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;
import java.util.function.LongSupplier;

/**
 * The gates of a process that READs alone reach: each READ takes its word at a moment of its own,
 * one after the other, and the completion comes later still. A READ may fail, and then the
 * connection ends, or its completion comes too late: most often where it would have brought another
 * word than the READ before. The memory of a process that has ended stays.
 */
final class SimulatedGates implements RemoteDomain {
  private static final int FAILURES = 50; // one READ in so many fails, of an unchanged word
  private static final long LATE_NS = 500_000_000;

  private final SimulatedNode node;
  private final MemberGates.Member words;
  private final SimulatedTime time;
  private final Random random;
  private final LongSupplier delays;
  private final Coverage coverage;
  private final Deque<Runnable> completions = new ArrayDeque<>();
  private CompletionQueue.Handler handler;
  private long lastNs; // READs are carried out in order
  private boolean broken;
  private boolean closed;

  /**
   * Creates them.
   *
   * @param random of the readers, so that nodes draw as without them
   * @param delays of a READ
   */
  SimulatedGates(
      SimulatedNode node,
      SimulatedTime time,
      Random random,
      LongSupplier delays,
      Coverage coverage) {
    this.node = node;
    this.time = time;
    this.random = random;
    this.delays = delays;
    this.coverage = coverage;
    words = node.gates();
  }

  /** The looks at them. */
  PostedGates.Member member() {
    try {
      return new PostedGates.Member(
          "node " + node.id(), this, words.processEpoch(), 0, GatesDescriptor.word(words.place()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
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
    if (closed || broken) {
      return QueuePair.CLOSED;
    }
    final MemoryRegion from = segment == GATE ? words.process() : words.groups();
    lastNs = Math.max(lastNs, time.nowNs() + delays.getAsLong() / 2);
    if (isOther(from.getLong((int) offset), local.getLong(localOffset)) && random.nextInt(4) == 0) {
      lastNs += LATE_NS;
    }
    time.at(
        lastNs,
        () -> {
          final long word = from.getLongAcquire((int) offset);
          if (succeeds(isOther(word, local.getLong(localOffset))) && !closed) {
            local.putLong(localOffset, word);
          }
          if (workRequestId != QueuePair.UNSIGNALED) {
            final int status = broken ? QueuePair.FLUSHED : QueuePair.SUCCESS;
            time.after(
                delays.getAsLong() / 4,
                () -> completions.add(() -> handler.onCompletion(workRequestId, status, 0)));
          }
        });
    return QueuePair.POSTED;
  }

  private static boolean isOther(long word, long before) {
    return before != 0 && word != before; // the first READ of all brings one, too
  }

  private boolean succeeds(boolean isOther) {
    if (!broken && random.nextInt(isOther ? 2 : FAILURES) == 0) {
      coverage.count("failed looks");
      broken = true;
    }
    return !broken;
  }

  @Override
  public CompletionQueue completions() {
    return (to, limit) -> {
      final Runnable next = completions.poll();
      if (next == null) {
        return 0;
      }
      handler = to;
      next.run();
      return 1;
    };
  }

  @Override
  public FabricCapabilities capabilities() {
    return new FabricCapabilities(WriteOrder.NONE, ReadAtomicity.NONE, false, 0);
  }

  @Override
  public Rights rights() {
    return Rights.READ;
  }

  @Override
  public MemoryRegion scratch(int length) {
    return new DirectRegion(length);
  }

  @Override
  public long length(int segment) {
    return segment == GATE ? GateDescriptor.LENGTH : GatesDescriptor.LENGTH;
  }

  @Override
  public void cork() {}

  @Override
  public void uncork() {}

  @Override
  public boolean isRevoked() {
    return closed || broken;
  }

  @Override
  public void close() {
    closed = true;
  }

  @Override
  public int attach(byte[] segmentDescriptor) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void detach(int segment) {
    throw new UnsupportedOperationException();
  }

  @Override
  public MemoryRegion view(int segment) {
    throw new IllegalStateException("segment=" + segment);
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
}
