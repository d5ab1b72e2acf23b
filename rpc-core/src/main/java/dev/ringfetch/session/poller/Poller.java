package dev.ringfetch.session.poller;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Counters;
import dev.ringfetch.counters.Kind;
import dev.ringfetch.counters.Tally;
import dev.ringfetch.fabric.Doorbell;
import dev.ringfetch.flight.FlightEvents;
import java.io.IOException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.agrona.concurrent.NanoClock;
import org.jspecify.annotations.Nullable;

/**
 * The poller of one doorbell's sessions: spins over the busy ones, and sleeps on the doorbell when
 * none is busy. An idle session leaves the polled set, armed, and comes back by its doorbell, so
 * that idle peers cost nothing.
 *
 * <p>One thread at a time drives a poller, the <i>driver</i>: it executes {@link #run}, of which
 * {@link #doWork} is one round. {@link #execute}, {@link #wakeupBefore}, {@link #add} and {@link
 * #close} may be called from any thread, all other methods by the driver only. While the driver
 * runs tasks, or an {@link InlineTask}, the poller is on {@linkplain PollerLease lease}, and a
 * backup thread may take it over.
 */
public final class Poller implements Runnable, AutoCloseable {
  public static final long AWAKE = Long.MIN_VALUE;

  /** Result of a round after which another thread drives the poller. */
  static final int LOST = InlineTasks.LOST;

  private static final long ALARM_PAUSE_NS = 10_000_000;

  private final Doorbell doorbell;
  private final NanoClock clock;
  private final SpinPace spin;
  private final long spinNs; // longest
  private final Counters counters;
  private final Tally tally = new Tally(Kind.POLLER); // written by the one thread
  // all state that is not shared belongs to its holder
  private final OwnerToken token = new OwnerToken();
  private final PollerLease lease = new PollerLease(token);
  private final InlineTasks inline;
  private final Tasks tasks;
  private final PollerThreads threads;
  private final PollerFaults faults;
  private final ConcurrentLinkedQueue<Runnable> changes = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedQueue<PollerEntry> late = new ConcurrentLinkedQueue<>();
  private final PolledSessions sessions = new PolledSessions(tally);
  private final SessionDeadlines deadlines = new SessionDeadlines();
  private final DoorbellPace pace = new DoorbellPace();

  private @Nullable Timetable timetable; // of the sessions that are in one
  private long latePolledNs;
  private boolean waiting = true; // the last round has found nothing
  private boolean slept; // and has found nothing since
  private volatile boolean alarmed;
  private volatile boolean nested; // written by the one thread
  private volatile long wakeAtNs = AWAKE;
  private volatile boolean closed;
  private volatile boolean failed;
  private volatile boolean finished;
  private final AtomicInteger lateChanges = new AtomicInteger(); // since the end, not run yet

  /** Creates the poller of a doorbell, which it closes at its end. */
  public Poller(Doorbell doorbell, PollerContext context) {
    this.doorbell = doorbell;
    this.clock = context.clock();
    this.spinNs = context.spinNs();
    this.spin = new SpinPace(spinNs);
    this.counters = context.counters();
    this.threads = new PollerThreads(token, lease, this::serve, () -> finished);
    this.faults = new PollerFaults(sessions, this::activate, clock);
    final PollerParts parts = new PollerParts(threads, token, lease, clock, tally);
    this.inline = new InlineTasks(parts, context.inlinePerMs());
    this.tasks = new Tasks(parts, this::change);
    threads.backups(tasks.backup(), inline.backup());
  }

  /** The doorbell that this poller sleeps on. */
  public Doorbell doorbell() {
    return doorbell;
  }

  /** Where this poller lists its sessions. */
  public Counters counters() {
    return counters;
  }

  /** The counters of this poller itself. */
  public Tally tally() {
    return tally;
  }

  /** The tasks that were given to this poller. */
  public Tasks tasks() {
    return tasks;
  }

  /** Serves a session from now on: its queue pair is bound to it. Any thread. */
  public void add(PollerEntry entry) {
    final PolledSession session = entry.session;
    entry.subject = counters.add(Kind.SESSION, session.label(), session::count);
    change(
        () -> {
          try {
            deadlines.add(entry.deadline, sessions.size() + 1);
            sessions.add(entry);
            session.bind();
            if (entry.timetable != null) {
              timetable = entry.timetable;
            }
          } catch (Throwable t) { // no thread will serve it: both sides learn it by the end
            session.end("poller cannot serve the session: " + t);
            throw t;
          }
          activate(entry);
          if (finished) { // while the session was on its way
            session.end("poller has ended");
          }
        });
  }

  /** Serves a session no longer. Any thread. */
  public void remove(PollerEntry entry) {
    counters.remove(entry.subject);
    change(
        () -> {
          deadlines.remove(entry.deadline);
          sessions.remove(entry);
        });
  }

  /**
   * As {@link #execute}, but also runs while a task waits for an answer, as that may be this
   * session's.
   */
  public void change(Runnable change) {
    changes.add(change);
    if (wakeAtNs != AWAKE) {
      doorbell.wakeup();
    } else if (finished) {
      runChangesAtEnd(); // nobody else would
    }
  }

  /** Polls a session for a while, because there is something to do for it. */
  public void activate(PollerEntry entry) {
    entry.lastWorkNs = clock.nanoTime();
    sessions.activate(entry);
  }

  /** As {@link #activate}, from any thread; also while a task waits for an answer. */
  public void activateLater(PollerEntry entry) {
    try {
      late.add(entry);
    } catch (OutOfMemoryError e) {
      alarm(); // activates all
      return;
    }
    if (wakeAtNs != AWAKE) {
      doorbell.wakeup();
    }
  }

  /**
   * Runs a task on this poller's thread, never inside another one. If a task keeps the thread for
   * long, a backup thread takes the poller over, and runs the next task. Any thread.
   */
  public void execute(Runnable task) {
    tasks.add(task);
    if (wakeAtNs != AWAKE) {
      doorbell.wakeup();
    } else if (finished) {
      tasks.runAtEnd(); // nobody else would
    }
  }

  /** Notes a session's deadline that is earlier than the one that this poller knows. Any thread. */
  public void onEarlierDeadline(PollerEntry entry) {
    deadlines.call(entry.deadline);
    wakeupBefore(entry.publishedDeadlineNs());
  }

  /** Does not sleep past this time. Any thread. */
  public void wakeupBefore(long deadlineNs) {
    if (deadlineNs < wakeAtNs) {
      doorbell.wakeup();
    }
  }

  /** True on the thread that drives this poller; not in a task. */
  public boolean isCurrentThread() {
    return token.isMine();
  }

  /**
   * Accepts a session's task to run on this poller's thread, after this round. Refuses on any other
   * thread, in a task or callback that waits, and while tasks are so few that handing them over
   * costs less than watching them with a backup thread.
   */
  public boolean offer(PollerEntry entry, InlineTask task) {
    return isCurrentThread() && !nested && !closed && inline.offer(entry, task);
  }

  /**
   * One round, without sleeping: tasks, then every busy session, then what they have offered.
   *
   * @return how much was done, or {@link #LOST}.
   */
  public int doWork() throws IOException {
    final int tasksRun = runTasks();
    if (tasksRun == LOST) {
      return LOST;
    }
    final int done = tasksRun + serveSessions();
    if (inline.isEmpty()) {
      return done;
    }
    faults.verify();
    final int ran = inline.run();
    return ran == LOST ? LOST : done + ran;
  }

  /** Serves until {@link #close}, or stands by. */
  @Override
  public void run() {
    threads.begin();
    tasks.enableBackup();
    if (begin()) {
      serve();
    }
    threads.standBy();
  }

  /** Makes the calling thread the first driver. */
  public boolean begin() {
    return token.tryAcquire();
  }

  /** Serves until {@link #close}, or until another thread drives the poller. */
  private void serve() {
    try {
      while (!closed) {
        try {
          final int done = doWork();
          if (done == 0) {
            idle();
          } else if (done == LOST) {
            return;
          }
        } catch (InternalError e) {
          if (!isCurrentThread()) {
            return;
          }
          endFaulted(e);
        } catch (OutOfMemoryError e) { // memory or threads
          alarmed = true;
          if (!isCurrentThread()) {
            return;
          }
        }
      }
      tasks.runAtEnd();
      endSessions("closed");
    } catch (IOException | RuntimeException | Error e) {
      failed = true;
      endSessions("poller failed: " + e); // first: the same cause may make the log fail
      System.getLogger(Poller.class.getName())
          .log(System.Logger.Level.ERROR, "poller failed, its sessions have ended", e);
    } finally {
      if (isCurrentThread()) { // and remains so: no thread takes the poller over any more
        finish();
      }
    }
  }

  private void finish() {
    doorbell.close();
    closed = true;
    wakeAtNs = AWAKE;
    finished = true;
    try {
      runChangesAtEnd();
      tasks.runAtEnd();
      inline.handOver();
    } finally {
      threads.end();
    }
  }

  /** True when it was closed, or has failed: it takes no further session. Any thread. */
  public boolean isEnding() {
    return closed || failed;
  }

  /** True when no thread will drive this poller any more. */
  boolean isFinished() {
    return finished;
  }

  /** The threads of this poller. */
  PollerThreads threads() {
    return threads;
  }

  /**
   * Waits until this poller and its threads have ended, except for threads that are stuck in a
   * task. Returns at once on the driver, and in its tasks.
   *
   * @param timeoutNs timeout for all threads together, in nanoseconds; 0 and less: no wait.
   */
  public void awaitEnd(long timeoutNs) throws InterruptedException {
    threads.awaitEnd(timeoutNs);
  }

  private void endFaulted(InternalError fault) {
    wakeAtNs = AWAKE;
    faults.end(fault);
  }

  /**
   * Called when an OutOfMemoryError has interrupted a thread, this poller's or another, in a
   * session's work. Allocates nothing.
   */
  public void alarm() {
    alarmed = true;
    if (wakeAtNs != AWAKE) {
      doorbell.wakeup();
    }
  }

  /**
   * Recovers all sessions, as any of them may have been interrupted. After a pause: where there is
   * no memory, each further attempt costs a garbage collection.
   */
  private void recover() {
    wakeAtNs = AWAKE;
    LockSupport.parkNanos(ALARM_PAUSE_NS);
    alarmed = false;
    tally.add(Counter.POLLER_ALARMS, 1);
    for (int i = 0; i < sessions.size(); i++) {
      final PollerEntry entry = sessions.get(i);
      entry.session.recover();
      activate(entry);
    }
  }

  /** Called when a fault was thrown in a session with intact memory. Any thread. */
  public void suspect(Throwable fault) {
    if (isCurrentThread()) {
      faults.suspect(fault);
    } else {
      Callbacks.report(fault);
    }
  }

  /**
   * Called before a task or callback waits for an answer, in rounds of {@link #serveNested}.
   * Returns the argument of {@link #endNested}, because one such wait may be inside another.
   */
  public boolean beginNested() {
    final boolean before = nested;
    nested = true;
    inline.handOver(); // queued tasks would wait, too
    return before;
  }

  public void endNested(boolean before) {
    nested = before;
  }

  /**
   * Does one round within a task or callback that waits for an answer: sleeps, but runs no tasks.
   */
  public void serveNested() throws IOException {
    try {
      if (serveSessions() == 0) {
        if (isIdle()) {
          sleep(false);
        } else {
          Thread.onSpinWait();
        }
      }
    } catch (InternalError e) {
      endFaulted(e);
    } catch (OutOfMemoryError e) {
      alarmed = true;
    }
  }

  /** Called when a thread has delivered a notification that a nested round may be waiting for. */
  public void told(PollerEntry entry) {
    if (nested) {
      activateLater(entry);
    }
  }

  private int runTasks() {
    if (tasks.isEmpty()) {
      return 0;
    }
    faults.verify();
    return tasks.run();
  }

  private int runChanges() {
    int done = 0;
    Runnable change;
    while ((change = changes.poll()) != null) {
      Callbacks.run(change);
      done++;
    }
    return done;
  }

  /** Runs changes that come after the end: on the first thread, which runs those of others too. */
  private void runChangesAtEnd() {
    if (lateChanges.getAndIncrement() != 0) {
      return;
    }
    int seen = 1;
    do {
      try {
        runChanges();
      } catch (Throwable t) {
        lateChanges.set(0); // the next one runs what is left
        throw t;
      }
      seen = lateChanges.addAndGet(-seen);
    } while (seen != 0);
  }

  private int serveSessions() throws IOException {
    if (alarmed) {
      recover();
    }
    int done = 0;
    if (!changes.isEmpty()) {
      faults.verify();
      done += runChanges();
    }
    PollerEntry called;
    while ((called = late.poll()) != null) {
      activate(called);
    }
    if (sessions.activeCount() == 0) {
      return done;
    }
    final long now = clock.nanoTime();
    final boolean waited = waiting && !slept; // read now: callbacks may wait in nested rounds
    boolean found = false;
    if (timetable != null) {
      timetable.tick(now);
    }
    for (int i = 0; i < sessions.activeCount(); i++) {
      final PollerEntry entry = sessions.active(i);
      final int served = entry.session.service(sessions.activeCount() > 1);
      if (served > 0) {
        entry.lastWorkNs = now;
        entry.resting = false;
        done += served;
        found = true;
      } else if ((served == PolledSession.NOT_OWNER
              || now - entry.lastWorkNs >= Math.max(spin.boundNs(), entry.lingerNs()))
          && retire(entry)) {
        sessions.drop(entry);
        i--;
        done++; // it may have delivered a notification
      } else {
        entry.resting = entry.isSettling() && now - entry.lastWorkNs - spinNs >= spinNs;
      }
    }
    if (found) {
      if (waited) {
        spin.found();
      }
      slept = false;
    }
    waiting = !found; // in a burst of several rounds, only the first ends a wait
    if (now - latePolledNs >= DoorbellPace.MIN_INTERVAL_NS) {
      latePolledNs = now; // for sessions that sleep beside busy ones
      if (pace.isDue(now)) {
        faults.verify();
        done += pollDoorbell();
      }
      activateLate();
    }
    return done;
  }

  private int pollDoorbell() throws IOException {
    final long startNs = clock.nanoTime();
    final int events = doorbell.poll();
    if (events == 0) {
      pace.foundNothing(clock.nanoTime() - startNs);
    } else {
      pace.foundSome();
    }
    return countEvents(events);
  }

  /**
   * Retires a session. Rounds of it, and of others, may have left a pending fault: it is thrown
   * before this session's memory is touched, and before the next one is served alone.
   */
  private boolean retire(PollerEntry entry) {
    if (sessions.size() > 1) {
      faults.verify();
    }
    return entry.session.retire();
  }

  private void idle() throws IOException {
    if (isIdle()) {
      sleep(true);
    } else {
      Thread.onSpinWait();
    }
  }

  private void sleep(boolean unlessTasks) throws IOException {
    final long timeoutNs = beginSleep(unlessTasks);
    if (timeoutNs != AWAKE) {
      if (!slept) {
        spin.missed();
      }
      slept = true;
      final Object event = FlightEvents.beginSleep();
      countEvents(doorbell.await(timeoutNs));
      FlightEvents.endSleep(event);
      tally.add(Counter.POLLER_WAKEUPS, 1);
    }
    endSleep();
  }

  private int countEvents(int events) {
    tally.add(Counter.POLLER_EVENTS, events);
    return events;
  }

  /** True when no session is busy, except for those that have been settling for long. */
  public boolean isIdle() {
    return sessions.isResting();
  }

  /**
   * Announces the sleep first, then looks for work: a thread with work for the poller adds it
   * first, then looks for a sleeper.
   *
   * @return how long it may sleep, in nanoseconds, or {@link #AWAKE} when there is work.
   */
  public long beginSleep(boolean unlessTasks) {
    if (unlessTasks) {
      Thread.interrupted(); // meant for a callback, not for the poller: it would not sleep any more
    }
    faults.verify();
    wakeAtNs = Dated.NO_DEADLINE;
    final long earliest = deadlines.earliestNs();
    wakeAtNs = earliest;
    if ((unlessTasks && !tasks.isEmpty())
        || !late.isEmpty()
        || !changes.isEmpty()
        || closed
        || alarmed) {
      return AWAKE;
    }
    final long timeoutNs =
        earliest == Dated.NO_DEADLINE ? Doorbell.FOREVER : Math.max(0, earliest - clock.nanoTime());
    final long limitNs = unlessTasks ? timeoutNs : Math.min(timeoutNs, tasks.nestedNs());
    return sessions.activeCount() == 0
        ? limitNs
        : Math.min(limitNs, sessions.restNs(clock.nanoTime()));
  }

  /** Ends the sleep; after every {@link #beginSleep}. */
  public void endSleep() {
    wakeAtNs = AWAKE;
    counters.changed();
    activateLate(); // a session whose deadline has passed
  }

  private void activateLate() {
    EarliestDeadline due = deadlines.overdue(clock.nanoTime());
    while (due != null) {
      activate(due.entry);
      final EarliestDeadline next = due.nextOverdue;
      due.nextOverdue = null;
      due = next;
    }
  }

  private void endSessions(String reason) {
    runChanges(); // a session that was just added ends, too
    for (final PollerEntry entry : sessions.copy()) {
      entry.session.end(reason);
    }
    runChanges();
    tasks.runAtEnd();
  }

  /** Ends the sessions and the thread that runs this poller. */
  @Override
  public void close() {
    closed = true;
    doorbell.wakeup();
  }
}
