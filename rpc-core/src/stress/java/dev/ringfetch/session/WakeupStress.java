package dev.ringfetch.session;

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
 * The handshakes between two processes, over mapped memory: each side stores, fences and loads the
 * other's store, and at least one of the two sees it. {@code SessionWakeupTest} tries all
 * interleavings of these steps in one thread; here the processor keeps its stores back, which
 * x86-64 does.
 */
public final class WakeupStress {
  private WakeupStress() {}

  /** A request is sent while the server's poller goes to sleep. */
  @JCStressTest
  @Outcome(id = "0, 1, 0", expect = FORBIDDEN, desc = "Asleep, and nobody rang.")
  @Outcome(expect = ACCEPTABLE, desc = "The server polls on, has seen it, or was rung.")
  @State
  public static class Request extends SessionSides {
    private final ClientStream stream;

    /** A call that is prepared, and an idle server. */
    public Request() {
      super(SMALL_RING_LENGTH, 1);
      stream = prepare(1);
    }

    /** Frame, fence, the server's sleep flag. */
    @Actor
    public void caller(III_Result r) {
      client.send(stream);
      r.r1 = fabric.client().ringsSent();
    }

    /** Sleep flag, fence, the ring. */
    @Actor
    public void poller(III_Result r) {
      r.r2 = serverPolls() ? 1 : 0;
      r.r3 = requests.size();
    }
  }

  /** A second request is sent while the server's poller, rung for the first, goes to sleep again. */
  @JCStressTest
  @Outcome(id = "0, 1, 1", expect = FORBIDDEN, desc = "Asleep, and nobody rang again.")
  @Outcome(expect = ACCEPTABLE, desc = "The server polls on, has seen it, or was rung.")
  @State
  public static class SecondRequest extends SessionSides {
    private final ClientStream stream;
    private final int ringsBefore;

    /** A call that has rung an idle server, and another one that is prepared. */
    public SecondRequest() {
      super(SMALL_RING_LENGTH, 2);
      serverPolls();
      client.send(prepare(1));
      stream = prepare(1);
      ringsBefore = fabric.client().ringsSent();
    }

    /** Frame, fence, the server's sleep flag, what it has consumed. */
    @Actor
    public void caller(III_Result r) {
      client.send(stream);
      r.r1 = fabric.client().ringsSent() - ringsBefore;
    }

    /** The first frame; then what is consumed, sleep flag, fence, the ring. */
    @Actor
    public void poller(III_Result r) {
      r.r2 = serverPolls() ? 1 : 0;
      r.r3 = requests.size();
    }
  }

  /** A response is sent while the client's poller goes to sleep. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = FORBIDDEN, desc = "Asleep, and nobody rang.")
  @Outcome(expect = ACCEPTABLE, desc = "The client has seen it, or was rung.")
  @State
  public static class Response extends SessionSides {
    /** A call that is at the handler, and a client that polls. */
    public Response() {
      super(SMALL_RING_LENGTH, 1);
      client.send(prepare(1));
      serverPolls();
      client.driver.service(false);
    }

    /** Frame, fence, the client's sleep flag. */
    @Actor
    public void handler(II_Result r) {
      respond();
      r.r1 = fabric.server().ringsSent();
    }

    /** Sleep flag, fence, the ring. */
    @Actor
    public void poller(II_Result r) {
      clientPolls();
      r.r2 = told.get();
    }
  }

  /** A writer runs out of credit and goes to sleep while the server gives it some. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = FORBIDDEN, desc = "Asleep without credit, and nobody rang.")
  @Outcome(expect = ACCEPTABLE, desc = "The writer has found the credit, or was rung.")
  @State
  public static class Credit extends SessionSides {
    private final ClientStream stream;
    private final long before;

    /** A request ring that is full, one call more, and a client that was polled until now. */
    public Credit() {
      super(SMALL_RING_LENGTH, 3);
      client.send(prepare(1));
      client.send(prepare(1));
      stream = prepare(1);
      client.driver.disarm();
      before = client.writePosition();
    }

    /** Blocked flag, fence, the credit; then the sleep flag, fence, the credit. */
    @Actor
    public void writer() {
      client.send(stream);
    }

    /** Credit, fence, the client's flags. Not {@code retire}, which would look at them again. */
    @Actor
    public void poller() {
      server.driver.service(false);
    }

    /** What became of the frame. */
    @Arbiter
    public void after(II_Result r) {
      r.r1 = client.writePosition() != before ? 1 : 0;
      r.r2 = fabric.server().ringsSent();
    }
  }

  /** A handler runs out of credit beside a poller that sleeps. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = FORBIDDEN, desc = "Without credit, and nobody rang.")
  @Outcome(expect = ACCEPTABLE, desc = "The handler has found the credit, or its poller was rung.")
  @State
  public static class CreditOfAHandler extends SessionSides {
    private final long before;
    private final int ringsBefore;

    /** A response ring that is full, a call that is at the handler, and a client that polls. */
    public CreditOfAHandler() {
      super(SMALL_RING_LENGTH, 3);
      for (int i = 0; i < 3; i++) {
        client.send(prepare(1));
        serverPolls();
      }
      respond();
      respond();
      client.driver.disarm();
      before = server.writePosition();
      ringsBefore = fabric.client().ringsSent();
    }

    /** Blocked flag, fence, the credit. */
    @Actor
    public void handler() {
      respond();
    }

    /** Credit, fence, the server's flags. Not {@code retire}, which would look at them again. */
    @Actor
    public void poller() {
      client.driver.service(false);
    }

    /** What became of the frame. */
    @Arbiter
    public void after(II_Result r) {
      r.r1 = server.writePosition() != before ? 1 : 0;
      r.r2 = fabric.client().ringsSent() - ringsBefore;
    }
  }

  /** A writer without credit, beside a server that goes to sleep, and has not told it of the little that it consumed. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = FORBIDDEN, desc = "Both asleep, one of them without credit.")
  @Outcome(expect = ACCEPTABLE, desc = "The writer has found the credit, or was rung.")
  @State
  public static class CreditOfASleeper extends SessionSides {
    private final ClientStream stream;
    private final long before;

    /** Thirteen of sixteen slots are consumed and told, three are not, and a call needs 14. */
    public CreditOfASleeper() {
      super(LARGE_RING_LENGTH, 3);
      client.send(prepare(13));
      serverPolls();
      client.send(prepare(3));
      stream = prepare(14);
      before = client.writePosition();
    }

    /** Blocked flag, fence, the credit. */
    @Actor
    public void writer() {
      client.send(stream);
    }

    /** Takes the frame; then credit, sleep flag, fence, the client's flags. */
    @Actor
    public void poller() {
      serverPolls();
    }

    /** What became of the frame. */
    @Arbiter
    public void after(II_Result r) {
      r.r1 = client.writePosition() != before ? 1 : 0;
      r.r2 = fabric.server().ringsSent();
    }
  }
}
