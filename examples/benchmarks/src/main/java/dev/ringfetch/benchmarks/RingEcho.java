package dev.ringfetch.benchmarks;

import dev.ringfetch.session.ServerSession;
import dev.ringfetch.session.ServerStream;
import java.util.HashMap;
import java.util.Map;

/** The handler of the calls of {@link RingCalls}: answers in the poller's thread. */
final class RingEcho implements ServerSession.Acceptor {
  private static final int OK = 0;

  private final Map<Integer, byte[]> values = new HashMap<>();
  private byte[] value = RingMessage.value(RingMessage.REQUEST_LENGTH);

  @Override
  public void onRequest(ServerSession session, ServerStream stream) {
    final int length = RingMessage.lengthOf(stream.inbound());
    if (value.length != length) {
      value = values.computeIfAbsent(length, RingMessage::value);
    }
    RingMessage.putAnswer(
        stream.outbound(), value, RingMessage.numberOf(stream.inbound()), session.bulk());
    session.respond(stream, RingMessage.FLAGS, OK, true);
  }
}
