package dev.ringfetch.session;

import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.unit.Unit;
import dev.ringfetch.session.unit.UnitBuffer;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The calls of a simulation: what was asked, and by whom. */
final class CallLedger {
  private static final int HEAD = 2 * Long.BYTES;

  private final Simulation simulation;
  private final Map<Long, SimCall> calls = new HashMap<>(); // looked up only
  private final Set<Long> lost = new HashSet<>(); // ids of calls whose client was killed
  private final Set<Long> aborted = new HashSet<>(); // sessions
  private long lastId;
  private long over;
  private long streams;

  CallLedger(Simulation simulation) {
    this.simulation = simulation;
  }

  /** A request with the call's number, its session's number, and bytes. */
  byte[] newRequest(long channel) {
    return newRequest(channel, HEAD + simulation.sizes.drawLength(simulation.timeline.random()));
  }

  /** As {@link #newRequest(long)}, of a given length. */
  byte[] newRequest(long channel, int length) {
    final byte[] request = new byte[length];
    simulation.timeline.random().nextBytes(request);
    ByteBuffer.wrap(request).putLong(++lastId).putLong(channel);
    return request;
  }

  void opened(SimCall call) {
    calls.put(call.id, call);
  }

  /** The server has a request: one that was asked, on this session, byte for byte, for once. */
  SimCall executed(long channel, ServerStream stream) {
    return executed(channel, stream.inboundFlags(), stream.inbound(), stream.deadlineNs());
  }

  /** As {@link #executed(long, ServerStream)}, of a stream's first unit. */
  SimCall executed(long channel, Unit unit, long deadlineNs) {
    return executed(channel, unit.flags(), unit.bytes(), deadlineNs);
  }

  private SimCall executed(long channel, int flags, UnitBuffer unit, long deadlineNs) {
    final boolean timed = (flags & FrameDescriptor.DEADLINE) != 0;
    final int start = unit.offset() + (timed ? Long.BYTES : 0);
    final byte[] request = Arrays.copyOfRange(unit.array(), start, unit.offset() + unit.length());
    simulation.check(request.length >= HEAD, "a request of nobody");
    simulation.check(SimCall.channelOf(request) == channel, "a request of another session");
    final SimCall call = calls.get(SimCall.idOf(request));
    if (call == null) {
      simulation.check(lost.contains(SimCall.idOf(request)), "a request of nobody's");
      return null;
    }
    simulation.check(Arrays.equals(call.request, request), "another request");
    simulation.check(timed == (call.deadlineNs != Stream.NO_DEADLINE), "another deadline");
    simulation.check(
        timed
            ? deadlineNs >= call.deadlineNs && deadlineNs != Stream.NO_DEADLINE
            : deadlineNs == Stream.NO_DEADLINE,
        "another deadline at the server");
    call.executions++;
    simulation.check(call.executions == 1, "executed twice");
    simulation.check(call.outcome != Outcome.NOT_SENT, "not sent, and executed");
    return call;
  }

  /** A call has ended; with null, by its own cancel. It may still be executed. */
  void over(SimCall call, Outcome outcome) {
    over++;
    streams += call instanceof SimStreamCall ? 1 : 0;
    simulation.timeline.note(outcome == null ? "CANCELLED" : outcome.name(), call.id);
  }

  /** The client of these calls was killed: nobody waits for them. */
  void lost(SimClient client) {
    over += client.calls.size();
    calls.values().stream().filter(call -> call.client == client).forEach(c -> lost.add(c.id));
    calls.keySet().removeAll(lost);
  }

  /** The server aborts a session: its calls may end so. */
  void aborted(long channel) {
    aborted.add(channel);
  }

  /** True when the server has aborted a session. */
  boolean isAborted(long channel) {
    return aborted.contains(channel);
  }

  /** Nothing is under way any more: what has ended is forgotten. */
  void forget() {
    calls.clear();
    lost.clear();
    aborted.clear();
  }

  /** How many calls have ended. */
  long over() {
    return over;
  }

  /** How many of these were streams. */
  long streams() {
    return streams;
  }

  /** What a client can make the server hold is bounded. */
  void checkHeld(ServerSession session, List<SimServer.Request> requests) {
    long held = 0;
    int count = 0;
    for (final SimServer.Request request : requests) {
      if (request.session == session && !session.hasEnded()) {
        count++;
        final int length = request.stream.inbound().length();
        held += length > UnitBuffer.RETAINED_LENGTH ? length : 0;
      }
    }
    simulation.check(session.heldLength() <= simulation.context.maxHeldLength(), "counts too much");
    simulation.check(held <= simulation.context.maxHeldLength(), "held length=" + held);
    simulation.check(
        count <= simulation.context.maxStreams() + Math.max(64, simulation.context.maxStreams()),
        "held requests=" + count);
  }
}
