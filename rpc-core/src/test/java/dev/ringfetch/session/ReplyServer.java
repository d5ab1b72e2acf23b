package dev.ringfetch.session;

import dev.ringfetch.fabric.sim.Timeline;
import dev.ringfetch.session.poller.Poller;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.function.LongUnaryOperator;

/** A server's thread: takes requests, is busy with one after the other, and answers each. */
final class ReplyServer extends ReplyThread {
  private final ArrayDeque<Request> requests = new ArrayDeque<>();
  private final LongUnaryOperator processNs;

  private record Request(ServerSession session, ServerStream stream) {}

  /**
   * Creates a thread.
   *
   * @param pollNs how long a round takes at the least, in nanoseconds.
   * @param processNs how long a request takes that it begins at a time, both in nanoseconds.
   */
  ReplyServer(
      Timeline timeline, Poller poller, long nextNs, long pollNs, LongUnaryOperator processNs) {
    super(timeline, poller, nextNs, pollNs);
    this.processNs = processNs;
  }

  /** A request has come; see {@link ServerSession.Acceptor}. */
  void accept(ServerSession session, ServerStream stream) {
    requests.add(new Request(session, stream));
  }

  @Override
  long run(long nowNs) throws IOException {
    final long tookNs;
    if (requests.isEmpty()) {
      poll(false);
      tookNs = roundNs(!requests.isEmpty());
    } else {
      answer(requests.remove());
      tookNs = workNs();
    }
    return requests.isEmpty() ? tookNs : tookNs + processNs.applyAsLong(nowNs + tookNs);
  }

  private static void answer(Request request) {
    request.stream.outbound().addBytes(ReplyExperiment.MESSAGE, 0, ReplyExperiment.MESSAGE.length);
    request.session.respond(request.stream, ReplyExperiment.UNIT, 0, true);
  }
}
