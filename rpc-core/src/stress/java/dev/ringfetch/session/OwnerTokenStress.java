package dev.ringfetch.session;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.ringfetch.session.poller.OwnerToken;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * The token and the queue beside it: a request during the owner's release is not lost.
 *
 * <p>The owner releases the token and loads the queue, the requester stores to the queue and loads
 * the token: x86-64 lets both miss each other where {@link OwnerToken#release} is but a release
 * store. That former owners' plain stores are visible it guarantees by itself.
 */
public final class OwnerTokenStress {
  private OwnerTokenStress() {}

  /** One owner at a time, which sees the stores of the owner before. */
  @JCStressTest
  @Outcome(
      id = {"1, 1, 2", "1, 0, 1", "0, 1, 1"},
      expect = ACCEPTABLE,
      desc = "As many as were owners.")
  @Outcome(expect = FORBIDDEN, desc = "Two owners at once, or a store that was lost.")
  @State
  public static class PlainState {
    private final OwnerToken ownership = new OwnerToken();
    private int plain;

    private int increment() {
      if (!ownership.tryAcquire()) {
        return 0;
      }
      plain++;
      ownership.release();
      return 1;
    }

    /** Owns, if it can. */
    @Actor
    public void one(III_Result r) {
      r.r1 = increment();
    }

    /** Owns, if it can. */
    @Actor
    public void other(III_Result r) {
      r.r2 = increment();
    }

    /** What they have left. */
    @Arbiter
    public void after(III_Result r) {
      r.r3 = ownership.tryAcquire() ? plain : -1;
    }
  }

  /** Two streams ask, each from a thread of its own. */
  @JCStressTest
  @Outcome(id = "3, 2", expect = ACCEPTABLE, desc = "Both were served.")
  @Outcome(expect = FORBIDDEN, desc = "One was forgotten, or served twice.")
  @State
  public static class TwoStreams {
    private final CountingSession session = Sessions.counting();
    private final Stream first = new TestStream(1);
    private final Stream second = new TestStream(2);

    /** Asks, and serves if it can. */
    @Actor
    public void one() {
      session.driver.submit(first, 1);
      session.driver.drive();
    }

    /** Asks, and serves if it can. */
    @Actor
    public void other() {
      session.driver.submit(second, 2);
      session.driver.drive();
    }

    /** What was served. */
    @Arbiter
    public void after(II_Result r) {
      r.r1 = session.asked;
      r.r2 = session.operations;
    }
  }

  /** Two threads ask for one stream, which is in the queue once. */
  @JCStressTest
  @Outcome(id = "3, 2", expect = ACCEPTABLE, desc = "Both were served.")
  @Outcome(expect = FORBIDDEN, desc = "One was forgotten, or served twice.")
  @State
  public static class OneStream {
    private final CountingSession session = Sessions.counting();
    private final Stream stream = new TestStream(1);

    /** Asks, and serves if it can. */
    @Actor
    public void one() {
      session.driver.submit(stream, 1);
      session.driver.drive();
    }

    /** Asks, and serves if it can. */
    @Actor
    public void other() {
      session.driver.submit(stream, 2);
      session.driver.drive();
    }

    /** What was served. */
    @Arbiter
    public void after(II_Result r) {
      r.r1 = session.asked;
      r.r2 = session.operations;
    }
  }

  /** A session is ended by one thread while another asks for something. */
  @JCStressTest
  @Outcome(id = "1, 1, 1", expect = ACCEPTABLE, desc = "Served, ended, told.")
  @Outcome(expect = FORBIDDEN, desc = "The end, or what was asked, was forgotten.")
  @State
  public static class End {
    private final CountingSession session = Sessions.counting();
    private final Stream stream = new TestStream(1);

    /** Ends the session. */
    @Actor
    public void ends() {
      session.end("over");
    }

    /** Asks, and serves if it can. */
    @Actor
    public void asks() {
      session.driver.submit(stream, 1);
      session.driver.drive();
    }

    /** What was done. */
    @Arbiter
    public void after(III_Result r) {
      r.r1 = session.operations;
      r.r2 = session.ends;
      r.r3 = session.endsTold;
    }
  }
}
