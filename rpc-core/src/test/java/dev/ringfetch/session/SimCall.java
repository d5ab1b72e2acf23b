package dev.ringfetch.session;

import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.session.ClientStream.Outcome;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.SplittableRandom;

/** A call of a simulation: what was asked, and how it ended. */
final class SimCall implements ClientStream.Listener {
  static final int UNIT = FrameDescriptor.PREFIX | FrameDescriptor.MESSAGE | FrameDescriptor.SUFFIX;

  private static final int CLOSED_BY_SERVER = FrameDescriptor.CLOSE;
  private static final int REFUSED = FrameDescriptor.SUFFIX | FrameDescriptor.DESCRIPTION;
  private static final int MAX_INBOUND_LENGTH = 1024 * 1024;

  final SimClient client;
  final ClientSession session;
  final ClientStream stream;
  final byte[] request;
  final long id;
  final long channel;
  final long deadlineNs;
  int executions;
  Outcome outcome; // null while it is open, and when it was cancelled
  private boolean cancelled;
  private boolean told;

  SimCall(
      SimClient client,
      ClientSession session,
      ClientStream stream,
      byte[] request,
      long timeoutNs) {
    this.client = client;
    this.session = session;
    this.stream = stream;
    this.request = request;
    this.id = idOf(request);
    this.channel = channelOf(request);
    final boolean timed = timeoutNs != Stream.NO_DEADLINE;
    deadlineNs = timed ? client.simulation.timeline.nowNs() + timeoutNs : Stream.NO_DEADLINE;
    if (timed) {
      stream.outbound().addLong(timeoutNs);
    }
    stream.outbound().addBytes(request, 0, request.length);
    final int flags = timed ? UNIT | FrameDescriptor.DEADLINE : UNIT;
    stream.prepare(this, flags, 0, deadlineNs, MAX_INBOUND_LENGTH);
  }

  /** The call's number, which a request begins with. */
  static long idOf(byte[] request) {
    return ByteBuffer.wrap(request).getLong();
  }

  /** Number of the session that a request was made for. */
  static long channelOf(byte[] request) {
    return ByteBuffer.wrap(request).getLong(Long.BYTES);
  }

  /** What the server answers: drawn from the whole request, mostly short. */
  static byte[] answerTo(byte[] request, int ringLength) {
    final SplittableRandom random = new SplittableRandom(Arrays.hashCode(request));
    final int length = random.nextInt(8) == 0 ? random.nextInt(4 * ringLength) : random.nextInt(60);
    final byte[] answer = new byte[length];
    random.nextBytes(answer);
    return answer;
  }

  void send(boolean blocking) {
    client.calls.add(this);
    client.simulation.ledger.opened(this);
    if (blocking) {
      session.sendAndPoll(stream);
    } else {
      session.send(stream);
    }
  }

  /** Cancels, unless it has ended. */
  void cancel() {
    if (!told && !cancelled) {
      cancelled = true;
      client.over(this, null);
      session.cancel(stream);
    }
  }

  @Override
  public void onClosed(ClientSession from, ClientStream closed, Outcome how) {
    if (client.isDead()) {
      return;
    }
    final Simulation simulation = client.simulation;
    simulation.check(from == session && closed == stream, "told of another call");
    simulation.check(!told, "told twice");
    told = true;
    if (cancelled) {
      session.release(stream, true);
      return;
    }
    simulation.check(how != null, "told of nothing");
    outcome = how;
    check(how);
    client.over(this, how);
    if (how == Outcome.ANSWERED) {
      session.recycle(stream);
    } else {
      session.release(stream, false);
    }
  }

  private void check(Outcome how) {
    final Simulation simulation = client.simulation;
    switch (how) {
      case ANSWERED -> checkAnswer();
      case DEADLINE_EXCEEDED ->
          simulation.check(deadlineNs <= simulation.timeline.nowNs(), "a deadline came early");
      case NOT_SENT -> simulation.check(executions == 0, "not sent, and executed");
      case SESSION_ENDED -> {}
    }
  }

  private void checkAnswer() {
    final Simulation simulation = client.simulation;
    final int flags = stream.inboundFlags();
    final int code = stream.inboundCode();
    if (flags == CLOSED_BY_SERVER) {
      final boolean late = code == 4 && deadlineNs <= simulation.timeline.nowNs();
      simulation.check(
          late || (code == 14 && simulation.ledger.isAborted(channel)), "closed by the server");
      return;
    }
    if (flags == REFUSED) {
      simulation.check(code == 8 && executions == 0, "refused with code " + code);
      checkRefusal();
      return;
    }
    simulation.check(flags == UNIT && code == 0, "flags=" + flags + " code=" + code);
    simulation.check(executions == 1, "answered after executions=" + executions);
    final UnitBuffer unit = stream.inbound();
    final byte[] answer =
        Arrays.copyOfRange(unit.array(), unit.offset(), unit.offset() + unit.length());
    simulation.check(
        Arrays.equals(answerTo(request, simulation.sizes.ringLength()), answer), "another answer");
  }

  /** Every refusal has its reason, and that is true. */
  private void checkRefusal() {
    final SimSizes sizes = client.simulation.sizes;
    final UnitBuffer unit = stream.inbound();
    final String reason =
        new String(unit.array(), unit.offset(), unit.length(), StandardCharsets.UTF_8);
    final boolean deserved;
    if (reason.startsWith("gRPC message exceeds")) {
      deserved = request.length > sizes.maxInboundLength();
    } else if (reason.startsWith("session holds too much")) {
      deserved = request.length > UnitBuffer.RETAINED_LENGTH - Long.BYTES && sizes.isTight();
    } else { // cancelled calls still run
      deserved = sizes.cancels() || sizes.deadlines();
    }
    client.simulation.check(deserved, "refused: " + reason);
  }
}
