package dev.ringfetch.session.poller;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.J_Result;

/**
 * A session's owner publishes an earlier deadline while the poller, which has noted the one before,
 * notes a later one, or what it was called for. Each stores, then looks at what the other stored.
 */
public final class DeadlineStress {
  private static final long FIRST_NS = 100;
  private static final long LATER_NS = 1_000;
  private static final long EARLIER_NS = 500;

  private DeadlineStress() {}

  /** A session whose owner and whose poller look at its deadline. */
  abstract static class Sides {
    final SessionDeadlines deadlines = new SessionDeadlines();
    final EarliestDeadline deadline = new IdleSession().entry.deadline;

    Sides() {
      deadlines.add(deadline, 1);
    }

    final void publish(long ns) {
      if (deadline.publish(ns)) {
        deadlines.call(deadline);
      }
    }
  }

  /** The poller notes a later one, by itself. */
  @JCStressTest
  @Outcome(id = "500", expect = ACCEPTABLE, desc = "The poller knows.")
  @Outcome(expect = FORBIDDEN, desc = "Lost.")
  @State
  public static class Later extends Sides {
    /** One that was met in time, and the next. */
    public Later() {
      publish(FIRST_NS);
      deadlines.earliestNs();
      publish(LATER_NS);
    }

    /** Has an earlier one. */
    @Actor
    public void owner() {
      publish(EARLIER_NS);
    }

    /** Looks for the earliest. */
    @Actor
    public void poller() {
      deadlines.earliestNs();
    }

    /** Looks again. */
    @Arbiter
    public void after(J_Result r) {
      r.r1 = deadlines.earliestNs();
    }
  }

  /** The poller sees the deadline of the owner's second call. */
  @JCStressTest
  @Outcome(id = "500", expect = ACCEPTABLE, desc = "The poller knows.")
  @Outcome(expect = FORBIDDEN, desc = "Lost.")
  @State
  public static class Called extends Sides {
    /** One that the poller has been called for. */
    public Called() {
      publish(LATER_NS);
    }

    /** Has an earlier one. */
    @Actor
    public void owner() {
      publish(EARLIER_NS);
    }

    /** Looks for the earliest. */
    @Actor
    public void poller() {
      deadlines.earliestNs();
    }

    /** Looks again. */
    @Arbiter
    public void after(J_Result r) {
      r.r1 = deadlines.earliestNs();
    }
  }
}
