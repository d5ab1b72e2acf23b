package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.CLOSE;
import static dev.ringfetch.ring.FrameDescriptor.DRAIN;
import static dev.ringfetch.ring.FrameDescriptor.SESSION_STREAM_ID;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;

import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.session.carrier.RingPair;
import dev.ringfetch.session.owner.OwnedBy;

/**
 * The server's side of a session: polls for requests, passes them to the {@link Acceptor}, and
 * sends responses in the order in which they come.
 *
 * <p>A cancel is answered at once, here, whatever the handler does: the client's stream id is free
 * again without waiting for user code. The stream of a cancelled call is left to that code and to
 * garbage collection, and counted until the call releases it; other streams are reused.
 */
public final class ServerSession extends Session {
  private static final int DEADLINE_EXCEEDED_CODE = 4;
  private static final int UNAVAILABLE_CODE = 14;

  final ServerStreams streams;
  final HeldBytes held;
  final Intake intake;
  private final Acceptor acceptor;
  private final Listener listener;

  private volatile boolean draining;
  private boolean drainSent;
  private volatile boolean aborting;
  private volatile long unanswered;
  private long cancels; // calls that were cancelled or late, each with a CLOSE of one slot

  /** Creates the session on a new connection. */
  public ServerSession(
      SessionConnection connection, SessionContext context, Acceptor acceptor, Listener listener) {
    super(
        RingPair.ofServer(connection.queuePair(), connection.geometry()),
        connection.longReads(),
        connection.poller(),
        context);
    final int maxStreams = connection.geometry().maxStreams();
    this.streams = new ServerStreams(maxStreams);
    this.held = new HeldBytes(context, maxStreams);
    this.intake = new Intake(this, streams, held, context);
    this.acceptor = acceptor;
    this.listener = listener;
  }

  /**
   * Sends a call's response: the unit is in {@link ServerStream#outbound()}. The call releases the
   * stream; the response is dropped if the call was cancelled meanwhile.
   *
   * @param flags of the unit; see {@link dev.ringfetch.ring.FrameDescriptor}.
   * @param code of the status.
   * @param reusable false when another thread may still read the inbound unit.
   */
  public void respond(ServerStream stream, int flags, int code, boolean reusable) {
    stream.responseFlags = flags;
    stream.responseCode = code;
    stream.reusable = reusable;
    driver.submit(stream, ServerStream.RESPOND);
    driver.drive();
  }

  /**
   * Answers a call from another stream, because another thread may still write into the call's own,
   * which is not reused.
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
   * Releases the stream of a cancelled call, when no thread uses it any more. Until then, or until
   * the call responds, the session counts the request. Idempotent.
   */
  public void release(ServerStream stream) {
    driver.submit(stream, ServerStream.RELEASE);
    driver.drive();
  }

  /**
   * Calls under way when the session ended, and slots with answers that the client had not taken:
   * work that was done in vain. Calls that were cancelled, or late, do not count.
   */
  public long unanswered() {
    return unanswered;
  }

  /** Number of calls that the client waits for. Any thread; the latest may be missing. */
  public int openCalls() {
    return streams.openCount();
  }

  /** Bytes of long requests and of streams' messages that are kept in memory. */
  @OwnedBy("session")
  @Override
  long heldLength() {
    return held.length();
  }

  @Override
  String side() {
    return "server";
  }

  /** Asks the client to put no new call on this session, and to end it after the last. */
  public void drain() {
    draining = true;
    driver.requestRound();
  }

  /** Cancels every call and ends the session. */
  public void abort(String reason) {
    aborting = true;
    end(reason);
  }

  @Override
  void onRound() {
    carrier.onRound();
    if (draining && !drainSent) {
      drainSent = true;
      sendDrain();
    }
    if (aborting) {
      for (int index = 1; index < streams.bound(); index++) {
        final ServerStream stream = streams.get(index);
        if (stream != null) {
          cancel(stream, UNAVAILABLE_CODE);
        }
      }
    }
  }

  /** Sends DRAIN; the client then ends the session after its last call. */
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
    final boolean current = streams.isOpen(stream) && !stream.answered;
    if ((asked & ServerStream.RESPOND) != 0 && stream.isCancelled()) {
      dropResponse(stream); // the session has ended
      return;
    }
    if ((asked & ServerStream.RESPOND) == 0 || !current) {
      return; // in particular, a stream that serves another call by now is left alone
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
    if (!streams.isOpen(stream)) {
      dropOutbound(stream); // the stream has ended
      return;
    }
    if ((asked & Stream.WRITE) != 0) {
      outbox.addNext(stream);
    }
    if ((asked & Stream.CONSUMED) != 0) {
      held.consumed(windows.update(stream));
    }
  }

  private void send(ServerStream sent, ServerStream answered) {
    sent.outboundFlags = answered.responseFlags;
    sent.outboundCode = carrier.answerCode(answered.responseCode, answered.handedNs);
    outbox.add(sent);
  }

  private void dropOutbound(ServerStream stream) {
    if (stream.flow != null) {
      outbox.drop(stream.flow);
    }
  }

  /** Drops a response that the call has handed over. */
  private static void dropResponse(ServerStream stream) {
    (stream.substitute == null ? stream : stream.substitute).outbound().releaseSegments();
  }

  /** Handles the release of a cancelled call. */
  private void letGo(ServerStream stream, int asked) {
    held.letGo(stream);
    if ((asked & ServerStream.RESPOND) != 0) {
      dropResponse(stream);
    }
    if ((asked & ServerStream.RELEASE) != 0) {
      stream.inbound().clear(); // the handler may keep the call forever, but not this memory
    }
  }

  @Override
  void onSent(Stream sent) {
    final ServerStream stream = (ServerStream) sent;
    if (stream.flow != null && !stream.isCancelled()) {
      onFlowSent(stream);
    } else if (!stream.isCancelled()) {
      forget(stream);
      if (stream.reusable) {
        streams.recycle(stream);
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
      notifications.addFlow(stream);
    }
  }

  /** Forgets a stream that is over; its inbound units will not be read. */
  void forget(ServerStream stream) {
    leaveTable(stream);
    held.release(stream);
  }

  private void leaveTable(ServerStream stream) {
    deadlines.remove(stream);
    if (stream.flow != null) {
      windows.close(stream);
      outbox.drop(stream.flow);
    }
    streams.close(stream);
  }

  private void abandon(ServerStream stream) {
    if (!stream.handed || stream.answered) {
      forget(stream);
      if (stream.answered) {
        stream.outbound().releaseSegments();
      }
      return;
    }
    leaveTable(stream);
    held.abandon(stream);
  }

  @Override
  void onDeadline(Stream late) {
    cancel((ServerStream) late, DEADLINE_EXCEEDED_CODE);
  }

  /** Answers a call instead of the handler. Nothing follows for its id. */
  void cancel(ServerStream stream, int code) {
    cancels++;
    abandon(stream);
    stream.cancelled();
    outbox.remove(stream);
    outbox.add(notice(stream.id, CLOSE, code)); // the handler may be filling the stream
    if (stream.handed) {
      notifications.add(() -> tellCancelled(stream));
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
    if (listener != null) { // otherwise the call checks itself
      listener.onCancelled();
    }
  }

  @Override
  boolean onSessionFrame(int flags) {
    return false;
  }

  @Override
  boolean reportsAll() {
    return held.isTight();
  }

  @Override
  boolean mayBegin(int streamId, int flags, int total) {
    return intake.mayBegin(streamId, flags, total);
  }

  @Override
  boolean onStreamFrame(
      int streamId, int flags, int code, MemoryRegion region, int offset, int length) {
    return intake.onFrame(streamId, flags, code, region, offset, length);
  }

  @Override
  void onRead(Stream stream) {
    intake.onRead((ServerStream) stream);
  }

  @Override
  void distrust(Stream ready) {
    ((ServerStream) ready).cancelled();
  }

  @Override
  void tell(Stream stream) {
    if (stream.flow != null && stream.flow.peek() == null) {
      return; // the memory was taken away before a handler saw the request
    }
    try {
      acceptor.onRequest(this, (ServerStream) stream);
    } catch (Throwable t) {
      // no handler will answer: the client learns it by the end of the session
      doom();
      throw t;
    }
  }

  @Override
  void onEnd() {
    long calls = 0;
    for (int index = 1; index < streams.bound(); index++) {
      final ServerStream stream = streams.get(index);
      if (stream != null) {
        calls++;
        if (stream.handed) {
          notifications.add(
              () -> tellCancelled(stream)); // first: it may throw, and is called again then
        }
        forget(stream);
        stream.cancelled();
      }
    }
    held.settle();
    unanswered = calls + Math.max(0, ending.unconsumed() - cancels);
  }

  @Override
  void tellFlow(Stream told) {
    final ServerStream stream = (ServerStream) told;
    final ServerStream.Listener listener = stream.listener();
    if (listener != null) { // otherwise the call checks itself
      listener.onFlow();
    }
  }

  @Override
  void tellEnd(String reason) {
    listener.onEnded(this, reason);
  }

  /**
   * False: a handler's thread leaves without arming, because this side's poller always comes back.
   */
  @Override
  boolean mustArmToLeave() {
    return false;
  }

  @Override
  boolean isPolledByCallers() {
    return false;
  }

  @Override
  boolean retire() {
    if (!driver.tryAcquireOrBeMissed()) {
      return true; // a handler's thread owns the session, and calls the poller when it leaves
    }
    boolean armed = true;
    try {
      driver
          .disarm(); // armed before, it would leave without a look at the ring that the poller came
      // for
      final boolean waits = intake.isWaiting() && !hasEnded();
      entry.settling(waits); // a release wakes no thread: the poller looks now and then
      armed = !waits && (hasEnded() || driver.arm());
    } catch (Throwable t) { // see Ending.failed
      ending.failed(t);
    }
    return !driver.releaseAndTell() && armed;
  }

  /** Receiver of requests. */
  @FunctionalInterface
  public interface Acceptor {
    /**
     * Called when a request has arrived, on a thread without ownership: the poller's, or, for
     * requests that were committed when the session ended, the thread that ended it.
     */
    void onRequest(ServerSession session, ServerStream stream);
  }

  /** Listener for a session's end. */
  @FunctionalInterface
  public interface Listener {
    /** Called once, without ownership, when the session and every call on it have ended. */
    void onEnded(ServerSession session, String reason);
  }
}
