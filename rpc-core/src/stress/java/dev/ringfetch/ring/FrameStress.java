package dev.ringfetch.ring;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * A writer and a poller on one ring, at once, over mapped memory: what is found is whole.
 *
 * <p>The processor cannot make these fail on x86-64, which keeps stores in order and loads in order:
 * there they guard against an order that is wrong in the program, or that the compiler makes wrong.
 */
public final class FrameStress {
  private FrameStress() {}

  /** A ring that is written for the first time. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "Nothing yet.")
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "The first.")
  @Outcome(id = "2, 2", expect = ACCEPTABLE, desc = "Both.")
  @Outcome(expect = FORBIDDEN, desc = "A frame that was not whole, or none where one was.")
  @State
  public static class ZeroedRing extends RingSides {
    /** An empty ring. */
    public ZeroedRing() {
      super(4);
    }

    /** Writes two frames, of two slots and of one. */
    @Actor
    public void writer() {
      write(2, 2);
      write(2, 1);
    }

    /** Takes what is there. */
    @Actor
    public void poller(II_Result r) {
      r.r1 = pollAWhile(2, 8);
      r.r2 = whole();
    }
  }

  /** A ring full of an earlier lap's frames, whose words were right then. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "Nothing yet.")
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "The first.")
  @Outcome(id = "2, 2", expect = ACCEPTABLE, desc = "Both.")
  @Outcome(expect = FORBIDDEN, desc = "A frame of the lap before, or a mixture.")
  @State
  public static class LapBefore extends RingSides {
    /** The first lap is consumed. */
    public LapBefore() {
      super(4);
      take(1, 2);
      take(1, 2);
    }

    /** Writes over the first lap, with other bounds of the frames. */
    @Actor
    public void writer() {
      write(2, 1);
      write(2, 1);
    }

    /** Takes what is there. */
    @Actor
    public void poller(II_Result r) {
      r.r1 = pollAWhile(2, 8);
      r.r2 = whole();
    }
  }

  /** A frame that does not fit the end of the ring, which is padded. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "Nothing yet.")
  @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "The padding.")
  @Outcome(id = "2, 1", expect = ACCEPTABLE, desc = "The frame after it.")
  @Outcome(expect = FORBIDDEN, desc = "Padding handed out, or a frame that was not whole.")
  @State
  public static class Padding extends RingSides {
    /** One slot is left until the end. */
    public Padding() {
      super(4);
      take(1, 2);
      take(1, 1);
      take(1, 1);
      take(1, 1);
    }

    /** Writes the padding, and the frame. */
    @Actor
    public void writer() {
      write(2, 3);
    }

    /** Takes what is there. */
    @Actor
    public void poller(II_Result r) {
      r.r1 = pollAWhile(2, 8);
      r.r2 = whole();
    }
  }

  /** A full ring: its writer waits for credit, and then writes over what was consumed. */
  @JCStressTest
  @Outcome(id = "1, 1, 1", expect = ACCEPTABLE, desc = "Written as soon as there was room.")
  @Outcome(id = "-1, 1, 0", expect = ACCEPTABLE, desc = "No room for as long as it tried.")
  @Outcome(expect = FORBIDDEN, desc = "Written over a frame that was still being copied.")
  @State
  public static class Credit extends RingSides {
    private static final int TRIES = 50;

    /** One frame fills the ring. */
    public Credit() {
      super(2);
      write(1, 2);
    }

    /** Writes as soon as it may. */
    @Actor
    public void writer(III_Result r) {
      int written = RingWriter.INSUFFICIENT_CREDIT;
      for (int left = TRIES; left > 0 && written == RingWriter.INSUFFICIENT_CREDIT; left--) {
        written = write(2, 2);
      }
      r.r1 = written;
    }

    /** Copies the first frame, and gives its room back. */
    @Actor
    public void poller(III_Result r) {
      poll(1, 1);
      tellConsumed();
      r.r2 = whole();
    }

    /** The second frame, if it was written. */
    @Arbiter
    public void second(III_Result r) {
      poll(2, 1);
      r.r3 = whole() - r.r2;
    }
  }
}
