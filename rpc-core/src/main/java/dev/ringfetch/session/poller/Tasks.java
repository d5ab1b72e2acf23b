package dev.ringfetch.session.poller;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Tally;
import dev.ringfetch.fabric.Doorbell;
import dev.ringfetch.timer.Retry;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.agrona.concurrent.NanoClock;

/**
 * The queue of foreign tasks that a poller runs. Meanwhile the poller is on {@linkplain PollerLease
 * lease}: if a task keeps the thread for long, a {@link BackupThread} takes the poller over.
 *
 * <p>A task that waits for an answer takes the poller back until then, and serves in nested rounds.
 * When other tasks are queued, it gives a new lease after {@link TaskPatience#PAUSE_NS}.
 *
 * <p>Used by the driver, except for {@link #add}, and for the methods for a thread that has given a
 * lease.
 */
public final class Tasks {
  private static final int BUDGET_MASK = 0x3; // tasks between looks at the clock

  private static final long NOT_NESTED = Long.MIN_VALUE;
  private static final long NESTED_PAUSE_NS = 1_000_000; // where there is no backup thread

  private final OwnerToken token;
  private final Consumer<Runnable> changes;
  private final Tally tally;
  private final PollerLease lease;
  private final TaskPatience patience;
  private final BackupThread backup;
  private final Retry again = new Retry(this::askIfLent, BackupThread.START_PAUSE_NS);
  private final NanoClock clock;
  private final ConcurrentLinkedQueue<Runnable> queue = new ConcurrentLinkedQueue<>();

  private volatile boolean enabled; // to start a backup thread

  private long nestedUntilNs = NOT_NESTED; // if other tasks are queued

  /**
   * Creates an empty queue.
   *
   * @param changes takes actions of the poller's thread between two rounds.
   */
  Tasks(PollerParts parts, Consumer<Runnable> changes) {
    this.token = parts.token();
    this.lease = parts.lease();
    this.clock = parts.clock();
    this.tally = parts.tally();
    this.patience = new TaskPatience(parts);
    this.backup = new BackupThread(parts, patience, "-tasks-");
    this.changes = changes;
  }

  BackupThread backup() {
    return backup;
  }

  /** Allows a backup thread to be started. */
  void enableBackup() {
    enabled = true;
  }

  /** Any thread. */
  void add(Runnable task) {
    queue.add(task);
  }

  /** Any thread. */
  boolean isEmpty() {
    return queue.isEmpty();
  }

  /**
   * Runs tasks under a lease, for a while: then the sessions have their turn.
   *
   * @return how many, or {@link Poller#LOST} when another thread drives the poller afterwards.
   */
  int run() {
    int done = 0;
    long startNs = 0;
    VirtualMachineError fault = null;
    nestedUntilNs = NOT_NESTED; // left over from the tasks of a thread that has lost the poller
    try {
      lend();
      Runnable task;
      while (lease.isMine() && (task = queue.poll()) != null) {
        patience.begins();
        Callbacks.run(task);
        done++;
        if (patience.isTurnOver()) {
          break;
        }
        if ((done & BUDGET_MASK) == 0) { // reading the clock takes as long as a short task
          final long nowNs = clock.nanoTime();
          if (done == BUDGET_MASK + 1) {
            startNs = nowNs;
          } else if (nowNs - startNs >= InlineTask.BUDGET_NS) {
            break;
          }
        }
      }
    } catch (VirtualMachineError e) { // a fault of lost memory, or a lack of memory
      fault = e;
    }
    final int ran = done;
    if (!token.isMine() && !lease.takeBack()) {
      if (fault != null) {
        Callbacks.report(fault);
      }
      changes.accept(() -> count(ran));
      return InlineTasks.LOST;
    }
    nestedUntilNs = NOT_NESTED;
    count(ran);
    if (fault != null) {
      throw fault;
    }
    return ran;
  }

  private void lend() {
    lease.lendForTasks();
    patience.lent();
    summonBackup();
  }

  /** Makes the backup thread look, after a lease was given. May come late. */
  private void summonBackup() {
    if (!backup.looks() && enabled && !backup.summon()) {
      askAgain(); // there may be no further lease, if the task waits for this poller
    }
  }

  private void askAgain() {
    try {
      again.schedule();
    } catch (OutOfMemoryError e) { // the next lease requests it again
      Callbacks.report(e);
    }
  }

  private void askIfLent() {
    if (lease.isForTasks()) {
      patience.lent();
      summonBackup();
    }
  }

  private void count(int ran) {
    tally.add(Counter.POLLER_TASKS, ran);
  }

  /** Runs the remaining tasks at shutdown, without a backup thread. */
  void runAtEnd() {
    Runnable task;
    while ((task = queue.poll()) != null) {
      Callbacks.run(task);
    }
  }

  /**
   * Takes the poller back for a task that runs under a lease, until {@link #lendAgain}: it waits
   * for an answer, in rounds of {@link Poller#serveNested}. Refuses after a while if other tasks
   * are queued, and on any other thread.
   */
  public boolean retake() {
    if (!lease.isMine() || lease.wasInline() || isNestedLong() || !lease.takeBack()) {
      return false;
    }
    if (nestedUntilNs == NOT_NESTED) {
      nestedUntilNs = clock.nanoTime() + TaskPatience.PAUSE_NS;
    }
    return true;
  }

  /**
   * True when a task that has taken the poller back has delayed queued tasks for long enough, and a
   * backup thread will take the poller over under a new lease.
   */
  public boolean isNestedLong() {
    return nestedUntilNs != NOT_NESTED
        && !queue.isEmpty()
        && clock.nanoTime() - nestedUntilNs >= 0
        && enabled
        && backup.summon();
  }

  /** Gives a new lease for the same tasks, after {@link #retake}. */
  public void lendAgain() {
    lend();
  }

  /**
   * How long a round within a task may sleep, in nanoseconds, before that task gives a new lease;
   * {@link Doorbell#FOREVER} while no task is queued.
   */
  long nestedNs() {
    return nestedUntilNs == NOT_NESTED || queue.isEmpty()
        ? Doorbell.FOREVER
        : Math.max(NESTED_PAUSE_NS, nestedUntilNs - clock.nanoTime());
  }
}
