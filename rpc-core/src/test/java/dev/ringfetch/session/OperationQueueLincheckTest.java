package dev.ringfetch.session;

import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;

/**
 * Threads ask for something and try to own the token, as {@link Session#drive} does, in orders of
 * their accesses that Lincheck chooses: whoever leaves last, nothing that was asked stays behind.
 * As whatever Lincheck runs, it sees each access at once, so it finds no fault of memory order. It
 * creates objects of this class and reads the annotations: so it is public.
 */
@Param(name = "thread", gen = ThreadIdGen.class)
@Param(name = "stream", gen = IntGen.class, conf = "0:1")
public class OperationQueueLincheckTest {
  private final Stream[] streams = {new TestStream(1), new TestStream(2)};
  private final OperationQueue queue = new OperationQueue();
  private final Ownership ownership = new Ownership();

  private int owners;

  @Operation
  public void ask(@Param(name = "thread") int thread, @Param(name = "stream") int index) {
    if (streams[index].request(1 << thread)) {
      queue.add(streams[index]);
    }
    do {
      if (!ownership.tryAcquire()) {
        return;
      }
      owners++;
      serve();
      if (--owners != 0) {
        throw new IllegalStateException("owned twice");
      }
      ownership.release();
    } while (!queue.isEmpty());
  }

  private void serve() {
    Stream stream = queue.takeAll();
    while (stream != null) {
      final Stream next = stream.nextOperation;
      stream.nextOperation = null;
      if (stream.takeOperations() == 0) {
        throw new IllegalStateException("in the queue for nothing: " + stream.id);
      }
      stream = next;
    }
  }

  @Validate
  public void nothingStaysBehind() {
    for (final Stream stream : streams) {
      if (stream.takeOperations() != 0) {
        throw new IllegalStateException("asked, and nobody served it: " + stream.id);
      }
    }
  }

  @Test
  void nothingThatWasAskedStaysBehind() {
    new ModelCheckingOptions()
        .iterations(10)
        .invocationsPerIteration(300)
        .threads(2)
        .actorsBefore(0)
        .actorsPerThread(2)
        .actorsAfter(0)
        .check(OperationQueueLincheckTest.class);
  }
}
