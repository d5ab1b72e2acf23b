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
 * The writer of one partition of an index: carries out submitted writes, one after the other,
 * through its log into its store.
 *
 * <p>No thread waits for another. A thread that submits a write enqueues it and tries to take the
 * partition's token. The thread that gets the token is the owner: it runs {@linkplain WriteCycle
 * cycles} for all submitters, and after each cycle releases the token and delivers the answers. If
 * another thread holds the token, that thread checks the queue again after the release, so no write
 * is forgotten (flat combining, Hendler and others, SPAA 2010). The log's thread becomes the owner
 * in the same way at a later commit. A thread that has served others for {@link Handover#cycles()}
 * cycles leaves the rest to a task.
 *
 * <p>A write becomes visible in the store after its commit and before its answer. Writes of one
 * thread are carried out in the order in which it submits them.
 *
 * <p>Safe for use by many threads.
 */
public final class Partition {
  /** Limit of the cycles that one thread adds for the growth of the store. */
  private static final int GROWTH_CYCLES = 16;

  private final WriteQueue queue;
  private final CommitLog log;
  private final WriteCycle cycle;
  private final ErrorHandler errors;
  private final TimeSource.WakeUp wakeUp;

  /** Whether the wake-up has happened since the owner's last check. */
  private volatile boolean wokenUp;

  /** Whether the log has called since the owner's last check. */
  private volatile boolean logCalled;

  private final AtomicBoolean owned = new AtomicBoolean();
  private final AtomicReference<Runnable> closing = new AtomicReference<>();
  private final Runnable cycles = this::doCycles;
  private final Handover handover;

  /** Whether a submitted task will drive this partition. */
  private final AtomicBoolean handedOver = new AtomicBoolean();

  private final Runnable task = this::takeOver;

  /** As below, with the clocks of the system. */
  public Partition(
      EntryStore store, CommitLog log, int capacity, ErrorHandler errors, Handover handover) {
    this(store, log, capacity, new OwnerContext(errors, handover, TimeSource.ofSystem()));
  }

  /** As below, without any outcomes. */
  public Partition(EntryStore store, CommitLog log, int capacity, OwnerContext context) {
    this(
        store,
        log,
        new PartitionContext(
            capacity,
            context,
            new OutcomeTable(new OutcomeBudget(OutcomeBudget.SLOTS_DEFAULT)),
            null));
  }

  /**
   * Creates the writer of a store; from now on nothing else may change the store.
   *
   * @param log of this partition alone.
   */
  public Partition(EntryStore store, CommitLog log, PartitionContext context) {
    this.log = log;
    errors = context.owner().errors();
    handover = context.owner().handover();
    queue = new WriteQueue(context.capacity());
    cycle = new WriteCycle(store, log, queue, context);
    wakeUp = context.owner().time().wakeUp(this::onWakeUp);
    log.onCommit(this::onLog);
  }

  /**
   * Submits a prepared write, or a task. Its listener is called once if this returns 0.
   *
   * @return 0, or {@link Submission#QUEUE_FULL}, in which case it is still prepared.
   * @throws IllegalStateException if it is not prepared.
   */
  public int submit(Submission submission) {
    submission.submitted();
    if (!submitChain(submission)) {
      submission.refused();
      return Write.QUEUE_FULL;
    }
    return 0;
  }

  /** Submits the writes of a chain, together in the queue; false if it is full. */
  boolean submitChain(Submission first) {
    if (!queue.offer(first)) {
      return false;
    }
    drive();
    return true;
  }

  /** The largest LSN whose record survives a crash, if the log keeps records at all. */
  public long durable() {
    return log.durable();
  }

  /**
   * Refuses new writes of clients from now on: they end with {@link Write#UNAVAILABLE}. Earlier
   * writes, walks and removals of expired entries continue.
   */
  public void endWrites() {
    cycle.endWrites();
  }

  /**
   * Ends writing: writes that wait for their commit end with {@link Write#UNKNOWN}, all others,
   * also later ones, with {@link Write#UNAVAILABLE}. Called at most once.
   *
   * @param closed runs, on any thread, when this partition no longer uses store and log.
   * @throws IllegalStateException if the partition was closed before.
   */
  public void close(Runnable closed) {
    if (!closing.compareAndSet(null, closed)) {
      throw new IllegalStateException("closed before");
    }
    drive();
  }

  /** Runs due cycles, unless another thread is the owner. */
  private void drive() {
    // The caller's change of the queue or the log comes before its attempt at the token; the
    // owner's release comes before its check.
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
    handedOver.set(false); // first: later work needs another task, or is seen here
    drive();
  }

  /** Leaves the rest to a task; returns false if the thread has to continue. */
  private boolean handOver() {
    if (handedOver.compareAndSet(false, true)) {
      try {
        handover.executor().execute(task);
      } catch (RejectedExecutionException | OutOfMemoryError e) { // it is ending, or has no thread
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
      final Submission answers;
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
      // Compare with the state at the owner's last check: the owner has not seen later changes.
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
    } catch (Throwable t) { // not this thread's failure
      errors.onError(t);
    }
  }
}
