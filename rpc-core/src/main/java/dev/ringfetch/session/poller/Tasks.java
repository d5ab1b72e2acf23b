package dev.ringfetch.session.poller;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Tally;
import dev.ringfetch.fabric.Doorbell;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.agrona.concurrent.NanoClock;

/**
 * The tasks that others gave a poller to run. Meanwhile its duty is {@linkplain PollerLease lent},
 * and one that keeps the thread for long keeps it alone: {@link TaskBackup} takes the duty over.
 *
 * <p>A task that waits for an answer has the duty back until then, and serves in rounds within
 * itself. When others are in line it lends the duty again after {@link TaskBackup#PAUSE_NS}.
 *
 * <p>Belongs to the holder of the duty, but for {@link #add}, and for what a thread may ask that
 * has lent it.
 */
public final class Tasks {
  private static final int BUDGET_MASK = 0x3; // tasks between looks at the clock

  private static final long NOT_NESTED = Long.MIN_VALUE;
  private static final long NESTED_PAUSE_NS = 1_000_000; // where nobody is there to take over

  private final OwnerToken token;
  private final Consumer<Runnable> changes;
  private final Tally tally;
  private final PollerLease lease;
  private final TaskBackup backup;
  private final NanoClock clock;
  private final ConcurrentLinkedQueue<Runnable> queue = new ConcurrentLinkedQueue<>();

  private long nestedUntilNs = NOT_NESTED; // if others are in line

  /**
   * Creates the tasks of a poller; there are none.
   *
   * @param changes takes what the poller's thread is to do between two rounds.
   */
  Tasks(PollerParts parts, TaskBackup backup, Consumer<Runnable> changes) {
    this.token = parts.token();
    this.lease = parts.lease();
    this.clock = parts.clock();
    this.tally = parts.tally();
    this.backup = backup;
    this.changes = changes;
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
   * Runs them while the duty is lent, for a while: then the sessions have their turn.
   *
   * @return how many, or {@link Poller#LOST} when another thread has the duty afterwards.
   */
  int run() {
    int done = 0;
    long startNs = 0;
    VirtualMachineError fault = null;
    nestedUntilNs = NOT_NESTED; // as of tasks that another thread has lost the duty with
    try {
      lease.lendForTasks();
      backup.lent();
      Runnable task;
      while (lease.isMine() && (task = queue.poll()) != null) {
        backup.begins();
        Callbacks.run(task);
        done++;
        if (backup.isTurnOver()) {
          break;
        }
        if ((done & BUDGET_MASK) == 0) { // to look at the clock takes as long as a short one
          final long nowNs = clock.nanoTime();
          if (done == BUDGET_MASK + 1) {
            startNs = nowNs;
          } else if (nowNs - startNs >= InlineTasks.BUDGET_NS) {
            break;
          }
        }
      }
    } catch (VirtualMachineError e) { // a fault of memory that is not there any more, or no memory
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

  private void count(int ran) {
    tally.add(Counter.POLLER_TASKS, ran);
  }

  /** Runs what is left at the end. Nobody relieves who does: nothing is served any more. */
  void runAtEnd() {
    Runnable task;
    while ((task = queue.poll()) != null) {
      Callbacks.run(task);
    }
  }

  /**
   * Gives a task the duty back that was lent while it runs, until {@link #lendAgain}: it waits for
   * an answer, in rounds of {@link Poller#serveNested}. Refuses after a while if others are in
   * line, and in any other thread.
   */
  public boolean retake() {
    if (!lease.isMine() || lease.wasInline() || isNestedLong() || !lease.takeBack()) {
      return false;
    }
    if (nestedUntilNs == NOT_NESTED) {
      nestedUntilNs = clock.nanoTime() + TaskBackup.PAUSE_NS;
    }
    return true;
  }

  /**
   * True when a task that has the duty back, or had it, has kept others in line for long enough,
   * and somebody will take the duty over when it is lent.
   */
  public boolean isNestedLong() {
    return nestedUntilNs != NOT_NESTED
        && !queue.isEmpty()
        && clock.nanoTime() - nestedUntilNs >= 0
        && backup.call();
  }

  /** Lends the duty to the same tasks again, after {@link #retake}. */
  public void lendAgain() {
    lease.lendForTasks();
    backup.lent();
  }

  /**
   * How long a round within a task may sleep, in nanoseconds, before that task lends the duty
   * again; {@link Doorbell#FOREVER} while nobody is in line.
   */
  long nestedNs() {
    return nestedUntilNs == NOT_NESTED || queue.isEmpty()
        ? Doorbell.FOREVER
        : Math.max(NESTED_PAUSE_NS, nestedUntilNs - clock.nanoTime());
  }
}
