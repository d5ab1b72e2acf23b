package dev.ringfetch.session;

import static dev.ringfetch.session.SessionSteps.UNIT;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.management.ThreadMXBean;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.SessionSteps.Sizes;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Ring and session allocate nothing for a small call, at either end: counted in a thread that is
 * both, to the byte. Of what shared memory allocates to verify itself this memory knows nothing.
 */
@Timeout(120)
class SessionAllocationTest implements ClientStream.Listener {
  private static final int WARM_UP_CALLS = 20_000; // until nothing is linked or loaded any more
  private static final int ROUNDS = 5;
  private static final int CALLS = 1_000;
  private static final int ALL = WARM_UP_CALLS + ROUNDS * CALLS;
  private static final int METHOD = 5;
  private static final int MAX_ANSWER = 1024;
  private static final long TIMEOUT_NS = 1_000_000_000;
  private static final byte[] MESSAGE = new byte[32];

  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private final SessionSteps steps = new SessionSteps(Sizes.ROOMY, 1_000_000);
  private boolean serving;
  private int answered;

  SessionAllocationTest() {
    steps.onStream =
        stream -> {
          stream.outbound().addBytes(MESSAGE, 0, MESSAGE.length);
          steps.server.respond(stream, UNIT, 0, true);
        };
  }

  @Override
  public void onClosed(ClientSession session, ClientStream stream, Outcome outcome) {
    assertEquals(Outcome.ANSWERED, outcome);
    answered++;
    session.recycle(stream);
  }

  private ClientStream prepare(long timeoutNs) {
    final ClientStream stream = steps.client.open();
    int flags = UNIT;
    long deadlineNs = Stream.NO_DEADLINE;
    if (timeoutNs != Stream.NO_DEADLINE) {
      flags |= FrameDescriptor.DEADLINE;
      deadlineNs = steps.nowNs() + timeoutNs;
      stream.outbound().addLong(timeoutNs);
    }
    stream.outbound().addBytes(MESSAGE, 0, MESSAGE.length);
    stream.prepare(this, flags, METHOD, deadlineNs, MAX_ANSWER);
    return stream;
  }

  /** The least of some rounds: what the JVM makes once, as it links something, is of one. */
  private void check(Runnable call) {
    for (int i = 0; i < WARM_UP_CALLS; i++) {
      call.run();
    }
    long least = Long.MAX_VALUE;
    for (int round = 0; round < ROUNDS; round++) {
      final long before = threads.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < CALLS; i++) {
        call.run();
      }
      least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
    }
    assertEquals(0, least, "bytes of calls=" + CALLS);
  }

  @Test
  void countsBytes() {
    final Object[] kept = new Object[1];
    final long before = threads.getCurrentThreadAllocatedBytes();
    kept[0] = new byte[1000];
    final long bytes = threads.getCurrentThreadAllocatedBytes() - before;
    assertEquals(1016, bytes, "of " + kept[0].getClass());
  }

  @Test
  void callThatPollersServe() {
    check(
        () -> {
          steps.client.send(prepare(Stream.NO_DEADLINE));
          steps.stepServer();
          steps.stepClient();
        });
    assertEquals(ALL, answered);
  }

  @Test
  void callWithADeadline() {
    check(
        () -> {
          steps.client.send(prepare(TIMEOUT_NS));
          steps.stepServer();
          steps.stepClient();
        });
    assertEquals(ALL, answered);
  }

  /** The server has its turn whenever the caller looks at the clock. */
  @Test
  void callWhoseCallerPolls() {
    steps.onClock =
        () -> {
          if (!serving) {
            serving = true;
            steps.stepServer();
            serving = false;
          }
        };
    check(() -> steps.client.sendAndPoll(prepare(Stream.NO_DEADLINE)));
    assertEquals(ALL, answered);
  }

  /** Each is told in the round that answers all. */
  @Test
  void callsInABatch() {
    check(
        () -> {
          for (int i = 0; i < 16; i++) {
            steps.client.send(prepare(Stream.NO_DEADLINE));
          }
          steps.stepServer();
          steps.stepClient();
        });
    assertEquals(16 * ALL, answered);
  }
}
