package dev.ringfetch.fabric.sim;

import dev.ringfetch.fabric.CompletionQueue;
import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.FabricCapabilities.ReadAtomicity;
import dev.ringfetch.fabric.FabricCapabilities.WriteOrder;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import java.util.ArrayDeque;
import java.util.function.LongUnaryOperator;

/**
 * Work requests of one queue pair: under way together, executed in posting order, each in steps
 * between which anything can happen. Completions come when they come: before what was written is
 * visible, or never.
 */
final class SendQueue implements CompletionQueue {
  private static final int LINE = 64;
  private static final int CHAIN = 8; // requests that are linked, at the most

  private final SimNetwork network;
  private final SimQueuePair queuePair;
  private final ArrayDeque<WorkRequest> linked = new ArrayDeque<>(); // the card has not seen them
  private final ArrayDeque<WorkRequest> posted = new ArrayDeque<>();
  private final ArrayDeque<WorkRequest> executed = new ArrayDeque<>();
  private final ArrayDeque<Completion> completions = new ArrayDeque<>();
  private int signaled; // that have not been polled
  private boolean corked;

  private record Completion(long id, int status, long value) {}

  private abstract static class WorkRequest {
    final long id;
    final int outBytes; // that go out with it
    final int inBytes; // that the other card moves
    long value;
    boolean served; // by the other card's engine

    WorkRequest(long id, int outBytes, int inBytes) {
      this.id = id;
      this.outBytes = outBytes;
      this.inBytes = inBytes;
    }

    /** Executes a part. False when that was the last one. */
    abstract boolean step();
  }

  SendQueue(SimNetwork network, SimQueuePair queuePair) {
    this.network = network;
    this.queuePair = queuePair;
  }

  private DirectRegion own() {
    return queuePair.view().memory();
  }

  private DirectRegion others() {
    return queuePair.peerPair().view().memory();
  }

  private int post(WorkRequest request) {
    final int depth = network.context().sendQueueDepth();
    final boolean room = linked.size() + posted.size() < depth && signaled < depth;
    if (!room && !(request instanceof Ring)) {
      return QueuePair.SEND_QUEUE_FULL;
    }
    if (request.id != QueuePair.UNSIGNALED) {
      signaled++;
    }
    linked.add(request);
    if (!corked || request instanceof Ring || linked.size() == CHAIN) {
      handOver();
    }
    return QueuePair.POSTED;
  }

  private void handOver() {
    if (linked.isEmpty()) {
      return;
    }
    queuePair.view().drain(); // the card loads what the CPU had stored by now
    WorkRequest request;
    while ((request = linked.poll()) != null) {
      posted.add(request);
      begin(request);
    }
    network.changed();
  }

  /** What is posted from here on waits. */
  void cork() {
    corked = true;
  }

  /** Nothing waits any longer. */
  void uncork() {
    corked = false;
    handOver();
  }

  private void begin(WorkRequest request) {
    queuePair.nic().issue(queuePair.connection(), request.outBytes, () -> serve(request));
  }

  private void serve(WorkRequest request) {
    final SimQueuePair peer = queuePair.peerPair();
    peer.nic()
        .serve(
            peer.connection(),
            request.inBytes,
            () -> {
              request.served = true;
              execute(request);
            });
  }

  private void execute(WorkRequest request) {
    if (posted.peek() != request || queuePair.peerPair().process().isDead()) {
      return; // flushed, or others come first; or nobody is there any more
    }
    final long heldNs = queuePair.process().writeDelayNs();
    if (heldNs > 0) {
      network.timeline().after(heldNs, "held", () -> execute(request));
      return;
    }
    if (request.step()) {
      network.timeline().after(network.delayNs() / 16, "placed", () -> execute(request));
      return;
    }
    posted.poll();
    if (request.id != QueuePair.UNSIGNALED) {
      final long delayNs = queuePair.nic().returnNs() + network.delayNs();
      executed.add(request);
      network.timeline().after(delayNs, "completion", this::completeNext);
    }
    final WorkRequest next = posted.peek();
    if (next != null && next.served) {
      network.timeline().after(0, "next", () -> execute(next));
    }
  }

  private void completeNext() {
    final WorkRequest request = executed.poll();
    if (request != null) {
      completions.add(new Completion(request.id, QueuePair.SUCCESS, request.value));
      queuePair.change();
      network.changed();
    }
  }

  /**
   * The queue pair has ended: completions on their way are lost, and what is posted is not
   * executed, or only in part.
   */
  void flush() {
    WorkRequest request;
    while ((request = executed.poll()) != null) {
      completions.add(new Completion(request.id, QueuePair.FLUSHED, 0));
    }
    posted.addAll(linked);
    linked.clear();
    while ((request = posted.poll()) != null) {
      if (request.id != QueuePair.UNSIGNALED) {
        completions.add(new Completion(request.id, QueuePair.FLUSHED, 0));
      }
    }
  }

  /** Places a range of this side's memory at the same offset of the other's. */
  int write(int offset, int length) {
    return post(new Write(offset, length));
  }

  private final class Write extends WorkRequest {
    private final int offset;
    private final int length;
    private int placed;

    Write(int offset, int length) {
      super(QueuePair.UNSIGNALED, length, length);
      this.offset = offset;
      this.length = length;
    }

    @Override
    boolean step() {
      int words = 1 + network.timeline().random().nextInt(2 * LINE / Long.BYTES);
      for (; words > 0 && placed < length; words--) {
        final int index = offset + place();
        others().putLongRelease(index, own().getLong(index));
        placed += Long.BYTES;
      }
      queuePair.peerPair().change();
      return placed < length;
    }

    /** Without order, the lines go from the last to the first: as far from it as can be. */
    private int place() {
      if (network.context().writeOrder() == WriteOrder.ASCENDING) {
        return placed;
      }
      final int line = (length - 1) / LINE - placed / LINE;
      return line * LINE + placed % LINE;
    }
  }

  /** Reads the other's memory, the given word first. */
  int read(
      DirectRegion source,
      int remoteOffset,
      MemoryRegion local,
      int localOffset,
      int length,
      int first,
      long id) {
    return post(new Read(source, remoteOffset, local, localOffset, length, first, id));
  }

  private final class Read extends WorkRequest {
    private final DirectRegion source;
    private final int remoteOffset;
    private final MemoryRegion local;
    private final int localOffset;
    private final int length;
    private final int first;
    private int[] order;
    private int loaded;

    Read(
        DirectRegion source,
        int remoteOffset,
        MemoryRegion local,
        int localOffset,
        int length,
        int first,
        long id) {
      super(id, 0, length);
      this.source = source;
      this.remoteOffset = remoteOffset;
      this.local = local;
      this.localOffset = localOffset;
      this.length = length;
      this.first = first;
      this.value = length;
    }

    @Override
    boolean step() {
      return network.context().readAtomicity() == ReadAtomicity.LINE ? loadLine() : loadWords();
    }

    /** The first word, then line by line. */
    private boolean loadLine() {
      if (loaded == 0) {
        load(first);
      }
      do {
        if (loaded != first) {
          load(loaded);
        }
        loaded += Long.BYTES;
      } while (loaded < length && (remoteOffset + loaded) % LINE != 0);
      return loaded < length;
    }

    /** Any mixture: words in any order. */
    private boolean loadWords() {
      if (order == null) {
        order = new int[length / Long.BYTES];
        for (int i = 0; i < order.length; i++) {
          final int other = network.timeline().random().nextInt(i + 1);
          order[i] = order[other];
          order[other] = i * Long.BYTES;
        }
      }
      for (int words = 1 + network.timeline().random().nextInt(8);
          words > 0 && loaded < length;
          words--) {
        load(order[loaded / Long.BYTES]);
        loaded += Long.BYTES;
      }
      return loaded < length;
    }

    private void load(int index) {
      local.putLong(localOffset + index, source.getLongAcquire(remoteOffset + index));
    }
  }

  /** Rings the other side's doorbell, after what was posted before. */
  void ring() {
    if (linked.isEmpty() && posted.peekLast() instanceof Ring) {
      return; // one on its way is enough
    }
    post(new Ring());
  }

  /** True when the other side would have been rung. */
  boolean hasRing() {
    return posted.stream().anyMatch(Ring.class::isInstance);
  }

  private final class Ring extends WorkRequest {
    Ring() {
      super(QueuePair.UNSIGNALED, 0, 0);
    }

    @Override
    boolean step() {
      queuePair.peerPair().ringLater();
      return false;
    }
  }

  /** Replaces a word of the other's memory; the completion carries the word as it was. */
  int atomic(int remoteOffset, LongUnaryOperator operator, long id) {
    return post(new Atomic(remoteOffset, operator, id));
  }

  private final class Atomic extends WorkRequest {
    private final int remoteOffset;
    private final LongUnaryOperator operator;

    Atomic(int remoteOffset, LongUnaryOperator operator, long id) {
      super(id, Long.BYTES, Long.BYTES);
      this.remoteOffset = remoteOffset;
      this.operator = operator;
    }

    @Override
    boolean step() {
      value = others().getLongAcquire(remoteOffset);
      others().putLongRelease(remoteOffset, operator.applyAsLong(value));
      return false;
    }
  }

  @Override
  public int poll(Handler handler, int limit) {
    int polled = 0;
    Completion completion;
    while (polled < limit && (completion = next()) != null) {
      handler.onCompletion(completion.id, completion.status, completion.value);
      polled++;
    }
    return polled;
  }

  private Completion next() {
    synchronized (network) {
      network.pump();
      final Completion completion = completions.poll();
      if (completion != null) {
        signaled--;
      }
      return completion;
    }
  }
}
