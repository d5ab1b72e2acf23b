package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.BULK;
import static dev.ringfetch.ring.FrameDescriptor.CLOSE;
import static dev.ringfetch.ring.FrameDescriptor.COMPRESSED;
import static dev.ringfetch.ring.FrameDescriptor.CONTINUATION;
import static dev.ringfetch.ring.FrameDescriptor.DEADLINE;
import static dev.ringfetch.ring.FrameDescriptor.DESCRIPTION;
import static dev.ringfetch.ring.FrameDescriptor.DRAIN;
import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.METADATA;
import static dev.ringfetch.ring.FrameDescriptor.NAMED;
import static dev.ringfetch.ring.FrameDescriptor.PARTIAL;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SESSION_STREAM_ID;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;
import static dev.ringfetch.ring.FrameDescriptor.WINDOW_UPDATE;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;

/**
 * The server's side of a session: polls for requests, hands them to the {@link Acceptor}, sends
 * responses in the order in which they come.
 *
 * <p>A cancel is answered at once, here, whatever the handler does: the client's stream id is free
 * again without waiting for user code. The stream of a cancelled call is left to that code and to
 * garbage collection, and counted until the call lets go of it; streams of others are reused.
 */
public final class ServerSession extends Session {
  private static final int CANCELLED_CODE = 1;
  private static final int DEADLINE_EXCEEDED_CODE = 4;
  private static final int RESOURCE_EXHAUSTED_CODE = 8;
  private static final int UNAVAILABLE_CODE = 14;

  private static final int REQUEST_FLAGS =
      PREFIX | SUFFIX | MESSAGE | DEADLINE | METADATA | NAMED | PARTIAL | COMPRESSED;
  private static final int UNIT_FLAGS = SUFFIX | MESSAGE | PARTIAL | COMPRESSED;

  private static final int MAX_POOLED = 1024;

  /** A client with few streams may cancel and call again before handlers learn of the cancel. */
  private static final int MIN_ABANDONED = 64;

  private final ServerStream[] streams;
  private final int[] closedIds;
  private final ArrayDeque<ServerStream> pool = new ArrayDeque<>();
  private final int maxInboundLength;
  private final int maxUnitLength;
  private final int maxAbandoned;
  private final long maxHeldLength;
  private final Acceptor acceptor;
  private final Listener listener;

  private int abandoned; // cancelled calls that have not let go
  private long heldLength;
  private volatile boolean draining;
  private boolean drainSent;
  private volatile boolean aborting;
  private volatile long unanswered;

  /**
   * Creates the session on a connected queue pair.
   *
   * @param poller that owns the queue pair's doorbell.
   */
  public ServerSession(
      QueuePair queuePair,
      Geometry geometry,
      Poller poller,
      SessionContext context,
      Acceptor acceptor,
      Listener listener) {
    super(RingPair.ofServer(queuePair, geometry), poller, context);
    this.streams = new ServerStream[geometry.maxStreams() + 1];
    this.closedIds = new int[geometry.maxStreams() + 1];
    this.maxInboundLength = context.maxInboundLength();
    this.maxUnitLength = Units.maxLength(maxInboundLength, context.maxMetadataLength());
    this.maxAbandoned = Math.max(MIN_ABANDONED, geometry.maxStreams());
    this.maxHeldLength = context.maxHeldLength();
    this.acceptor = acceptor;
    this.listener = listener;
  }

  /**
   * Sends a call's response: the unit is in {@link ServerStream#outbound()}. The call lets go of
   * the stream; what was cancelled meanwhile is dropped.
   *
   * @param flags of the unit; see {@link dev.ringfetch.ring.FrameDescriptor}.
   * @param code of the status.
   * @param reusable false when another thread may still look at the inbound unit.
   */
  public void respond(ServerStream stream, int flags, int code, boolean reusable) {
    stream.responseFlags = flags;
    stream.responseCode = code;
    stream.reusable = reusable;
    submit(stream, ServerStream.RESPOND);
    drive();
  }

  /**
   * Answers a call from another stream, because somebody may still write into the call's own: that
   * one is not reused.
   *
   * @param substitute with the unit; see {@link ServerStream#substitute}.
   * @param flags of the unit.
   * @param code of the status.
   */
  public void respondInstead(ServerStream stream, ServerStream substitute, int flags, int code) {
    stream.substitute = substitute;
    respond(stream, flags, code, false);
  }

  /**
   * The call of a stream that was cancelled is over: nobody uses the stream any more. Until then,
   * or until the call responds, the session counts the request as held. Idempotent.
   */
  public void release(ServerStream stream) {
    submit(stream, ServerStream.RELEASE);
    drive();
  }

  /**
   * Calls under way when the session ended, and slots with answers that the client had not taken:
   * what this side did for nobody.
   */
  public long unanswered() {
    return unanswered;
  }

  /** Bytes of long requests and of streams' messages that are held; owner. */
  @Override
  long heldLength() {
    return heldLength;
  }

  @Override
  String side() {
    return "server";
  }

  /** Cancelled calls that have not let go; owner. */
  int abandoned() {
    return abandoned;
  }

  /** Asks the client to put no new call on this session, and to end it after the last. */
  public void drain() {
    draining = true;
    requestRound();
  }

  /** Cancels every call and ends the session. */
  public void abort(String reason) {
    aborting = true;
    end(reason);
  }

  @Override
  void onRound() {
    if (draining && !drainSent) {
      drainSent = true;
      sendDrain();
    }
    if (aborting) {
      for (final ServerStream stream : streams) {
        if (stream != null) {
          cancel(stream, UNAVAILABLE_CODE);
        }
      }
    }
  }

  /** The client ends the session, when its last call has ended. */
  private void sendDrain() {
    outbox.addUnsolicited(notice(SESSION_STREAM_ID, DRAIN, 0));
  }

  @Override
  void onOperations(Stream asking, int asked) {
    final ServerStream stream = (ServerStream) asking;
    if (stream.abandoned) {
      dropOutbound(stream);
      if ((asked & (ServerStream.RELEASE | ServerStream.RESPOND)) != 0) {
        letGo(stream, asked);
      }
      return;
    }
    if (stream.flow != null) {
      onFlowOperations(stream, asked);
      return;
    }
    final boolean current = streams[stream.index()] == stream && !stream.answered;
    if ((asked & ServerStream.RESPOND) == 0 || !current) {
      return; // in particular, one that serves another call by now is left alone
    }
    stream.answered = true;
    if (stream.substitute == null) {
      send(stream, stream);
    } else {
      forget(stream);
      stream.cancelled();
      stream.substitute.id = stream.id;
      send(stream.substitute, stream);
    }
  }

  private void onFlowOperations(ServerStream stream, int asked) {
    if (streams[stream.index()] != stream) {
      dropOutbound(stream); // the stream has ended
      return;
    }
    if ((asked & Stream.WRITE) != 0) {
      outbox.addNext(stream);
    }
    if ((asked & Stream.CONSUMED) != 0) {
      heldLength -= updateWindow(stream);
    }
  }

  private void send(ServerStream carrier, ServerStream answered) {
    carrier.outboundFlags = answered.responseFlags;
    carrier.outboundCode = answered.responseCode;
    outbox.add(carrier);
  }

  private void dropOutbound(ServerStream stream) {
    if (stream.flow != null) {
      outbox.drop(stream.flow);
    }
  }

  /** The call has learned that it was cancelled, and holds its request no longer. */
  private void letGo(ServerStream stream, int asked) {
    stream.abandoned = false;
    abandoned--;
    letGoOfMemory(stream);
    if ((asked & ServerStream.RESPOND) != 0) {
      (stream.substitute == null ? stream : stream.substitute).outbound().releaseSegments();
    }
    if ((asked & ServerStream.RELEASE) != 0) {
      stream.inbound().clear(); // the handler may keep the call for ever, not this
    }
  }

  @Override
  void onSent(Stream sent) {
    final ServerStream stream = (ServerStream) sent;
    if (stream.flow != null && !stream.isCancelled()) {
      onFlowSent(stream);
    } else if (!stream.isCancelled()) {
      forget(stream);
      if (stream.reusable && pool.size() < MAX_POOLED) {
        stream.reset();
        pool.push(stream);
      }
    }
  }

  private void onFlowSent(ServerStream stream) {
    final boolean last = (stream.outboundFlags & SUFFIX) != 0;
    final boolean room = stream.flow.onSent();
    if (last) {
      stream.flow.sentAll();
      forget(stream);
    } else {
      outbox.addNext(stream);
    }
    if (last || room) {
      news.addFlow(stream);
    }
  }

  private void forget(ServerStream stream) {
    leaveTable(stream);
    letGoOfMemory(stream);
  }

  private void letGoOfMemory(ServerStream stream) {
    heldLength -= stream.heldLength;
    stream.heldLength = 0;
    if (stream.flow != null) {
      heldLength -= stream.flow.heldLength();
    }
  }

  private void leaveTable(ServerStream stream) {
    deadlines.remove(stream);
    if (stream.flow != null) {
      closeWindow(stream);
      outbox.drop(stream.flow);
    }
    streams[stream.index()] = null;
    closedIds[stream.index()] = stream.id;
  }

  /**
   * Out of the table, but still counted while a call has it: else a client that cancels at once
   * could have more run here than it may have under way.
   */
  private void abandon(ServerStream stream) {
    if (!stream.handed || stream.answered) {
      forget(stream);
      if (stream.answered) {
        stream.outbound().releaseSegments();
      }
      return;
    }
    leaveTable(stream);
    stream.abandoned = true;
    abandoned++;
  }

  @Override
  void onDeadline(Stream late) {
    cancel((ServerStream) late, DEADLINE_EXCEEDED_CODE);
  }

  /** Answers a call in the handler's stead. Nothing follows for its id. */
  private void cancel(ServerStream stream, int code) {
    abandon(stream);
    stream.cancelled();
    outbox.remove(stream);
    outbox.add(notice(stream.id, CLOSE, code)); // the handler may be filling the stream
    if (stream.handed) {
      news.add(() -> tellCancelled(stream));
    }
  }

  @Override
  ServerStream notice(int id, int flags, int code) {
    final ServerStream notice = ServerStream.substitute();
    notice.id = id;
    notice.outboundFlags = flags;
    notice.outboundCode = code;
    notice.headerOnly = true;
    return notice;
  }

  private static void tellCancelled(ServerStream stream) {
    final ServerStream.Listener listener = stream.listener();
    if (listener != null) { // otherwise it looks for itself
      listener.onCancelled();
    }
  }

  @Override
  boolean onSessionFrame(int flags) {
    return false;
  }

  @Override
  boolean onStreamFrame(
      int streamId, int flags, int code, MemoryRegion region, int offset, int length) {
    final int index = streamId & Stream.INDEX_MASK;
    if (index == 0 || index >= streams.length) {
      return false;
    }
    ServerStream stream = streams[index];
    if ((flags & PREFIX) == 0) { // of a stream that has begun
      if (stream == null || stream.id != streamId) {
        return closedIds[index] == streamId; // it crossed the last frame of this side
      }
      if (flags == CLOSE) {
        cancel(stream, CANCELLED_CODE);
        return true;
      }
      if (flags == WINDOW_UPDATE) {
        return onWindowUpdate(stream, region, offset, length);
      }
      if (stream.inboundPartial
          ? (flags & ~(PARTIAL | BULK)) != CONTINUATION
          : (flags & ~UNIT_FLAGS) != 0 || stream.flow == null || !stream.flow.mayReceive(flags)) {
        return false;
      }
    } else {
      if (stream != null
          || closedIds[index] == streamId
          || (flags & ~REQUEST_FLAGS) != 0
          || outbox.length() > streams.length + Reads.MAX_OFFERS) { // one an index, DRAIN, answers
        return false; // the last: an index is used again before its end was even sent
      }
      stream = accept(streamId, index);
      if ((flags & SUFFIX) == 0) {
        stream.flow = new Flow();
      }
    }
    if (!Chains.accept(stream, flags, code, region, offset, length, maxUnitLength, reads)) {
      return false;
    }
    if ((flags & PREFIX) != 0 && !onFirstFrame(stream)) {
      return false;
    }
    if (stream.isCancelled()) {
      return true; // rejected on its first frame
    }
    if (stream.flow != null && (flags & CONTINUATION) == 0 && !holds(stream)) {
      return true;
    }
    if (!stream.inboundPartial) {
      onUnit(stream);
    }
    return true;
  }

  @Override
  void onRead(Stream read) {
    final ServerStream stream = (ServerStream) read;
    if (streams[stream.index()] == stream && (stream.flow != null || !stream.inboundPartial)) {
      onWhole(stream);
    }
  }

  /**
   * Counts a unit of a flow from its first frame on: a message until the call has consumed it, what
   * has none to the end of the stream, since nobody says when that was read. False when it is too
   * much.
   */
  private boolean holds(ServerStream stream) {
    final int total = stream.inboundTotal;
    final boolean message = (stream.inboundFlags & MESSAGE) != 0;
    final long held =
        message
            ? Unit.cost(stream.inboundFlags, total)
            : total > UnitBuffer.RETAINED_LENGTH ? total : 0;
    if (heldLength + held > maxHeldLength) {
      cancel(stream, RESOURCE_EXHAUSTED_CODE);
      return false;
    }
    stream.heldLength += held;
    heldLength += held;
    return true;
  }

  private void onUnit(ServerStream stream) {
    if (stream.flow != null) {
      final Unit unit = Unit.takeInbound(stream);
      stream.heldLength -= unit.cost(); // the flow counts it from here on
      stream.flow.onUnit(unit, true);
    }
    onWhole(stream);
  }

  /** Tells the call what there is of a unit, or of the stream, that was read to its end. */
  private void onWhole(ServerStream stream) {
    if (stream.flow != null ? !stream.flow.hasArrived() : stream.inbound().isReading()) {
      return;
    }
    if (stream.flow != null) {
      news.addFlow(stream);
    }
    if (!stream.handed) {
      stream.handed = true;
      news.add(stream);
    }
  }

  private ServerStream accept(int streamId, int index) {
    final ServerStream pooled = pool.poll();
    final ServerStream stream = pooled != null ? pooled : new ServerStream();
    stream.id = streamId;
    streams[index] = stream;
    tally.add(Counter.SESSION_CALLS, 1);
    return stream;
  }

  private boolean onFirstFrame(ServerStream stream) {
    if (stream.inboundDiscarded) {
      final int deadline = (stream.inboundFlags & DEADLINE) != 0 ? Long.BYTES : 0;
      reject(stream, Units.tooLong(maxInboundLength, stream.inboundTotal - deadline));
      return true;
    }
    if (abandoned >= maxAbandoned) {
      stream.inboundDiscarded = true;
      reject(stream, "cancelled calls still run: " + abandoned);
      return true;
    }
    if (stream.flow == null && stream.inboundTotal > UnitBuffer.RETAINED_LENGTH) {
      if (heldLength + stream.inboundTotal > maxHeldLength) {
        stream.inboundDiscarded = true;
        reject(stream, "session holds too much: length=" + heldLength + " limit=" + maxHeldLength);
        return true;
      }
      heldLength += stream.inboundTotal;
      stream.heldLength = stream.inboundTotal;
    }
    if ((stream.inboundFlags & DEADLINE) != 0) {
      if (stream.inbound().length() < Long.BYTES) {
        return false;
      }
      final long timeoutNs = stream.inbound().getLong(0);
      stream.deadlineNs = clock.nanoTime() + Math.max(0, Math.min(timeoutNs, Units.MAX_TIMEOUT_NS));
      deadlines.add(stream);
    }
    return true;
  }

  /** Answers a request that is too long on its first frame; the rest is dropped as it comes. */
  private void reject(ServerStream stream, String reason) {
    final byte[] description = reason.getBytes(StandardCharsets.UTF_8);
    stream.outbound().addBytes(description, 0, description.length);
    stream.outbound().addInt(description.length);
    stream.outboundFlags = SUFFIX | DESCRIPTION;
    stream.outboundCode = RESOURCE_EXHAUSTED_CODE;
    forget(stream);
    stream.cancelled();
    outbox.add(stream);
  }

  @Override
  void distrust(Stream ready) {
    ((ServerStream) ready).cancelled();
  }

  @Override
  void tell(Stream stream) {
    if (stream.flow != null && stream.flow.peek() == null) {
      return; // the memory went before anybody had seen the request
    }
    try {
      acceptor.onRequest(this, (ServerStream) stream);
    } catch (Throwable t) { // nobody will answer: the client learns by the end of the session
      doom();
      throw t;
    }
  }

  @Override
  void onEnd() {
    long calls = 0;
    for (final ServerStream stream : streams) {
      if (stream != null) {
        calls++;
        if (stream.handed) {
          news.add(() -> tellCancelled(stream)); // first: it may throw, and is called again then
        }
        forget(stream);
        stream.cancelled();
      }
    }
    unanswered = calls + untaken();
  }

  @Override
  void tellFlow(Stream told) {
    final ServerStream stream = (ServerStream) told;
    final ServerStream.Listener listener = stream.listener();
    if (listener != null) { // otherwise it looks for itself
      listener.onFlow();
    }
  }

  @Override
  void tellEnd(String reason) {
    try {
      listener.onEnded(this, reason);
    } finally {
      poller.remove(this);
    }
  }

  /** A handler's thread leaves without arming: this side's poller always comes back. */
  @Override
  boolean mustArmToLeave() {
    return false;
  }

  @Override
  boolean retire() {
    if (!tryAcquire()) {
      return false; // a handler's thread owns the session, and will not arm it
    }
    boolean armed = true;
    try {
      disarm(); // armed before, it would leave without a look at the ring that the poller came for
      armed = hasEnded() || arm();
    } catch (Throwable t) { // see failed
      failed(t);
    }
    return !releaseAndTell() && armed;
  }

  /** Takes requests. */
  @FunctionalInterface
  public interface Acceptor {
    /**
     * A request has arrived. Called in a thread that owns nothing: the poller's, or, of what was
     * committed when the session ended, the one that ended it.
     */
    void onRequest(ServerSession session, ServerStream stream);
  }

  /** Told of a session's end. */
  @FunctionalInterface
  public interface Listener {
    /** The session has ended; every call on it has been told. Called once, owning nothing. */
    void onEnded(ServerSession session, String reason);
  }
}
