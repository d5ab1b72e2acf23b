package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.CLOSE;
import static dev.ringfetch.ring.FrameDescriptor.CONTINUATION;
import static dev.ringfetch.ring.FrameDescriptor.DRAIN;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;
import static dev.ringfetch.ring.FrameDescriptor.WINDOW_UPDATE;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.ClientStream.State;
import dev.ringfetch.session.carrier.Geometry;
import dev.ringfetch.session.carrier.RingPair;
import dev.ringfetch.session.owner.SharedField;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * The client's side of a session: sends requests, polls for responses.
 *
 * <p>A call {@linkplain #open opens} a stream, fills its outbound unit, {@linkplain
 * ClientStream#prepare prepares} and {@linkplain #send sends} it, and releases it exactly once: by
 * {@link #recycle} after it was answered and has used the answer, by {@link #release} after it was
 * told of another end, or by {@link #cancel}. A stream's index is used again only when the server
 * has closed it, too.
 */
public final class ClientSession extends Session {
  private static final VarHandle PENDING =
      SharedField.of(MethodHandles.lookup(), "pending", int.class);

  private static final String DRAINED = "drained";

  final ClientStreams streams;

  private final CallerPolling polling;
  private final Listener listener;

  private int pending;
  private final Crowding requests;
  private final Crowding responses;
  private volatile @Nullable String drainReason; // null while new calls are accepted

  /**
   * Creates the session on a new connection.
   *
   * @throws java.io.UncheckedIOException when there is no memory to fetch answers into.
   */
  public ClientSession(SessionConnection connection, SessionContext context, Listener listener) {
    super(
        RingPair.ofClient(connection.queuePair(), connection.geometry()),
        connection.longReads(),
        connection.poller(),
        context);
    final Geometry geometry = connection.geometry();
    this.streams = new ClientStreams(geometry.maxStreams());
    this.requests =
        new Crowding(
            clock,
            geometry.requestRingLength() / FrameDescriptor.SLOT_LENGTH,
            geometry.requestPosition());
    this.responses =
        new Crowding(
            clock,
            geometry.responseRingLength() / FrameDescriptor.SLOT_LENGTH,
            geometry.responsePosition());
    this.polling = new CallerPolling(this);
    this.listener = listener;
  }

  /** Takes a free stream, or returns null when as many calls are under way as there can be. */
  public @Nullable ClientStream open() {
    return streams.open();
  }

  /**
   * Sends a prepared stream's request, or the first unit of its flow; further ones are {@linkplain
   * #write written}. The unit belongs to the session from here on.
   */
  public void send(ClientStream stream) {
    driver.submit(stream, ClientStream.SEND);
    driver.drive();
  }

  /**
   * Sends a prepared stream's request and polls for the response in the calling thread, for a
   * bounded time, unless another thread does already. Returns early when the thread is interrupted.
   */
  public void sendAndPoll(ClientStream stream) {
    polling.sendAndPoll(stream);
  }

  /** Cancels a stream and releases it. It gets no further notification. */
  public void cancel(ClientStream stream) {
    driver.submit(stream, ClientStream.CANCEL);
    driver.drive();
    poller.told(entry);
  }

  /**
   * Releases a stream that was told of an end.
   *
   * @param cancelled true when a cancel counted instead: the stream waits for both.
   */
  public void release(ClientStream stream, boolean cancelled) {
    driver.submit(stream, cancelled ? ClientStream.RELEASE_CANCELLED : ClientStream.RELEASE);
    driver.drive();
  }

  /** Releases a stream that was {@link Outcome#ANSWERED}. */
  public void recycle(ClientStream stream) {
    streams.recycle(stream);
  }

  /** Number of calls under way; may be slightly out of date. */
  public int callCount() {
    return (int) PENDING.getVolatile(this);
  }

  /** True when no new call should be put on this session. */
  public boolean isDraining() {
    return drainReason != null;
  }

  /** Ends the session when the calls that are under way have ended. */
  public void drain() {
    drain(DRAINED);
  }

  /** As {@link #drain()}, with a reason for the session's end, unless it has one. */
  public void drain(String reason) {
    refuseCalls(reason);
    driver.requestRound();
  }

  private void refuseCalls(String reason) {
    if (drainReason == null) {
      drainReason = reason;
    }
  }

  @Override
  void onRound() {
    final String reason = drainReason;
    if (reason != null && pending == 0 && reads.canDrain()) {
      ending.request(reason);
    }
  }

  @Override
  void onOutboundFull() {
    if (requests.onFull(writePosition())) {
      listener.onCrowded(this);
    }
  }

  @Override
  void onInboundFull() {
    if (responses.onFull(pollPosition())) {
      listener.onCrowded(this);
    }
  }

  @Override
  void onOperations(Stream asking, int asked) {
    final ClientStream stream = (ClientStream) asking;
    if (stream.flow != null) {
      onFlowOperations(stream, asked);
      return;
    }
    stream.cancelled |= (asked & ClientStream.CANCEL) != 0;
    stream.released |= (asked & ClientStream.RELEASE) != 0;
    stream.releasedCancelled |= (asked & ClientStream.RELEASE_CANCELLED) != 0;
    if ((asked & ClientStream.SEND) != 0) {
      onSend(stream);
    } else if ((asked & ClientStream.CANCEL) != 0) {
      onCancel(stream);
    }
    recycleIfClosed(stream);
  }

  /**
   * Handles a flow's operations. The index of a stream that has ended may belong to another stream
   * by now, but this object does not.
   */
  private void onFlowOperations(ClientStream stream, int asked) {
    if ((asked & ClientStream.SEND) != 0) {
      stream.cancelled = (asked & ClientStream.CANCEL) != 0;
      onSend(stream);
    } else if ((asked & ClientStream.CANCEL) != 0) {
      onCancel(stream);
    }
    if (stream.state == State.DONE || stream.state == State.CLOSING) {
      outbox.drop(stream.flow);
    } else if (stream.state == State.SENT) { // before that, the first unit is being written
      if ((asked & Stream.WRITE) != 0) {
        outbox.addNext(stream);
      }
      if ((asked & Stream.CONSUMED) != 0) {
        windows.update(stream);
      }
    }
  }

  private void onSend(ClientStream stream) {
    if (stream.cancelled) { // the server has not seen it
      done(stream);
    } else if (hasEnded()) {
      finish(stream, Outcome.NOT_SENT);
    } else {
      pending++;
      tally.add(Counter.SESSION_CALLS, 1);
      stream.state = State.SENDING;
      if (stream.deadlineNs != Stream.NO_DEADLINE) {
        deadlines.add(stream);
      }
      if (stream.flow == null) {
        outbox.add(stream);
      } else {
        outbox.addNext(stream);
      }
    }
  }

  private void onCancel(ClientStream stream) {
    stream.ended = true;
    deadlines.remove(stream);
    close(stream);
  }

  /**
   * Ends a stream from this side: silently if the server has not seen it, otherwise with a CLOSE.
   */
  private void close(ClientStream stream) {
    if (stream.state == State.SENDING && !stream.outboundBegun) {
      outbox.remove(stream);
      pending--;
      done(stream);
    } else if (stream.state == State.SENDING || stream.state == State.SENT) {
      stream.state = State.CLOSING;
      dropOutbound(stream);
      stream.outboundFlags = CLOSE;
      stream.outboundCode = 0;
      stream.headerOnly = true;
      outbox.add(stream);
    }
  }

  /**
   * Called when nothing more comes for this id. The index of a flow serves another stream from here
   * on.
   */
  private void done(ClientStream stream) {
    stream.state = State.DONE;
    if (stream.flow != null) {
      windows.close(stream);
      outbox.drop(stream.flow);
      streams.replace(stream);
    }
  }

  /**
   * Recycles a stream if both sides have finished with it, and so has the notifying thread: a
   * stream in the chain of pending notifications is not reset.
   */
  private void recycleIfClosed(ClientStream stream) {
    final boolean letGo =
        stream.outcome == null
            ? stream.cancelled
            : stream.released || (stream.releasedCancelled && stream.cancelled);
    if (letGo && stream.state == State.DONE && !hasEnded()) {
      recycle(stream);
    }
  }

  @Override
  void onSent(Stream sent) {
    final ClientStream stream = (ClientStream) sent;
    if (stream.state == State.SENDING) {
      stream.state = State.SENT;
    }
    if (stream.flow == null && stream.state == State.SENT) {
      carrier.onRequestSent(stream.id);
    }
    if (stream.flow != null && stream.state == State.SENT) {
      if (stream.flow.onSent()) {
        notifications.addFlow(stream);
      }
      outbox.addNext(stream);
    }
  }

  @Override
  void onDeadline(Stream late) {
    final ClientStream stream = (ClientStream) late;
    close(stream);
    tellLater(stream, Outcome.DEADLINE_EXCEEDED);
  }

  @Override
  Stream notice(int id, int flags, int code) {
    final ClientStream notice = new ClientStream(id);
    notice.outboundFlags = flags;
    notice.outboundCode = code;
    notice.headerOnly = true;
    return notice;
  }

  @Override
  boolean onSessionFrame(int flags) {
    refuseCalls(DRAINED);
    return flags == DRAIN;
  }

  @Override
  boolean onStreamFrame(
      int streamId, int flags, int code, MemoryRegion region, int offset, int length) {
    final int index = streamId & Stream.INDEX_MASK;
    final ClientStream stream = index < streams.length() ? streams.get(index) : null;
    if (stream == null || stream.id != streamId || !awaitsFrames(stream)) {
      return false;
    }
    if ((flags & CLOSE) != 0) {
      stream.incoming.close(code); // before it is told
      if (stream.flow != null) {
        stream.flow.onUnit(stream.incoming.take(), !stream.ended);
      }
      onClosedByServer(stream);
      return true;
    }
    if (flags == WINDOW_UPDATE) {
      return windows.onUpdate(stream, region, offset, length);
    }
    if (beginsFlow(stream, flags)) {
      if (stream.state != State.SENT) { // half a request gets no answer
        return false;
      }
      stream.openFlow();
    }
    if (stream.flow != null && !stream.incoming.isPartial() && !stream.flow.mayReceive(flags)) {
      return false;
    }
    if (!stream.incoming.accept(
        flags, code, region, offset, length, stream.maxInboundLength, reads, stream)) {
      return false;
    }
    if (!stream.incoming.isPartial() && mayTake(stream)) {
      onUnit(stream);
    }
    return true;
  }

  /** True at the first frame of an answer that takes several units. */
  private static boolean beginsFlow(ClientStream stream, int flags) {
    return (flags & (SUFFIX | CONTINUATION)) == 0
        && stream.flow == null
        && !stream.incoming.isPartial()
        && !stream.ended
        && stream.takesFlow();
  }

  /** Returns whether a response may be read: a unary call takes one; a flow keeps count itself. */
  private static boolean mayTake(ClientStream stream) {
    return stream.flow != null
        || (stream.incoming.flags() & SUFFIX) == 0
        || !stream.inbound().isReading();
  }

  @Override
  void onRead(Stream read) {
    final ClientStream stream = (ClientStream) read;
    if (stream.flow != null) {
      notifications.addFlow(stream);
    } else if (awaitsFrames(stream) && !stream.incoming.isPartial()) {
      onUnit(stream);
    }
  }

  /** Nothing else tells a call that has its status that its last unit is not there. */
  @Override
  void onReadLost(Stream stream) {
    if (stream.flow != null) {
      stream.flow.distrust();
      notifications.addFlow(stream);
    }
  }

  private void onUnit(ClientStream stream) {
    final boolean last = (stream.incoming.flags() & SUFFIX) != 0;
    if (stream.flow != null) {
      stream.flow.onUnit(stream.incoming.take(), !stream.ended);
      if (!stream.ended) {
        notifications.addFlow(stream);
      }
    } else if (!last) {
      stream.inbound().clear(); // the next unit comes into the same buffer
      if (!stream.ended) {
        deadlines.remove(stream);
        close(stream);
        tellLater(stream, Outcome.TOO_MANY_RESPONSES);
      }
    }
    if (last) {
      onClosedByServer(stream);
    }
  }

  private static boolean awaitsFrames(ClientStream stream) {
    return stream.state == State.SENT
        || stream.state == State.CLOSING
        || (stream.state == State.SENDING && stream.outboundBegun);
  }

  /** The server's last frame for a stream: an answer, or the confirmation of a cancel. */
  private void onClosedByServer(ClientStream stream) {
    outbox.remove(stream);
    pending--;
    deadlines.remove(stream);
    final boolean answer = stream.flow == null && (stream.incoming.flags() & CLOSE) == 0;
    carrier.onClosed(stream.id, answer, stream.incoming.code(), stream.incoming.total());
    done(stream);
    if (!stream.ended) {
      tellLater(stream, Outcome.ANSWERED);
    } else if (stream.flow == null) {
      recycleIfClosed(stream);
    }
  }

  private void tellLater(ClientStream stream, Outcome outcome) {
    stream.ended = true;
    if (stream.flow != null) {
      stream.flow.end(outcome);
      notifications.addFlow(stream);
    } else {
      stream.outcome = outcome;
      notifications.add(stream);
    }
  }

  private void finish(ClientStream stream, Outcome outcome) {
    stream.state = State.DONE;
    tellLater(stream, outcome);
  }

  @Override
  void onEnd() {
    pending = 0;
    for (int index = 1; index < streams.bound(); index++) {
      final ClientStream stream = streams.get(index);
      if (stream != null && stream.state != State.IDLE && stream.state != State.DONE) {
        deadlines.remove(stream);
        dropOutbound(stream);
        if (stream.ended) {
          stream.state = State.DONE;
        } else {
          final boolean unseen = stream.state == State.SENDING && !stream.outboundBegun;
          finish(stream, unseen ? Outcome.NOT_SENT : Outcome.SESSION_ENDED);
        }
      }
    }
  }

  private void dropOutbound(ClientStream stream) {
    if (stream.flow != null) {
      outbox.drop(stream.flow);
    } else {
      stream.outbound().releaseSegments();
    }
  }

  @Override
  void distrust(Stream ready) {
    final ClientStream stream = (ClientStream) ready;
    if (stream.outcome == Outcome.ANSWERED) {
      stream.outcome = Outcome.SESSION_ENDED;
    }
  }

  @Override
  void tell(Stream told) {
    final ClientStream stream = (ClientStream) told;
    stream.listener().onClosed(stream, stream.outcome);
    poller.told(entry);
  }

  @Override
  void tellFlow(Stream told) {
    ((ClientStream) told).flowListener().onFlow();
    poller.told(entry);
  }

  @Override
  void tellEnd(String reason) {
    listener.onEnded(this, reason);
  }

  @Override
  String side() {
    return "client";
  }

  @Override
  boolean mustArmToLeave() {
    return pending > 0
        || !reads.isEmpty() // a flow is not pending while its last unit is read
        // or a frame that belongs to no call
        || (!hasEnded() && (outbox.isBlocked() || delivery.isUncertain() || mustLearnReleases()));
  }

  /** True where this side would not see, once it looks no more, that the server has read memory. */
  private boolean mustLearnReleases() {
    return !carrier.armsAtOnce() && outbox.awaitsRelease();
  }

  @Override
  boolean isPolledByCallers() {
    return true;
  }

  @Override
  boolean retire() {
    if (!driver.tryAcquireOrBeMissed()) {
      return true; // a caller owns the session, and arms it when it leaves, or calls the poller
    }
    if (!carrier.armsAtOnce()) {
      return settle();
    }
    try {
      driver.disarm(); // if already armed, it would leave without a look at the ring
      // the same with nothing pending; another thread had the session when the poller came
      driver.lookBeforeLeaving();
    } catch (Throwable t) { // see Ending.failed
      ending.failed(t);
    }
    if (driver.leave()) {
      driver.drive();
    }
    return true;
  }

  /**
   * Lets the poller leave when nothing is expected, or the server rings. If another thread had the
   * session when the poller came, there may be a frame in this side's memory.
   */
  private boolean settle() {
    boolean settled = true;
    try {
      if (!inbox.isSettling()) {
        driver.disarm(); // as above: look for the frame that the poller came for
      }
      final boolean awaitsTurn = turn.isHolding();
      entry.awaitsTurn(awaitsTurn, turn.heldUntilNs());
      settled =
          !awaitsTurn && (hasEnded() || (mustArmToLeave() ? driver.settle() : !inbox.hasNext()));
      entry.settling(awaitsTurn || (!settled && (inbox.isSettling() || !mustArmToLeave())));
    } catch (Throwable t) { // see Ending.failed
      ending.failed(t);
    }
    return !driver.releaseAndTell() && settled;
  }

  /** Listener for a session's end, and for rings that are too short. */
  @FunctionalInterface
  public interface Listener {
    /**
     * Called when a ring has been full repeatedly, over several of its lengths: it is too short.
     * Called by the thread that owns the session, perhaps often: returns at once, and does not use
     * it.
     */
    default void onCrowded(ClientSession session) {}

    /** Called once, without ownership, when the session and every call on it have ended. */
    void onEnded(ClientSession session, String reason);
  }
}
