package dev.ringfetch.session;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Counters;
import dev.ringfetch.counters.Kind;
import dev.ringfetch.counters.Tally;
import dev.ringfetch.fabric.Doorbell;
import java.io.IOException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.agrona.concurrent.NanoClock;

/**
 * Serves the sessions of one doorbell: spins over those that are busy, sleeps on the doorbell when
 * none is. An idle session leaves the polled set, armed, and comes back by its doorbell, so that
 * idle peers cost nothing.
 *
 * <p>A duty cycle: {@link #run} is what a thread does with it, {@link #doWork} is one round of it.
 * {@link #execute}, {@link #wakeupBefore}, {@link #add} and {@link #close} may be called from any
 * thread, all else belongs to the one thread that has the duty. While that one runs tasks, or an
 * {@link InlineTask}, nobody has it, and another may take it.
 */
public final class Poller implements Runnable, AutoCloseable {
  static final long AWAKE = Long.MIN_VALUE;

  /** A round after which another thread has the duty. */
  static final int LOST = Inline.LOST;

  private static final int MAX_FAULTS = 1_000;
  private static final long FAULTS_INTERVAL_NS = 1_000_000_000;
  private static final long ALARM_PAUSE_NS = 10_000_000;

  private final Doorbell doorbell;
  private final NanoClock clock;
  private final SpinPace spin;
  private final long spinNs; // longest
  private final Counters counters;
  private final Tally tally = new Tally(Kind.POLLER); // written by the one thread
  private final Ownership duty = new Ownership(); // all else that is not shared goes with it
  private final Loan loan = new Loan(duty);
  private final Inline inline;
  private final Relief relief;
  private final Tasks tasks;
  private final CountDownLatch end = new CountDownLatch(1);
  private final ConcurrentLinkedQueue<Runnable> changes = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedQueue<Session> late = new ConcurrentLinkedQueue<>();
  private final PolledSessions sessions = new PolledSessions(tally);
  private final SessionDeadlines deadlines = new SessionDeadlines();
  private final DoorbellPace pace = new DoorbellPace();

  private Turns turns; // null: no session takes any
  private long latePolledNs;
  private boolean waiting = true; // the last round has found nothing
  private boolean slept; // and has found nothing since
  private Throwable suspected; // a fault that was not of the session that it came up in
  private int faults; // of the interval, with nobody to blame
  private long faultsNs;
  private volatile boolean alarmed;
  private volatile boolean nested; // written by the one thread
  private volatile long wakeAtNs = AWAKE;
  private volatile String name = "poller";
  private volatile boolean closed;
  private volatile boolean failed;
  private volatile boolean finished;

  /** Creates the poller of a doorbell, which it closes at its end. */
  public Poller(Doorbell doorbell, SessionContext context) {
    this.doorbell = doorbell;
    this.clock = context.clock();
    this.spinNs = context.spinNs();
    this.spin = new SpinPace(spinNs);
    this.counters = context.counters();
    this.inline = new Inline(this, duty, loan, context);
    this.relief = new Relief(this, duty, loan, clock);
    this.tasks = new Tasks(this, loan, relief, clock);
  }

  /** The doorbell that this poller sleeps on. */
  public Doorbell doorbell() {
    return doorbell;
  }

  /** Where this poller lists its sessions. */
  Counters counters() {
    return counters;
  }

  /** What this poller counts. */
  Tally tally() {
    return tally;
  }

  /** What others gave this poller to run. */
  Tasks tasks() {
    return tasks;
  }

  /** Serves a session from now on: its queue pair is bound to it. Any thread. */
  public void add(Session session) {
    session.subject =
        counters.add(Kind.SESSION, session.side() + " " + session.describe(), session::count);
    change(
        () -> {
          try {
            deadlines.add(session.earliest, sessions.size() + 1);
            sessions.add(session);
            session.queuePair.bind(session);
            if (session.turns() != null) {
              turns = session.turns();
            }
          } catch (Throwable t) { // nobody will serve it: both sides learn so by the end
            session.end("poller cannot serve the session: " + t);
            throw t;
          }
          activate(session);
          if (finished) { // while the session was on its way
            session.end("poller has ended");
          }
        });
  }

  /** Serves a session no longer. Any thread. */
  void remove(Session session) {
    counters.remove(session.subject);
    change(
        () -> {
          deadlines.remove(session.earliest);
          sessions.remove(session);
        });
  }

  /** As {@link #execute}, but also while a task waits for an answer: it may be this session's. */
  void change(Runnable change) {
    changes.add(change);
    if (wakeAtNs != AWAKE) {
      doorbell.wakeup();
    } else if (finished) {
      runChanges(); // nobody else would
    }
  }

  /** Polls a session for a while, because there is something to do for it. */
  void activate(Session session) {
    session.lastWorkNs = clock.nanoTime();
    sessions.activate(session);
  }

  /** As {@link #activate}, from any thread; also while a task waits for an answer. */
  void activateLater(Session session) {
    try {
      late.add(session);
    } catch (OutOfMemoryError e) {
      alarm(); // activates all
      return;
    }
    if (wakeAtNs != AWAKE) {
      doorbell.wakeup();
    }
  }

  /**
   * Runs a task in this poller's thread, never inside another one. One that keeps the thread for
   * long keeps it alone: another thread takes the duty over, and runs the next. Any thread.
   */
  public void execute(Runnable task) {
    tasks.add(task);
    if (wakeAtNs != AWAKE) {
      doorbell.wakeup();
    } else if (finished) {
      tasks.runAtEnd(); // nobody else would
    }
  }

  /** Heeds a session's deadline, which is earlier than this poller knows of. Any thread. */
  void onEarlierDeadline(EarliestDeadline deadline) {
    deadlines.call(deadline);
    wakeupBefore(deadline.publishedNs());
  }

  /** Does not sleep past this time. Any thread. */
  void wakeupBefore(long deadlineNs) {
    if (deadlineNs < wakeAtNs) {
      doorbell.wakeup();
    }
  }

  /** True in the thread that has this poller's duty; not in a task. */
  boolean isCurrentThread() {
    return duty.isMine();
  }

  /**
   * Has a session's task run in this poller's thread, after this round. Refuses in any other
   * thread, in a task or callback that waits, and while tasks are so few that handing them over
   * costs less than to see to it that none holds everybody up.
   */
  public boolean offer(Session session, InlineTask task) {
    return isCurrentThread() && !nested && !closed && inline.offer(session, task);
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
    verify();
    final int ran = inline.run();
    return ran == LOST ? LOST : done + ran;
  }

  /** Serves until {@link #close}, or stands by. */
  @Override
  public void run() {
    name = Thread.currentThread().getName();
    relief.enable();
    if (begin()) {
      serve();
    }
    standBy();
  }

  /** Gives the duty to the calling thread, the first one. */
  boolean begin() {
    return duty.tryAcquire();
  }

  /** Stands by, and serves when the duty is to be taken over, as long as this thread is needed. */
  void standBy() {
    while ((mayRelieve() && relief.await()) || inline.standby().await()) {
      serve();
    }
  }

  /** True in a thread that was started to relieve, or has come back while somebody should look. */
  private boolean mayRelieve() {
    final Thread me = Thread.currentThread();
    return relief.thread() == me || (relief.isAsked() && inline.standby().thread() != me);
  }

  /** Serves until {@link #close}, or until another thread has the duty. */
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
        } catch (OutOfMemoryError e) { // of whatever there is not enough
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
      endSessions("poller failed: " + e); // first: what it failed of may fail the log
      System.getLogger(Poller.class.getName())
          .log(System.Logger.Level.ERROR, "poller failed, its sessions have ended", e);
    } finally {
      if (isCurrentThread()) { // and remains so: nobody takes the duty over any more
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
      runChanges();
      tasks.runAtEnd();
      inline.handOver();
    } finally {
      inline.end();
      relief.end();
      end.countDown();
    }
  }

  /** Who looks whether tasks keep this poller's thread, or null. */
  Thread reliefThread() {
    return relief.thread();
  }

  /** True when it was closed, or has failed: it takes no further session. Any thread. */
  boolean isEnding() {
    return closed || failed;
  }

  /** True when the duty is nobody's for ever. */
  boolean isFinished() {
    return finished;
  }

  /** Name of the thread that had the duty first. */
  String name() {
    return name;
  }

  /**
   * Waits until this poller has ended, and its threads with it, but for those that a task holds up.
   * Returns at once in the thread that has the duty, and in its tasks.
   *
   * @param timeoutMs how long for each of them, in milliseconds; 0 is not for ever.
   */
  void awaitEnd(long timeoutMs) throws InterruptedException {
    if (isCurrentThread() || loan.isMine() || !end.await(timeoutMs, TimeUnit.MILLISECONDS)) {
      return;
    }
    join(duty.holder(), timeoutMs);
    join(inline.standby().thread(), timeoutMs);
    join(relief.thread(), timeoutMs);
  }

  private static void join(Thread thread, long timeoutMs) throws InterruptedException {
    if (thread != null) {
      TimeUnit.MILLISECONDS.timedJoin(thread, timeoutMs);
    }
  }

  /**
   * A peer has truncated its memory, and the fault came up late, outside of any session: the
   * session is found and ended. More often than not it ends by itself before, on its own account;
   * then there is none to be found.
   */
  private void endFaulted(InternalError fault) {
    wakeAtNs = AWAKE;
    if (sessions.size() > 0) {
      Faults.absorb(sessions.get(0).queuePair.memory(), fault);
    }
    boolean found = false;
    for (final Session session : sessions.copy()) {
      found |= session.duty.probe();
      activate(session); // whoever found it owned for a moment relies on the owner to look
    }
    final long now = clock.nanoTime();
    if (now - faultsNs >= FAULTS_INTERVAL_NS) {
      faultsNs = now;
      faults = 0;
    }
    if (!found && ++faults > MAX_FAULTS) {
      throw fault; // not a peer's doing
    }
  }

  /**
   * A thread was thrown out of a session, for want of memory, before it had done everything: this
   * poller's own or any other. Allocates nothing.
   */
  void alarm() {
    alarmed = true;
    if (wakeAtNs != AWAKE) {
      doorbell.wakeup();
    }
  }

  /**
   * Looks after all sessions, whichever was left in the midst of something. After a pause: where
   * there is no memory, each further attempt costs a collection.
   */
  private void recover() {
    wakeAtNs = AWAKE;
    LockSupport.parkNanos(ALARM_PAUSE_NS);
    alarmed = false;
    tally.add(Counter.POLLER_ALARMS, 1);
    for (int i = 0; i < sessions.size(); i++) {
      final Session session = sessions.get(i);
      session.duty.recover();
      activate(session);
    }
  }

  /** A fault has come up in a session whose memory is all there. Any thread. */
  void suspect(Throwable fault) {
    if (isCurrentThread()) {
      suspected = fault; // of another session, which is to be found
    } else {
      Callbacks.report(fault);
    }
  }

  /**
   * A task or callback is about to wait for an answer, in rounds of {@link #serveNested}. Returns
   * what {@link #endNested} takes, because one such wait may be inside another.
   */
  boolean beginNested() {
    final boolean before = nested;
    nested = true;
    inline.handOver(); // what is in line would wait, too
    return before;
  }

  void endNested(boolean before) {
    nested = before;
  }

  /** One round within a task or callback that waits for an answer: sleeps, but runs no tasks. */
  void serveNested() throws IOException {
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

  /** A thread has told something that a nested round may be waiting for. */
  void told(Session session) {
    if (nested) {
      activateLater(session);
    }
  }

  private int runTasks() {
    if (tasks.isEmpty()) {
      return 0;
    }
    verify();
    return tasks.run();
  }

  /**
   * Has the fault of a poll that found nothing come up here, if there was one: sessions verify only
   * after they have found something, and what this thread does next would be hit by it.
   */
  private void verify() {
    if (suspected != null) {
      final InternalError fault = new InternalError("a fault of another session", suspected);
      suspected = null;
      throw fault;
    }
    if (sessions.size() > 0) {
      sessions.get(0).queuePair.memory().verify();
    }
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

  private int serveSessions() throws IOException {
    if (alarmed) {
      recover();
    }
    int done = 0;
    if (!changes.isEmpty()) {
      verify();
      done += runChanges();
    }
    Session called;
    while ((called = late.poll()) != null) {
      activate(called);
    }
    if (sessions.activeCount() == 0) {
      return done;
    }
    final long now = clock.nanoTime();
    final boolean waited = waiting && !slept; // as of now: callbacks may wait in rounds of theirs
    boolean found = false;
    if (turns != null) {
      turns.tick(now);
    }
    for (int i = 0; i < sessions.activeCount(); i++) {
      final Session session = sessions.active(i);
      final int served = session.duty.service(sessions.activeCount() > 1);
      if (served > 0) {
        session.lastWorkNs = now;
        session.resting = false;
        done += served;
        found = true;
      } else if ((served == Duty.NOT_OWNER
              || now - session.lastWorkNs >= Math.max(spin.boundNs(), session.lingerNs))
          && retire(session)) {
        sessions.drop(session);
        i--;
        done++; // it may have told something on its way
      } else {
        session.resting = session.settling && now - session.lastWorkNs - spinNs >= spinNs;
      }
    }
    if (found) {
      if (waited) {
        spin.found();
      }
      slept = false;
    }
    waiting = !found; // of a burst that takes several rounds, the first has ended a wait
    if (now - latePolledNs >= DoorbellPace.MIN_INTERVAL_NS) {
      latePolledNs = now; // for sessions that sleep beside busy ones
      if (pace.isDue(now)) {
        verify();
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
   * Lets a session go, whose visits may have left a fault behind, as those to others may have: it
   * comes up before this one's memory is touched, and before the next one is served alone.
   */
  private boolean retire(Session session) {
    if (sessions.size() > 1) {
      verify();
    }
    if (session.loadStore && session.polled) { // else it may be polled on
      session.polled = false; // first: who leaves from here on arms, or is missed
    }
    return session.retire();
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
      countEvents(doorbell.await(timeoutNs));
      tally.add(Counter.POLLER_WAKEUPS, 1);
    }
    endSleep();
  }

  private int countEvents(int events) {
    tally.add(Counter.POLLER_EVENTS, events);
    return events;
  }

  /** True when no session is busy, but for those that have waited long for leave to sleep. */
  boolean isIdle() {
    return sessions.isResting();
  }

  /**
   * Says first that it sleeps, then looks for work: who has work looks for a sleeper second.
   *
   * @return how long it may sleep, in nanoseconds, or {@link #AWAKE} when there is work.
   */
  long beginSleep(boolean unlessTasks) {
    if (unlessTasks) {
      Thread.interrupted(); // a callback's, not the poller's: it would not sleep any more
    }
    verify();
    wakeAtNs = Stream.NO_DEADLINE;
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
        earliest == Stream.NO_DEADLINE
            ? Doorbell.FOREVER
            : Math.max(0, earliest - clock.nanoTime());
    final long limitNs = unlessTasks ? timeoutNs : Math.min(timeoutNs, tasks.nestedNs());
    return sessions.activeCount() == 0
        ? limitNs
        : Math.min(limitNs, sessions.restNs(clock.nanoTime()));
  }

  /** Awake again, for whatever reason; after every {@link #beginSleep}. */
  void endSleep() {
    wakeAtNs = AWAKE;
    counters.changed();
    activateLate(); // a session whose deadline has passed
  }

  private void activateLate() {
    EarliestDeadline due = deadlines.overdue(clock.nanoTime());
    while (due != null) {
      activate(due.session);
      final EarliestDeadline next = due.nextOverdue;
      due.nextOverdue = null;
      due = next;
    }
  }

  private void endSessions(String reason) {
    runChanges(); // a session that has just come ends, too
    for (final Session session : sessions.copy()) {
      session.end(reason);
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
