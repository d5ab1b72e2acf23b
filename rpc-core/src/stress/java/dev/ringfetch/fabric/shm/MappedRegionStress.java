package dev.ringfetch.fabric.shm;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.ringfetch.fabric.HeapFabric;
import dev.ringfetch.fabric.MemoryRegion;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.JJ_Result;
import org.openjdk.jcstress.infra.results.J_Result;

/**
 * What {@link MemoryRegion} promises of order, on a file that is mapped twice: the Java memory model
 * speaks of the heap of one process only.
 *
 * <p>x86-64 delays a store past a later load, and nothing else. So {@link StoreThenLoad} fails there
 * without the fence; {@link Publication} could fail only by the compiler's doing.
 */
public final class MappedRegionStress {
  private static final SharedSlices SLICES = new SharedSlices(192);

  private MappedRegionStress() {}

  /** Two views of two lines. */
  public static class Lines {
    final MemoryRegion one;
    final MemoryRegion other;

    Lines() {
      final HeapFabric fabric = SLICES.connect();
      one = fabric.client().memory();
      other = fabric.server().memory();
    }
  }

  /** A reader that sees a release store sees all stores before it. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "Before both.")
  @Outcome(id = "0, 7", expect = ACCEPTABLE, desc = "Between the two.")
  @Outcome(id = "9, 7", expect = ACCEPTABLE, desc = "After both.")
  @Outcome(expect = FORBIDDEN, desc = "The word came before what it announces.")
  @State
  public static class Publication extends Lines {
    /** Stores what is announced, then the word. */
    @Actor
    public void writer() {
      one.putLong(8, 7);
      one.putLongRelease(64, 9);
    }

    /** Loads the word, then what it announces. */
    @Actor
    public void reader(JJ_Result r) {
      r.r1 = other.getLongAcquire(64);
      r.r2 = other.getLong(8);
    }
  }

  /** Of two sides that store, fence and look at what the other stores, one sees it. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = FORBIDDEN, desc = "Both missed the other.")
  @Outcome(expect = ACCEPTABLE, desc = "One saw the other.")
  @State
  public static class StoreThenLoad extends Lines {
    /** One side. */
    @Actor
    public void one(II_Result r) {
      one.putIntRelease(28, 1);
      one.fullFence();
      r.r1 = one.getIntAcquire(64 + 32);
    }

    /** The other. */
    @Actor
    public void other(II_Result r) {
      other.putIntRelease(64 + 32, 1);
      other.fullFence();
      r.r2 = other.getIntAcquire(28);
    }
  }

  /** An aligned 64-bit word is seen as it was before or as it is after. */
  @JCStressTest
  @Outcome(id = {"0", "-1"}, expect = ACCEPTABLE, desc = "Whole.")
  @Outcome(expect = FORBIDDEN, desc = "Torn.")
  @State
  public static class WholeWord extends Lines {
    /** Stores it. */
    @Actor
    public void writer() {
      one.putLong(56, -1);
    }

    /** Loads it. */
    @Actor
    public void reader(J_Result r) {
      r.r1 = other.getLong(56);
    }
  }
}
