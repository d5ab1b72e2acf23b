package dev.ringfetch.fabric.sim;

import dev.ringfetch.fabric.CompletionQueue;
import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.FabricCapabilities.ReadAtomicity;
import dev.ringfetch.fabric.FabricCapabilities.WriteOrder;
import dev.ringfetch.fabric.QueuePair;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.LongUnaryOperator;

/**
 * Work requests of one connection to a domain, each executed in steps between which anything can
 * happen. Of those that no granted order holds back, any may come next. Completions come in posting
 * order; that of a WRITE may come before anything of it is placed.
 */
final class RequestQueue implements CompletionQueue {
  private static final int WORDS = 16; // of one step, at the most

  private final SimFabric process;
  private final SimNetwork network;
  private final Runnable failure;
  private final List<Request> linked = new ArrayList<>(); // the card has not seen them
  private final List<Request> posted = new ArrayList<>(); // not executed
  private final ArrayDeque<Request> uncompleted = new ArrayDeque<>(); // in posting order
  private final ArrayDeque<Request> completing = new ArrayDeque<>(); // on the way
  private final ArrayDeque<Completion> completions = new ArrayDeque<>();
  private int signaled; // that have not been polled
  private boolean corked;
  private boolean scheduled;

  private record Completion(long id, int status, long value) {}

  /** A work request under way. */
  abstract static class Request {
    final long id;
    private final BooleanSupplier gone;
    long value;
    private boolean executed;

    Request(BooleanSupplier gone, long id, long value) {
      this.gone = gone;
      this.id = id;
      this.value = value;
    }

    abstract boolean stores();

    /** Executes a part. False when that was the last one. */
    abstract boolean step();

    /** Returns whether it may complete now, although it is not executed. */
    boolean completesEarly() {
      return false;
    }
  }

  /** Loads remote memory: line by line or in any mixture of words. */
  static final class Read extends Request {
    private final SimNetwork network;
    private final Transfer transfer;
    private int[] order;
    private int loaded;

    Read(SimNetwork network, Transfer transfer, BooleanSupplier gone, long id) {
      super(gone, id, transfer.length());
      this.network = network;
      this.transfer = transfer;
    }

    @Override
    boolean stores() {
      return false;
    }

    @Override
    boolean step() {
      if (transfer.length() == 0) {
        return false;
      }
      return network.context().readAtomicity() == ReadAtomicity.LINE ? loadLine() : loadWords();
    }

    private boolean loadLine() {
      do {
        transfer.read(loaded++);
      } while (loaded < transfer.pieces() && !transfer.endsLine(loaded - 1));
      return loaded < transfer.pieces();
    }

    private boolean loadWords() {
      if (order == null) {
        order = new int[transfer.pieces()];
        for (int i = 0; i < order.length; i++) {
          final int other = network.timeline().random().nextInt(i + 1);
          order[i] = order[other];
          order[other] = i;
        }
      }
      for (int words = 1 + network.timeline().random().nextInt(WORDS);
          words > 0 && loaded < order.length;
          words--) {
        transfer.read(order[loaded++]);
      }
      return loaded < order.length;
    }
  }

  /** Stores to remote memory: from the lowest word up or from the highest down. */
  static final class Write extends Request {
    private final SimNetwork network;
    private final Transfer transfer;
    private int placed;

    Write(SimNetwork network, Transfer transfer, BooleanSupplier gone, long id) {
      super(gone, id, transfer.length());
      this.network = network;
      this.transfer = transfer;
    }

    @Override
    boolean stores() {
      return true;
    }

    @Override
    boolean completesEarly() {
      if (network.timeline().oneIn(2)) {
        return false;
      }
      transfer.release();
      return true;
    }

    @Override
    boolean step() {
      final boolean ascending = network.context().writeOrder() == WriteOrder.ASCENDING;
      final int pieces = transfer.pieces();
      for (int words = 1 + network.timeline().random().nextInt(WORDS);
          words > 0 && placed < pieces;
          words--) {
        transfer.write(ascending ? placed : pieces - 1 - placed);
        placed++;
      }
      return placed < pieces;
    }
  }

  /** Replaces a word of remote memory; the completion carries the word as it was. */
  static final class Atomic extends Request {
    private final DirectRegion remote;
    private final int offset;
    private final LongUnaryOperator operator;

    Atomic(
        DirectRegion remote,
        int offset,
        LongUnaryOperator operator,
        BooleanSupplier gone,
        long id) {
      super(gone, id, 0);
      this.remote = remote;
      this.offset = offset;
      this.operator = operator;
    }

    @Override
    boolean stores() {
      return true;
    }

    @Override
    boolean step() {
      value = remote.getLongAcquire(offset);
      remote.putLongRelease(offset, operator.applyAsLong(value));
      return false;
    }
  }

  /**
   * Creates a queue.
   *
   * @param failure what happens when memory is gone that a request reaches.
   */
  RequestQueue(SimFabric process, Runnable failure) {
    this.process = process;
    this.network = process.network();
    this.failure = failure;
  }

  int post(Request request) {
    final int depth = network.context().sendQueueDepth();
    if (linked.size() + uncompleted.size() >= depth || signaled >= depth) {
      return QueuePair.SEND_QUEUE_FULL;
    }
    if (request.id != QueuePair.UNSIGNALED) {
      signaled++;
    }
    linked.add(request);
    if (!corked) {
      handOver();
    }
    return QueuePair.POSTED;
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

  private void handOver() {
    posted.addAll(linked);
    uncompleted.addAll(linked);
    linked.clear();
    complete();
    schedule();
    network.changed();
  }

  private void schedule() {
    if (!scheduled && !posted.isEmpty()) {
      scheduled = true;
      network.timeline().after(network.delayNs() / 16, "request", this::step);
    }
  }

  private void step() {
    scheduled = false;
    final List<Request> ready = new ArrayList<>();
    for (int i = 0; i < posted.size(); i++) {
      if (!isHeldBack(i)) {
        ready.add(posted.get(i));
      }
    }
    if (!ready.isEmpty()) {
      final Request next = ready.get(network.timeline().random().nextInt(ready.size()));
      if (next.gone.getAsBoolean()) {
        failure.run();
        return;
      }
      if (!next.step()) {
        next.executed = true;
        posted.remove(next);
      }
      complete();
    }
    schedule();
  }

  /** True when a granted order, or a hold of the process's writes, makes a request wait. */
  private boolean isHeldBack(int index) {
    final Request request = posted.get(index);
    if (request.stores() && process.writeDelayNs() > 0) {
      return true;
    }
    for (int i = 0; i < index; i++) {
      final boolean afterStore = posted.get(i).stores();
      if (request.stores()
          ? afterStore
          : afterStore ? network.context().readAfterWrite() : network.context().readAfterRead()) {
        return true;
      }
    }
    return false;
  }

  private void complete() {
    Request first;
    while ((first = uncompleted.peek()) != null && (first.executed || first.completesEarly())) {
      uncompleted.remove();
      if (first.id != QueuePair.UNSIGNALED) {
        completing.add(first);
        network.timeline().after(network.delayNs(), "completion", this::completeNext);
      }
    }
  }

  private void completeNext() {
    final Request request = completing.poll();
    if (request != null) {
      completions.add(new Completion(request.id, QueuePair.SUCCESS, request.value));
      network.changed();
    }
  }

  /** The connection has ended: what is posted is not executed any further. */
  void flush() {
    uncompleted.addAll(linked);
    completing.addAll(uncompleted);
    linked.clear();
    posted.clear();
    uncompleted.clear();
    Request request;
    while ((request = completing.poll()) != null) {
      if (request.id != QueuePair.UNSIGNALED) {
        completions.add(new Completion(request.id, QueuePair.FLUSHED, 0));
      }
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
