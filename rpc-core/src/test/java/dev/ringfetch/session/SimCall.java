package dev.ringfetch.session;

import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.unit.UnitBuffer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Set;

/** A call of a simulation: what was asked, and how it ended. */
abstract class SimCall {
  static final int UNIT = FrameDescriptor.PREFIX | FrameDescriptor.MESSAGE | FrameDescriptor.SUFFIX;
  static final int CLOSED_BY_SERVER = FrameDescriptor.CLOSE;
  static final int REFUSED = FrameDescriptor.SUFFIX | FrameDescriptor.DESCRIPTION;
  static final int MAX_INBOUND_LENGTH = 1024 * 1024;

  private static final Set<String> ENDS_AFTER_CALLS = Set.of("drained", SimClient.OUTGROWN);
  private static final int DEADLINE_EXCEEDED_CODE = 4;
  private static final int RESOURCE_EXHAUSTED_CODE = 8;
  private static final int UNAVAILABLE_CODE = 14;

  final SimClient client;
  final Simulation simulation;
  final ClientSession session;
  final ClientStream stream;
  final byte[] request;
  final long id;
  final long channel;
  final long deadlineNs;
  int executions;
  Outcome outcome; // null while it is open, and when it was cancelled
  boolean cancelled;
  private boolean told;

  SimCall(
      SimClient client,
      ClientSession session,
      ClientStream stream,
      byte[] request,
      long timeoutNs) {
    this.client = client;
    this.simulation = client.simulation;
    this.session = session;
    this.stream = stream;
    this.request = request;
    this.id = idOf(request);
    this.channel = channelOf(request);
    deadlineNs =
        timeoutNs != Stream.NO_DEADLINE
            ? simulation.timeline.nowNs() + timeoutNs
            : Stream.NO_DEADLINE;
  }

  /** The call's number, which a request begins with. */
  static long idOf(byte[] request) {
    return ByteBuffer.wrap(request).getLong();
  }

  /** Number of the session that a request was made for. */
  static long channelOf(byte[] request) {
    return ByteBuffer.wrap(request).getLong(Long.BYTES);
  }

  /** Flags of the first unit, which it fills. */
  final int fill(UnitBuffer unit, int flags, long timeoutNs) {
    final boolean timed = timeoutNs != Stream.NO_DEADLINE;
    if (timed) {
      unit.addLong(timeoutNs);
    }
    simulation.marshal(session, unit, request);
    return timed ? flags | FrameDescriptor.DEADLINE : flags;
  }

  /** Sends the request. */
  final void send(boolean blocking) {
    client.calls.add(this);
    simulation.ledger.opened(this);
    start(blocking);
  }

  abstract void start(boolean blocking);

  /** Cancels, unless it has ended. */
  final void cancel() {
    if (!told && !cancelled) {
      cancelled = true;
      client.over(this, null);
      onCancel();
      session.cancel(stream);
    }
  }

  /** The application cancels, and is about to say so. */
  void onCancel() {}

  /** It was told how it ended, if no cancel came first. */
  final void told(Outcome how) {
    simulation.check(!told, "told twice");
    told = true;
    if (!cancelled) {
      simulation.check(how != null, "told of nothing");
      outcome = how;
      check(how);
      client.over(this, how);
    }
  }

  private void check(Outcome how) {
    switch (how) {
      case ANSWERED -> checkAnswer();
      case DEADLINE_EXCEEDED ->
          simulation.check(deadlineNs <= simulation.timeline.nowNs(), "a deadline came early");
      case NOT_SENT -> simulation.check(executions == 0, "not sent, and executed");
      case SESSION_ENDED ->
          simulation.check(
              !ENDS_AFTER_CALLS.contains(session.endReason()), "lost: " + session.endReason());
      case TOO_MANY_RESPONSES -> simulation.check(isSplit(), "there is one response");
    }
  }

  /** What came with an end that the server has told. */
  abstract void checkAnswer();

  /** True when the server answers in more units than a call that is no stream can take. */
  boolean isSplit() {
    return false;
  }

  /** The server has closed the call: for a reason that there is. */
  final void checkClosed(int code) {
    final SimSizes sizes = simulation.sizes;
    final boolean deserved =
        switch (code) {
          case DEADLINE_EXCEEDED_CODE -> deadlineNs <= simulation.timeline.nowNs();
          case UNAVAILABLE_CODE -> simulation.ledger.isAborted(channel);
          case RESOURCE_EXHAUSTED_CODE -> mayHoldTooMuch(sizes);
          default -> false;
        };
    simulation.check(deserved, "closed by the server: code=" + code);
  }

  /** True when the server may close it for what it holds. */
  boolean mayHoldTooMuch(SimSizes sizes) {
    return false;
  }

  /** Every refusal has its reason, and that is true. */
  final void checkRefusal(int code, UnitBuffer unit) {
    simulation.check(
        code == RESOURCE_EXHAUSTED_CODE && executions == 0, "refused with code " + code);
    final SimSizes sizes = simulation.sizes;
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
    simulation.check(deserved, "refused: " + reason);
  }
}
