package dev.ringfetch.index.partition;

import dev.ringfetch.index.outcome.OutcomeBudget;
import dev.ringfetch.index.outcome.OutcomeTable;
import dev.ringfetch.index.store.EntryStore;
import java.lang.invoke.VarHandle;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.agrona.ErrorHandler;

/**
 * The writer of one partition of an index: carries out the writes that any threads submit, one
 * after the other, through its log into its store.
 *
 * <p>No thread waits for another. A thread that submits a write enqueues it and tries to take the
 * partition's token. The thread that gets it is the owner: it does {@linkplain WriteCycle cycles}
 * for all that have submitted, and after each releases the token and delivers the answers. Where
 * another thread holds the token, that one looks at the queue again after it has released it, so no
 * write is forgotten (flat combining, Hendler and others, SPAA 2010). A commit that comes later
 * makes an owner of the log's thread in the same way. A thread that has served others for {@link
 * Handover#cycles()} cycles leaves the rest to a task.
 *
 * <p>A write becomes visible in the store after its commit and before its answer. Writes of one
 * thread are carried out in the order in which it submits them.
 *
 * <p>Safe for use by many threads.
 */
public final class Partition {
  /** The most cycles that one thread adds because the store has to grow. */
  private static final int GROWTH_CYCLES = 16;

  private final WriteQueue queue;
  private final CommitLog log;
  private final WriteCycle cycle;
  private final ErrorHandler errors;
  private final TimeSource.WakeUp wakeUp;

  /** Whether the wake-up has come since the owner looked. */
  private volatile boolean wokenUp;

  /** Whether the log has called since the owner looked. */
  private volatile boolean logCalled;

  private final AtomicBoolean owned = new AtomicBoolean();
  private final AtomicReference<Runnable> closing = new AtomicReference<>();
  private final Runnable cycles = this::doCycles;
  private final Handover handover;

  /** Whether a task is on its way that will drive this. */
  private final AtomicBoolean handedOver = new AtomicBoolean();

  private final Runnable task = this::takeOver;

  /**
   * What a partition works with besides its store and its log.
   *
   * @param capacity the most writes that wait in the queue, the puts of a batch counting as one; as
   *     many may have been taken from it; and the most writes that wait for their commit, while
   *     which the queue is left to fill.
   * @param owner what all partitions share.
   * @param outcomes of the writes with numbers that the log has already.
   */
  public record Context(int capacity, OwnerContext owner, OutcomeTable outcomes) {
    /**
     * Creates the context.
     *
     * @throws IllegalArgumentException if the capacity is less than 1.
     */
    public Context {
      if (capacity < 1) {
        throw new IllegalArgumentException("capacity=" + capacity);
      }
    }
  }

  /** As below, by the time of the system. */
  public Partition(
      EntryStore store, CommitLog log, int capacity, ErrorHandler errors, Handover handover) {
    this(store, log, capacity, new OwnerContext(errors, handover, TimeSource.ofSystem()));
  }

  /** As below, without any outcomes. */
  public Partition(EntryStore store, CommitLog log, int capacity, OwnerContext context) {
    this(
        store,
        log,
        new Context(
            capacity, context, new OutcomeTable(new OutcomeBudget(OutcomeBudget.SLOTS_DEFAULT))));
  }

  /**
   * Creates the writer of a store, which nothing else changes from now on.
   *
   * @param log of this partition alone.
   */
  public Partition(EntryStore store, CommitLog log, Context context) {
    this.log = log;
    errors = context.owner().errors();
    handover = context.owner().handover();
    queue = new WriteQueue(context.capacity());
    cycle = new WriteCycle(store, log, queue, context);
    wakeUp = context.owner().time().wakeUp(this::onWakeUp);
    log.onCommit(this::onLog);
  }

  /**
   * Submits a prepared write. Its listener is called once, unless this returns other than 0.
   *
   * @return 0, or {@link Write#QUEUE_FULL} if the write is prepared as before.
   * @throws IllegalStateException if the write is not prepared.
   */
  public int submit(Write write) {
    write.submitted();
    if (!submitChain(write)) {
      write.refused();
      return Write.QUEUE_FULL;
    }
    return 0;
  }

  /** Submits the writes of a chain, together in the queue; false if it is full. */
  boolean submitChain(Write first) {
    if (!queue.offer(first)) {
      return false;
    }
    drive();
    return true;
  }

  /** The largest LSN whose record survives a crash, as far as the log keeps records at all. */
  public long durable() {
    return log.durable();
  }

  /**
   * Takes no writes of clients any more: they end with {@link Write#UNAVAILABLE}. What was taken
   * goes on, and so do walks and removals of entries that end.
   */
  public void endWrites() {
    cycle.endWrites();
  }

  /**
   * Ends writing: writes that wait for their commit end with {@link Write#UNKNOWN}, all others,
   * also later ones, with {@link Write#UNAVAILABLE}. Called at most once.
   *
   * @param closed is run, on any thread, when nothing uses store and log for this any more.
   * @throws IllegalStateException if the partition was closed before.
   */
  public void close(Runnable closed) {
    if (!closing.compareAndSet(null, closed)) {
      throw new IllegalStateException("closed before");
    }
    drive();
  }

  /** Does what is due, unless another thread is at it. */
  private void drive() {
    // What the caller did, in the queue or the log, comes before its attempt at the token; the
    // owner's release comes before its look.
    VarHandle.fullFence();
    Delivery.ofThread().run(cycles, handover.cycles());
  }

  private void onWakeUp() {
    wokenUp = true;
    drive();
  }

  private void onLog() {
    logCalled = true;
    drive();
  }

  private void takeOver() {
    handedOver.set(false); // first: what comes later needs a task of its own, or is seen here
    drive();
  }

  /** Leaves the rest to a task; returns false if the thread has to go on. */
  private boolean handOver() {
    if (handedOver.compareAndSet(false, true)) {
      try {
        handover.executor().execute(task);
      } catch (RejectedExecutionException | OutOfMemoryError e) { // it ends, or has no thread
        handedOver.set(false);
        return false;
      }
    }
    return true;
  }

  private void doCycles() {
    final Delivery delivery = Delivery.ofThread();
    int growth = 0;
    boolean again = true;
    while (again) {
      if (!delivery.mayGoOn() && handOver()) {
        return;
      }
      if (!tryAcquire()) {
        return;
      }
      final boolean closedNow;
      final boolean closed;
      final boolean open;
      final boolean mayTake;
      final long committed;
      final Write answers;
      try {
        final boolean closedBefore = cycle.isClosed();
        if (wokenUp) {
          wokenUp = false; // before the cycle looks at the time
          cycle.wokenUp();
        }
        if (logCalled) {
          logCalled = false; // before the cycle looks at the log
        }
        cycle.work(closing.get() != null);
        mayTake = cycle.mayTake();
        again = cycle.isDue(mayTake) || (cycle.isGrowing() && ++growth < GROWTH_CYCLES);
        closed = cycle.isClosed();
        closedNow = closed && !closedBefore;
        open = cycle.isOpen();
        committed = cycle.committedSeen();
        answers = cycle.takeAnswers();
        final long wakeUpMs = again ? -1 : cycle.wakeUpMs();
        if (wakeUpMs > 0) {
          wakeUp.after(wakeUpMs); // within the ownership: owners set it one after the other
        }
      } finally {
        owned.set(false); // in any case: a partition with a lost token hangs
      }
      log.onCycleEnd();
      delivery.deliver(answers, errors);
      if (closedNow) {
        tellClosed();
      }
      // As the owner left it: what came since, it has not seen.
      again |= mayTake && !queue.isEmpty();
      again |= !mayTake && logCalled;
      again |= open && log.committed() != committed;
      again |= !closed && closing.get() != null;
      again |= wokenUp;
    }
  }

  private boolean tryAcquire() {
    return !owned.get() && owned.compareAndSet(false, true);
  }

  private void tellClosed() {
    try {
      log.close();
      closing.get().run();
    } catch (Throwable t) { // it is not this thread's
      errors.onError(t);
    }
  }
}
