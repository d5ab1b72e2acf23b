package dev.ringfetch.session;

import dev.ringfetch.fabric.CountedQueuePair;
import dev.ringfetch.fabric.sim.Timeline;
import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.remote.RemoteSide;
import dev.ringfetch.session.remote.ReplyPolicy;
import java.io.IOException;

/** A client's thread: calls, polls for the answer, and calls again when it has it. */
final class ReplyClient extends ReplyThread {
  private static final int METHOD = 5;
  private static final int MAX_ANSWER = 1024; // bytes

  final CountedQueuePair pair;
  final CountedQueuePair serverPair;
  private final ClientSession session;
  private final ReplyExperiment.Setup setup;
  private boolean begun;
  private long nowNs;
  private long sentNs;
  private long readsBefore; // the call

  /** Calls that were answered. */
  long calls;

  /** Of all of them together, in nanoseconds. */
  long latencyNs;

  /**
   * Creates a thread.
   *
   * @param session of which it is the only caller.
   * @param pair of the session.
   * @param serverPair of the other side of it.
   */
  ReplyClient(
      Timeline timeline,
      ClientSession session,
      ReplyExperiment.Setup setup,
      long nextNs,
      CountedQueuePair pair,
      CountedQueuePair serverPair) {
    super(timeline, session.poller(), nextNs, setup.clientPollNs());
    this.session = session;
    this.setup = setup;
    this.pair = pair;
    this.serverPair = serverPair;
  }

  /** True when it reads its answers, as it is now. */
  boolean fetches() {
    return !RemoteSide.chooses(session.carrier)
        ? setup.mode() == ReplyPolicy.FETCH
        : RemoteSide.fetches(session.carrier);
  }

  @Override
  long run(long now) throws IOException {
    final long before = calls;
    nowNs = now;
    if (begun) {
      poll(fetches() && pair.ringReads() == readsBefore); // the first read waits for its time
    } else {
      begun = true;
      call();
    }
    final long tookNs = roundNs(calls != before);
    return session.turn.isHolding() ? Math.max(tookNs, session.turn.heldUntilNs() - now) : tookNs;
  }

  private void call() {
    sentNs = nowNs;
    readsBefore = pair.ringReads();
    final ClientStream stream = session.open();
    stream.outbound().addBytes(ReplyExperiment.MESSAGE, 0, ReplyExperiment.MESSAGE.length);
    stream.prepare(this::answered, ReplyExperiment.UNIT, METHOD, Stream.NO_DEADLINE, MAX_ANSWER);
    session.send(stream);
  }

  private void answered(ClientStream stream, Outcome outcome) {
    if (outcome != Outcome.ANSWERED) {
      throw new AssertionError("told " + outcome);
    }
    calls++;
    latencyNs += nowNs - sentNs;
    session.recycle(stream);
    call();
  }
}
