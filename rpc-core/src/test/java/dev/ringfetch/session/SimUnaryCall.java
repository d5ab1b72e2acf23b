package dev.ringfetch.session;

import dev.ringfetch.ring.ProcessTime;
import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.unit.UnitBuffer;
import java.util.Arrays;
import java.util.SplittableRandom;

/** A call with a request and a response. */
final class SimUnaryCall extends SimCall implements ClientStream.Listener {
  private static final int SPLIT = 32; // one in so many

  SimUnaryCall(
      SimClient client,
      ClientSession session,
      ClientStream stream,
      byte[] request,
      long timeoutNs) {
    super(client, session, stream, request, timeoutNs);
    final int flags = fill(stream.outbound(), UNIT, timeoutNs);
    stream.prepare(this, flags, 0, deadlineNs, MAX_INBOUND_LENGTH);
  }

  /** What the server answers: drawn from the whole request, mostly short. */
  static byte[] answerTo(byte[] request, int ringLength) {
    final SplittableRandom random = new SplittableRandom(Arrays.hashCode(request));
    final int length = random.nextInt(8) == 0 ? random.nextInt(4 * ringLength) : random.nextInt(60);
    final byte[] answer = new byte[length];
    random.nextBytes(answer);
    return answer;
  }

  @Override
  boolean isSplit() {
    return Math.floorMod(Arrays.hashCode(request), SPLIT) == 0;
  }

  @Override
  void start(boolean blocking) {
    if (blocking) {
      session.sendAndPoll(stream);
    } else {
      session.send(stream);
    }
  }

  @Override
  public void onClosed(ClientStream closed, Outcome how) {
    if (client.isDead()) {
      return;
    }
    simulation.check(closed == stream, "told of another call");
    told(how);
    if (how == Outcome.ANSWERED && !cancelled) {
      session.recycle(stream);
    } else {
      session.release(stream, cancelled);
    }
  }

  @Override
  void checkAnswer() {
    final int flags = stream.inboundFlags();
    final int code = ProcessTime.status(stream.inboundCode());
    final UnitBuffer unit = stream.inbound();
    if (flags == CLOSED_BY_SERVER) {
      checkClosed(code);
      return;
    }
    if (flags == REFUSED) {
      checkRefusal(code, unit);
      return;
    }
    simulation.check(flags == UNIT && code == 0, "flags=" + flags + " code=" + code);
    simulation.check(executions == 1, "answered after executions=" + executions);
    simulation.check(!isSplit(), "one response of several");
    final byte[] answer =
        Arrays.copyOfRange(unit.array(), unit.offset(), unit.offset() + unit.length());
    simulation.check(
        Arrays.equals(answerTo(request, simulation.sizes.ringLength()), answer), "another answer");
  }
}
