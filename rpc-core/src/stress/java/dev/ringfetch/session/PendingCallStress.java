package dev.ringfetch.session;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * The table of pending calls: an index has one call at a time, and none is lost. The order of the
 * program decides here, which {@code FreeListLincheckTest} goes through as well; the processor and
 * the compiler come in where a call finds the stream as the one before has left it.
 */
public final class PendingCallStress {
  private PendingCallStress() {}

  /** One index is taken while the one below it is taken and it comes back (ABA). */
  @JCStressTest
  @Outcome(id = "7, 0", expect = ACCEPTABLE, desc = "Each index is once there.")
  @Outcome(expect = FORBIDDEN, desc = "An index was lost, or is there twice.")
  @State
  public static class FreeIndexes {
    private final FreeList list = new FreeList(3);
    private int one;
    private int other;

    /** Index 0 on top of 1 on top of 2. */
    public FreeIndexes() {
      for (int index = 2; index >= 0; index--) {
        list.give(index);
      }
    }

    /** Takes one. */
    @Actor
    public void takes() {
      one = list.take();
    }

    /** Takes two and gives the first back. */
    @Actor
    public void takesAndGives() {
      final int first = list.take();
      other = list.take();
      list.give(first);
    }

    /** All indexes, as bits, and how many came twice. */
    @Arbiter
    public void after(II_Result r) {
      int index = one;
      int next = other;
      for (int left = 4; left > 0 && index != FreeList.NONE; left--) {
        r.r2 += r.r1 >>> index & 1;
        r.r1 |= 1 << index;
        index = next;
        next = list.take();
      }
    }
  }

  /** Two calls begin, and there is a stream for one. */
  @JCStressTest
  @Outcome(
      id = {"1, 0, 0", "0, 1, 0"},
      expect = ACCEPTABLE,
      desc = "One has it.")
  @Outcome(expect = FORBIDDEN, desc = "Both have it, or none, or there is another.")
  @State
  public static class LastStream extends SessionSides {
    /** Nothing was opened yet. */
    public LastStream() {
      super(SMALL_RING_LENGTH, 1);
    }

    private int open() {
      final ClientStream stream = client.open();
      return stream == null ? 0 : stream.index();
    }

    /** Begins a call. */
    @Actor
    public void one(III_Result r) {
      r.r1 = open();
    }

    /** Begins a call. */
    @Actor
    public void other(III_Result r) {
      r.r2 = open();
    }

    /** Begins a third. */
    @Arbiter
    public void after(III_Result r) {
      r.r3 = open();
    }
  }

  /** A call begins on the stream that another lets go of. */
  @JCStressTest
  @Outcome(id = "-1, -1", expect = ACCEPTABLE, desc = "Not yet.")
  @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "Its next generation, empty.")
  @Outcome(expect = FORBIDDEN, desc = "As the call before has left it.")
  @State
  public static class Recycled extends SessionSides {
    private static final int TRIES = 50;

    private final ClientStream stream;

    /** The one stream is taken, and has a request in it. */
    public Recycled() {
      super(SMALL_RING_LENGTH, 1);
      stream = prepare(1);
    }

    /** Lets go of it. */
    @Actor
    public void before() {
      client.recycle(stream);
    }

    /** Begins the next call. */
    @Actor
    public void next(II_Result r) {
      ClientStream next = null;
      for (int left = TRIES; left > 0 && next == null; left--) {
        next = client.open();
      }
      r.r1 = next == null ? -1 : next.id >>> Stream.INDEX_BITS;
      r.r2 = next == null ? -1 : next.outbound().length();
    }
  }

  /** A call is cancelled while its answer comes in. The call above decides what counts. */
  @JCStressTest
  @Outcome(
      id = {"1, 0, 1", "1, 1, 1"},
      expect = ACCEPTABLE,
      desc = "The cancel counted.")
  @Outcome(id = "2, 1, 1", expect = ACCEPTABLE, desc = "The answer counted.")
  @Outcome(expect = FORBIDDEN, desc = "Told wrongly, or the stream is lost, free twice, or no good.")
  @State
  public static class CancelOrAnswer extends SessionSides {
    private static final int CANCELLED = 1;
    private static final int ANSWERED = 2;
    private static final int ROUNDS = 4;

    private final AtomicInteger end = new AtomicInteger();
    private final ClientStream stream;

    /** The answer is in the ring. */
    public CancelOrAnswer() {
      super(SMALL_RING_LENGTH, 1);
      stream = fill(client.open(), 1, this::onClosed);
      client.send(stream);
      serverPolls();
      respond();
      client.driver.disarm();
    }

    private void onClosed(
        ClientStream closed, ClientStream.Outcome outcome) {
      told.incrementAndGet();
      if (end.compareAndSet(0, ANSWERED)) {
        client.recycle(closed);
      } else {
        client.release(closed, true);
      }
    }

    /** Cancels it, unless it was answered. */
    @Actor
    public void caller() {
      if (end.compareAndSet(0, CANCELLED)) {
        client.cancel(stream);
      }
    }

    /** Takes the answer in. */
    @Actor
    public void poller() {
      clientPolls();
    }

    /** What counted, how often it was told, and whether the stream serves one more call. */
    @Arbiter
    public void after(III_Result r) {
      settle();
      r.r1 = end.get();
      r.r2 = told.get();
      final ClientStream next = client.open();
      if (next == null || client.open() != null) {
        return;
      }
      client.send(
          fill(next, 1, (closed, outcome) -> r.r3 += outcome == ClientStream.Outcome.ANSWERED ? 1 : 2));
      serverPolls();
      if (!requests.isEmpty()) {
        respond();
        settle();
      }
    }

    private void settle() {
      for (int round = 0; round < ROUNDS; round++) {
        serverPolls();
        clientPolls();
      }
    }
  }
}
