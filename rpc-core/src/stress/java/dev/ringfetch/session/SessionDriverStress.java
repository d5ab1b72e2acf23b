package dev.ringfetch.session;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * A poller was rung for a session that a caller owns just then, and which the caller, which only
 * sends, leaves as it was: armed. One of the two looks at the ring.
 */
@JCStressTest
@Outcome(id = "1", expect = ACCEPTABLE, desc = "The answer was told.")
@Outcome(expect = FORBIDDEN, desc = "The answer is in the ring, and nobody comes back for it.")
@State
public class SessionDriverStress extends SessionSides {
  private final ClientStream stream;

  /** One call is answered, its ring is heard, and another is prepared. */
  public SessionDriverStress() {
    super(SMALL_RING_LENGTH, 2);
    client.send(prepare(1));
    serverPolls();
    respond();
    if (fabric.server().ringsSent() != 1) {
      throw new IllegalStateException("not rung");
    }
    stream = prepare(1);
  }

  /** Owns the session for as long as it takes to send. */
  @Actor
  public void caller() {
    client.send(stream);
  }

  /** Comes because of the ring. */
  @Actor
  public void poller() {
    clientPolls();
  }

  /** The poller's next round. */
  @Arbiter
  public void after(I_Result r) {
    serveThoseCalled();
    r.r1 = told.get();
  }
}
