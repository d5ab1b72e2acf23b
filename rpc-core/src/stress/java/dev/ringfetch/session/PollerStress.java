package dev.ringfetch.session;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.ringfetch.fabric.Doorbell;
import dev.ringfetch.session.poller.Poller;
import java.util.concurrent.ThreadLocalRandom;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * A poller that goes to sleep, and a thread that has something for it: the poller says that it
 * sleeps and looks for work, the thread stores the work and looks for a sleeper. Both do so by
 * volatile accesses, which x86-64 reorders where they are plain.
 */
public final class PollerStress {
  static final int FOUND = 1;
  static final int WOKEN = 2;
  static final int LOST = 0;

  private PollerStress() {}

  /** A poller in one actor, whose doorbell waits for the other actor to be done, and no longer. */
  abstract static class Sleeper implements Doorbell {
    private static final long TIMEOUT_NS = 30_000_000_000L;

    private static final int MAX_DELAY = 8;

    final Poller poller = new Poller(this, Sessions.CONTEXT);
    int outcome = -1;

    private final int delay = ThreadLocalRandom.current().nextInt(MAX_DELAY);
    private volatile boolean woken;
    private volatile boolean over;

    /** True when the sleeper does not need to be woken any more. */
    abstract boolean isFound(long timeoutNs);

    /** Lets the poller come closer to its sleep, or less close. */
    final void comeLate() {
      for (int left = delay; left > 0; left--) {
        Thread.onSpinWait();
      }
    }

    /** Ends the other actor's part. */
    final void over() {
      over = true;
    }

    @Override
    public int await(long timeoutNs) {
      final long start = System.nanoTime();
      while (!woken && !over) {
        Thread.onSpinWait();
        if (System.nanoTime() - start > TIMEOUT_NS) {
          throw new IllegalStateException("the other actor does not come");
        }
      }
      outcome = woken ? WOKEN : isFound(timeoutNs) ? FOUND : LOST;
      poller.close();
      return 0;
    }

    @Override
    public int poll() {
      return 0;
    }

    @Override
    public void wakeup() {
      woken = true;
    }

    @Override
    public void close() {}
  }

  /** A task. */
  @JCStressTest
  @Outcome(id = "0", expect = FORBIDDEN, desc = "Asleep beside a task.")
  @Outcome(id = "1", expect = ACCEPTABLE, desc = "The task was run before.")
  @Outcome(id = "2", expect = ACCEPTABLE, desc = "Woken.")
  @Outcome(expect = FORBIDDEN, desc = "Never slept.")
  @State
  public static class Task extends Sleeper {
    private int run;

    @Override
    boolean isFound(long timeoutNs) {
      return run == 1;
    }

    /** Goes to sleep. */
    @Actor
    public void poller(I_Result r) {
      poller.run();
      r.r1 = outcome;
    }

    /** Has work. */
    @Actor
    public void other() {
      comeLate();
      poller.execute(() -> run++);
      over();
    }
  }

  /** A session that is to be looked at. */
  @JCStressTest
  @Outcome(id = "0", expect = FORBIDDEN, desc = "Asleep beside a session that called.")
  @Outcome(id = "1", expect = ACCEPTABLE, desc = "The session was served before.")
  @Outcome(id = "2", expect = ACCEPTABLE, desc = "Woken.")
  @Outcome(expect = FORBIDDEN, desc = "Never slept.")
  @State
  public static class Late extends Sleeper {
    private final CountingSession session = Sessions.counting(poller);

    @Override
    boolean isFound(long timeoutNs) {
      return session.rounds > 0;
    }

    /** Goes to sleep. */
    @Actor
    public void poller(I_Result r) {
      poller.run();
      r.r1 = outcome;
    }

    /** Has work. */
    @Actor
    public void other() {
      comeLate();
      poller.activateLater(session.entry);
      over();
    }
  }

  /** A session that comes. */
  @JCStressTest
  @Outcome(id = "0", expect = FORBIDDEN, desc = "Asleep beside a session that came.")
  @Outcome(id = "1", expect = ACCEPTABLE, desc = "The session was served before.")
  @Outcome(id = "2", expect = ACCEPTABLE, desc = "Woken.")
  @Outcome(expect = FORBIDDEN, desc = "Never slept.")
  @State
  public static class Change extends Sleeper {
    private final CountingSession session = Sessions.counting(poller);

    @Override
    boolean isFound(long timeoutNs) {
      return session.rounds > 0;
    }

    /** Goes to sleep. */
    @Actor
    public void poller(I_Result r) {
      poller.run();
      r.r1 = outcome;
    }

    /** Has work. */
    @Actor
    public void other() {
      comeLate();
      poller.add(session.entry);
      over();
    }
  }

  /** A deadline of a session that sleeps, which another thread owns for a moment. */
  @JCStressTest
  @Outcome(id = "0", expect = FORBIDDEN, desc = "Asleep past the deadline.")
  @Outcome(id = "1", expect = ACCEPTABLE, desc = "Asleep until the deadline.")
  @Outcome(id = "2", expect = ACCEPTABLE, desc = "Woken.")
  @Outcome(expect = FORBIDDEN, desc = "Never slept.")
  @State
  public static class Deadline extends Sleeper {
    private static final long AN_HOUR_NS = 3_600_000_000_000L;

    private final CountingSession session = Sessions.counting(poller);
    private final Stream stream = new TestStream(1);

    /** An idle session. */
    public Deadline() {
      poller.add(session.entry);
    }

    @Override
    boolean isFound(long timeoutNs) {
      return timeoutNs != FOREVER;
    }

    /** Goes to sleep. */
    @Actor
    public void poller(I_Result r) {
      poller.run();
      r.r1 = outcome;
    }

    /** Waits for the token as nobody else does: it must have it. */
    @Actor
    public void other() {
      comeLate();
      while (!session.driver.tryAcquire()) {
        Thread.onSpinWait();
      }
      stream.deadlineNs = session.nanoTime() + AN_HOUR_NS;
      session.deadlines.add(stream);
      session.driver.releaseAndTell();
      over();
    }
  }
}
