package dev.ringfetch.session;

import dev.ringfetch.fabric.HeapFabric;
import dev.ringfetch.session.poller.Poller;
import java.util.Arrays;
import org.agrona.concurrent.NanoClock;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.jetbrains.lincheck.datastructures.Validate;

/**
 * Threads ask a session for something and try to own it, in orders of their accesses that Lincheck
 * chooses: whichever thread leaves last, no request stays behind. As all that Lincheck runs, it
 * sees each access at once, so it finds no fault of memory order. It creates objects of this class
 * and reads the annotations: so it is public.
 */
@Param(name = "thread", gen = ThreadIdGen.class)
@Param(name = "stream", gen = IntGen.class, conf = "0:2")
public class OperationsModel {
  private static final int ASKS = 2; // of a thread
  private static final int THREADS = 4; // two, and those before and after them

  private final Stream[] streams = {new TestStream(1), new TestStream(2), new TestStream(3)};
  private final int[] asked = new int[THREADS];
  private final CountingSession session;

  /** Nothing was asked yet. */
  public OperationsModel() {
    final HeapFabric fabric = new HeapFabric(CountingSession.MEMORY_LENGTH);
    final SessionContext context = new SessionContext().clock((NanoClock) () -> 0).spinNs(0);
    session = new CountingSession(fabric, new Poller(fabric.serverDoorbell(), context), context);
  }

  /** Asks, and serves if it can. */
  @Operation
  public void ask(@Param(name = "thread") int thread, @Param(name = "stream") int stream) {
    final int bit = thread * ASKS + asked[thread]++; // never the same, so that none merge
    session.driver.submit(streams[stream], 1 << bit);
    session.driver.drive();
  }

  /** At the end of each execution. */
  @Validate
  public void nothingStaysBehind() {
    final int sum = Arrays.stream(asked).sum();
    if (session.operations != sum) {
      throw new IllegalStateException("asked: " + sum + ", served: " + session.operations);
    }
  }

  /** Throws when something stays behind. */
  public static void check() {
    new ModelCheckingOptions()
        .iterations(8)
        .invocationsPerIteration(200)
        .threads(2)
        .actorsBefore(0)
        .actorsPerThread(ASKS)
        .actorsAfter(0)
        .check(OperationsModel.class);
  }
}
