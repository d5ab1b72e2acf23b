package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.BULK;
import static dev.ringfetch.ring.FrameDescriptor.SESSION_STREAM_ID;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Kind;
import dev.ringfetch.counters.Subject;
import dev.ringfetch.counters.Tally;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.ring.RingPoller;
import dev.ringfetch.ring.RingWriter;
import java.util.List;
import org.agrona.concurrent.NanoClock;

/**
 * One side of a session: a duty cycle over its end of two rings, without a thread of its own.
 *
 * <p>All state below belongs to the holder of the {@link Ownership} token. Any thread asks for
 * something by {@link #submit}; whoever holds the token does it. No code of the user runs while a
 * thread holds the token: what there is to tell is chained up and told by {@link #tell} afterwards.
 *
 * <p>A thread that stops polling while something is pending <em>arms</em> the session: it sets the
 * sleep flag in the control line, fences fully, and looks at the ring again. From then on the peer
 * rings the doorbell, and the session's {@link Poller} comes back.
 */
public abstract class Session implements QueuePair.Listener, RingPoller.FrameHandler {
  /** {@link #service} found the session owned by another thread. */
  static final int NOT_OWNER = -1;

  private static final int LEAVE_TRIES = 16;

  /** How much all windows of a session may grow, in bytes. */
  private static final long MAX_GROWN_WINDOWS = 64L * 1024 * 1024;

  private static final int ATTACHED = 1;
  private static final int REFUSED = 2;
  private static final String NO_MEMORY = "session failed: no memory to serve it in";

  final QueuePair queuePair;
  final RingWriter writer;
  final RingPoller ring;
  final Poller poller;
  final NanoClock clock;
  final Inbox inbox;
  final Outbox outbox;
  final Reads reads;
  final BulkPool bulk;
  final DeadlineQueue deadlines = new DeadlineQueue();
  final News news = new News();
  final Tally tally = new Tally(Kind.SESSION);
  final long spinNs;

  private final long writeStart;
  private final long pollStart;
  private final Ownership ownership = new Ownership();
  private final OperationQueue operations = new OperationQueue();

  private Stream asking; // first of those that were taken out of the queue, and not heard yet
  private boolean touched; // the memory, since it was verified
  private long grownWindows; // bytes
  private long untaken; // slots, at the end

  @SuppressWarnings("unused") // keeps the loads of a probe alive
  private long probed;

  private volatile boolean missed; // the poller came while another thread was about to leave
  private volatile boolean attention;
  private volatile String endReason;
  private volatile boolean peerAtFault;
  private volatile boolean ended;
  private volatile boolean doomed; // it could not even be ended: the poller does
  private volatile long earliestDeadlineNs = Stream.NO_DEADLINE; // as of the last release

  // The poller's, not the owner's.
  boolean active;
  long lastWorkNs;
  volatile Subject subject; // as which it is listed

  Session(RingPair rings, Poller poller, SessionContext context) {
    this.queuePair = rings.queuePair();
    this.writer = rings.writer();
    this.ring = rings.poller();
    this.poller = poller;
    this.clock = context.clock();
    this.spinNs = context.spinNs();
    this.writeStart = writer.position();
    this.pollStart = ring.position();
    this.inbox = new Inbox(this, rings);
    this.outbox = new Outbox(this, rings);
    this.reads = new Reads(this, rings, context.bulkSegmentLength());
    this.bulk = new BulkPool(this, queuePair, context);
  }

  @Override
  public final boolean onFrame(
      int streamId, int flags, int code, int ack, MemoryRegion region, int offset, int length) {
    tally.add(Counter.SESSION_FRAMES_RECEIVED, 1);
    if (!writer.onAck(ack)) {
      return false;
    }
    if (streamId == SESSION_STREAM_ID) {
      return flags == BULK ? onMemory(code, region, offset, length) : onSessionFrame(flags);
    }
    if ((flags & BULK) != 0 && !reads.add(region, offset, length)) {
      return false;
    }
    return onStreamFrame(streamId, flags, code, region, offset, length);
  }

  /** The peer offers memory that it has registered, or answers an offer. */
  private boolean onMemory(int code, MemoryRegion region, int offset, int length) {
    if (length == 0) {
      return (code == ATTACHED || code == REFUSED) && bulk.onAnswer(code == ATTACHED);
    }
    if (!reads.mayOffer()) {
      return false;
    }
    final byte[] descriptor = new byte[length];
    region.getBytes(offset, descriptor, 0, length);
    final Stream answer =
        notice(SESSION_STREAM_ID, BULK, reads.attach(descriptor) ? ATTACHED : REFUSED);
    outbox.addUnsolicited(answer);
    return true;
  }

  private void offerMemory() {
    final byte[] descriptor = bulk.takeOffer(outbox.maxPayload());
    if (descriptor != null) {
      final Stream offer = notice(SESSION_STREAM_ID, BULK, 0);
      offer.headerOnly = false;
      offer.outbound().addBytes(descriptor, 0, descriptor.length);
      outbox.addUnsolicited(offer);
    }
  }

  /** A frame of this side's own, which no call has filled. */
  abstract Stream notice(int id, int flags, int code);

  /** A frame that concerns the session. False when it is one that no peer may write; owner. */
  abstract boolean onSessionFrame(int flags);

  /**
   * A frame of a stream. False when it is one that no peer may write; owner. See {@link
   * RingPoller.FrameHandler}.
   */
  abstract boolean onStreamFrame(
      int streamId, int flags, int code, MemoryRegion region, int offset, int length);

  /** The last read is done of those that a unit of this stream has waited for; owner. */
  abstract void onRead(Stream stream);

  /** Memory out of which the peer reads long messages. */
  public BulkPool bulk() {
    return bulk;
  }

  /** A window update has come in for a stream. False when it is none; owner. */
  final boolean onWindowUpdate(Stream stream, MemoryRegion region, int offset, int length) {
    if (stream.flow == null || (length != Long.BYTES && length != Outbox.MAX_UPDATE_LENGTH)) {
      return false;
    }
    final int window = length == Long.BYTES ? 0 : region.getInt(offset + Long.BYTES);
    if (!stream.flow.onUpdate(region.getLong(offset), window)) {
      return false;
    }
    outbox.addNext(stream);
    return true;
  }

  /**
   * The call of a flow has consumed messages: the peer is told when that is worth a frame; owner.
   *
   * @return bytes that are held no longer.
   */
  final long updateWindow(Stream stream) {
    final Flow flow = stream.flow;
    final long released = flow.release();
    grownWindows += flow.grow(MAX_GROWN_WINDOWS - grownWindows);
    if (flow.isUpdateUseful()) {
      flow.updateDue = true;
      outbox.add(stream);
    }
    return released;
  }

  /** A flow has ended, and its window is others'; owner. Once for each. */
  final void closeWindow(Stream stream) {
    grownWindows -= stream.flow.grown();
  }

  /** What a stream asks for; owner. */
  abstract void onOperations(Stream stream, int asked);

  /** The last byte of a stream's unit, or its header-only frame, is in the ring; owner. */
  abstract void onSent(Stream stream);

  /** A stream's deadline has passed; owner. It is out of the queue. */
  abstract void onDeadline(Stream stream);

  /** The session has ended: every stream is told; owner. */
  abstract void onEnd();

  /** What this side looks after in every round; owner. */
  abstract void onRound();

  /** What came in for a stream that waits to be told may be garbage: the memory went; owner. */
  abstract void distrust(Stream ready);

  /** Tells the call above a stream what happened; owns nothing. */
  abstract void tell(Stream stream);

  /** Tells the call above a flow that there is something new in it; owns nothing. */
  abstract void tellFlow(Stream stream);

  /** Which side this is, for people. */
  abstract String side();

  /** Bytes that this side holds of what came in; owner. */
  long heldLength() {
    return 0;
  }

  /** The end of the session is told to whoever keeps it; owns nothing. Called once. */
  abstract void tellEnd(String reason);

  /**
   * True when a thread that leaves must arm the session, because the peer owes it frames and no
   * poller will look by itself; owner.
   */
  abstract boolean mustArmToLeave();

  /** The poller that serves this session. */
  public Poller poller() {
    return poller;
  }

  /** The time of this session's clock, in nanoseconds. */
  public long nanoTime() {
    return clock.nanoTime();
  }

  /** One line for people: what serves, and the peer. */
  public String describe() {
    return queuePair.peer();
  }

  /** What one of the session's counters is at. Any thread. */
  public final long count(Counter counter) {
    return tally.get(counter);
  }

  /** True when the session has ended: nothing can be sent any more. */
  public boolean hasEnded() {
    return endReason != null;
  }

  /** Why the session has ended, or null. */
  public String endReason() {
    return endReason;
  }

  /** True when the session ended by what no peer does that is in order. */
  public boolean isPeerAtFault() {
    return peerAtFault;
  }

  /** Slots with frames that the peer had not taken when the session ended; owner. */
  final long untaken() {
    return untaken;
  }

  /** Position of the ring that this side writes, in slots: it grows by one per small frame. */
  public long writePosition() {
    return writer.position();
  }

  /** Position of the ring that this side polls, in slots. */
  public long pollPosition() {
    return ring.position();
  }

  /** Sends a unit of a flow, after those before and as the window allows. Never blocks. */
  public final void write(Stream stream, Unit unit) {
    stream.flow.offer(unit);
    submit(stream, Stream.WRITE);
    drive();
  }

  /** The call of a flow has done with a unit that came in. One thread at a time. */
  public final void consumed(Stream stream, Unit unit) {
    if (stream.flow.consume(unit)) {
      submit(stream, Stream.CONSUMED);
      drive();
    }
  }

  /** Ends the session. Any thread; what is committed is still delivered, the rest fails. */
  public final void end(String reason) {
    requestEnd(reason);
    drive();
  }

  /** Lets the session end with this round; owner, or before {@link #drive}. */
  final void requestEnd(String reason) {
    if (endReason == null) {
      endReason = reason;
    }
  }

  /** As {@link #requestEnd}, because the peer broke a rule. */
  final void blame(String reason) {
    peerAtFault = true;
    requestEnd(reason);
  }

  /** Ends the session in the poller's thread, for what the peer has done. Any thread. */
  final void blameLater(String reason) {
    blame(reason);
    poller.activateLater(this);
  }

  @Override
  public final void onDoorbell() {
    tally.add(Counter.SESSION_WAKEUPS_RECEIVED, 1);
    poller.activate(this);
  }

  @Override
  public final void onDisconnected(String reason) {
    end(reason);
  }

  /** Asks the owner for something. The caller drives the session afterwards. */
  final void submit(Stream stream, int operation) {
    if (stream.request(operation)) {
      operations.add(stream);
    }
  }

  /**
   * Does what was asked for, unless another thread owns the session: then that one does. Neither
   * polls nor looks at deadlines: a callback that asks for something would find itself telling the
   * next callback, and so on.
   */
  final void drive() {
    while (ownership.tryAcquire()) {
      boolean armed = true;
      try {
        work(false);
        armed = !mustArmToLeave() || arm();
        verifyTouched();
      } catch (Throwable t) { // see failed
        failed(t);
      }
      final boolean more = releaseAndTell();
      if (!armed) {
        poller.activateLater(this);
      }
      if (!more || (doomed && !ended)) {
        return;
      }
    }
  }

  /** Asks for a round, in which {@link #onRound} sees what was set before. Any thread. */
  final void requestRound() {
    attention = true;
    drive();
  }

  final boolean tryAcquire() {
    return ownership.tryAcquire();
  }

  /**
   * The poller's attempt to take the token before it sleeps. If it fails, the holder sees after its
   * release that the poller was here: it may have armed the session already, and the ring that it
   * armed for may be the one that the poller came for.
   */
  final boolean tryAcquireOrBeMissed() {
    if (ownership.tryAcquire()) {
      return true;
    }
    missed = true;
    return ownership.tryAcquire();
  }

  /**
   * Lets the token go, armed if frames are expected and nobody else polls, and tells what there is
   * to tell.
   *
   * @return true when something was asked for meanwhile, so that the caller should drive.
   */
  final boolean leave() {
    int tries = 0;
    try {
      while (mustArmToLeave() && !arm()) {
        if (++tries > LEAVE_TRIES) { // half a frame, whose rest may never come
          poller.activateLater(this);
          break;
        }
        work(true);
      }
      verifyTouched();
    } catch (Throwable t) { // see failed
      failed(t);
    }
    return releaseAndTell();
  }

  final boolean releaseAndTell() {
    final long earliest;
    final boolean wakePoller;
    final Stream streams;
    final List<Stream> flows;
    final List<Runnable> tasks;
    boolean taken = false;
    boolean unasked = false;
    try {
      verifyTouched();
      count();
      unasked = asking != null;
      earliest = deadlines.earliestNs();
      wakePoller = earliest < earliestDeadlineNs;
      if (earliest != earliestDeadlineNs) {
        earliestDeadlineNs = earliest;
      }
      flows = news.takeFlows();
      streams = news.takeStreams();
      tasks = news.takeTasks();
      taken = true;
    } finally {
      ownership.release(); // come what may: a token that is kept is a session that hangs
      if (!taken) {
        poller.alarm();
      }
    }
    if (wakePoller) {
      poller.wakeupBefore(earliest);
    }
    if (missed) {
      missed = false;
      poller.activateLater(this);
    }
    poller.counters().changed();
    News.tell(this, streams);
    News.tellFlows(this, flows);
    News.run(tasks);
    return unasked || !operations.isEmpty() || attention || (endReason != null && !ended);
  }

  /**
   * A peer that truncates the memory makes accesses fail late, somewhere in the thread: here,
   * before the thread does anything else or anybody is told. The access may have been to another
   * session's memory; then what this one has read is sound.
   *
   * <p>Called within the {@code try} that ends before the token is let go: the error may come up as
   * soon as the next method is entered.
   */
  private void verifyTouched() {
    if (touched) {
      touched = false;
      try {
        queuePair.memory().verify();
      } catch (Throwable t) {
        Faults.absorb(queuePair.memory(), t);
        if (isMemoryGone()) {
          failed(t);
        } else {
          poller.suspect(t);
        }
      }
    }
  }

  /** As the owner, after polls that have found nothing: nobody else looks after this thread. */
  final void verify() {
    touched = true;
    verifyTouched();
  }

  private boolean isMemoryGone() {
    try {
      touchAll();
      return false;
    } catch (InternalError e) {
      return true;
    }
  }

  private void touchAll() {
    probed = Faults.touch(queuePair.memory());
    for (final MemoryRegion region : reads.regions()) {
      probed += Faults.touch(region);
    }
    probed += bulk.touch();
  }

  /**
   * One round of the duty cycle; owner.
   *
   * @param poll false to leave the frames that came in to the next round.
   * @return how much was done.
   */
  final int work(boolean poll) {
    int done = 0;
    try {
      if (attention) {
        attention = false;
      }
      done += takeOperations();
      if (ended) {
        return done;
      }
      if (poll) {
        done += inbox.poll();
        done += reads.poll();
        done += expireDeadlines();
      }
      onRound();
      offerMemory();
      done += outbox.flush();
      touched |= !poll || done > 0; // of a poll that finds nothing, the poller takes care
      if (endReason != null) {
        endNow();
      }
    } catch (Throwable t) { // also InternalError: the peer took the memory away
      failed(t);
    }
    return done;
  }

  /**
   * Ends the session; owner. A fault of its memory comes up late, at the return of a method or the
   * end of a loop's round, and the compiler inlines: so whoever calls what touches the memory
   * catches it, though that catches it, too. The token would not be let go otherwise.
   */
  final void failed(Throwable t) {
    try {
      endFailed(t);
    } catch (Throwable again) {
      doom();
    }
  }

  /**
   * Ends the session in the poller's thread, as soon as that is possible: there is no memory to do
   * it here, or no stack. Allocates nothing. Any thread.
   */
  public final void doom() {
    requestEnd(NO_MEMORY);
    doomed = true;
    poller.alarm();
  }

  private void endFailed(Throwable t) {
    Faults.absorb(queuePair.memory(), t);
    if (ended) {
      Callbacks.report(t);
      return;
    }
    peerAtFault |= t instanceof InternalError; // it has truncated its file
    requestEnd("session failed: " + t);
    news.add(
        () ->
            System.getLogger(Session.class.getName())
                .log(System.Logger.Level.WARNING, "session with " + describe() + " failed", t));
    for (Stream stream = news.first(); stream != null; stream = stream.nextReady) {
      distrust(stream);
    }
    reads.distrust(news);
    news.distrustFlows();
    finish();
  }

  /** Where this throws, for want of memory, it is called again: what was done is not done twice. */
  private void finish() {
    touched = false;
    bulk.refuse(); // what the peer may still read is not given out again
    outbox.clear();
    reads.clear();
    onEnd();
    bulk.close();
    if (peerAtFault) {
      tally.set(Counter.SESSION_FAULTS_PEER, 1);
    }
    news.add(() -> tellEnd(endReason));
    ended = true;
    queuePair.close();
  }

  /** What is not counted as it happens; owner, before it lets go. */
  private void count() {
    tally.set(
        Counter.SESSION_BYTES_SENT, (writer.position() - writeStart) * FrameDescriptor.SLOT_LENGTH);
    tally.set(
        Counter.SESSION_BYTES_RECEIVED,
        (ring.position() - pollStart) * FrameDescriptor.SLOT_LENGTH);
    tally.set(Counter.SESSION_BYTES_QUEUED, outbox.queuedLength());
    tally.set(Counter.SESSION_BYTES_HELD, heldLength());
  }

  private int takeOperations() {
    int done = 0;
    if (asking == null) {
      asking = operations.takeAll();
    }
    while (asking != null) {
      final Stream stream = asking;
      asking = stream.nextOperation;
      stream.nextOperation = null;
      onOperations(stream, stream.takeOperations());
      done++;
    }
    return done;
  }

  private int expireDeadlines() {
    if (deadlines.earliestNs() == Stream.NO_DEADLINE) {
      return 0;
    }
    int done = 0;
    final long now = clock.nanoTime();
    Stream stream;
    while ((stream = deadlines.expire(now)) != null) {
      onDeadline(stream);
      done++;
    }
    return done;
  }

  /**
   * Makes the peer ring from now on; owner.
   *
   * @return false when there is something to do at once.
   */
  final boolean arm() {
    try {
      if (inbox.isArmed()) {
        return true;
      }
      if (!reads.isEmpty()) {
        return false;
      }
      missed = false; // what the poller came for is answered by the look that follows
      touched = true;
      if (!inbox.arm()) {
        return false;
      }
      if (outbox.isBlocked()) {
        outbox.flush();
      }
    } catch (Throwable t) {
      failed(t);
    }
    return true;
  }

  /** Stops the peer from ringing, because this thread polls; owner. */
  final void disarm() {
    if (ended) {
      return;
    }
    try {
      if (inbox.isArmed()) {
        touched = true;
        inbox.disarm();
      }
    } catch (Throwable t) {
      failed(t);
    }
  }

  /** Ends on the owner's side: what is committed first, then the rest is told. */
  private void endNow() {
    inbox.drain();
    reads.drain();
    untaken = writer.unconsumed();
    queuePair.memory().verify();
    finish();
  }

  /**
   * The poller's visit: one round, and what it brings is told.
   *
   * @param shared whether the thread serves other sessions, too: what they have left behind in it
   *     must come up before this one is changed, and comes out of here.
   */
  final int service(boolean shared) {
    if (!ownership.tryAcquire()) {
      return NOT_OWNER;
    }
    boolean clean = false;
    int done = 1;
    try {
      if (shared && !ended && hasWork()) { // once it has ended, this side is out of the memory
        queuePair.memory().verify();
      }
      clean = true;
      disarm();
      done = work(true);
      verifyTouched();
    } catch (Throwable t) { // see failed
      if (!clean) {
        ownership.release();
        throw t;
      }
      failed(t);
    }
    if (!releaseAndTell()) {
      return done;
    }
    if (ended) {
      drive(); // the poller forgets what has ended, and does not come back
    }
    return done + 1;
  }

  /** True when a round will do more than to look at an empty ring; owner. */
  private boolean hasWork() {
    return inbox.hasNext()
        || inbox.isArmed()
        || !operations.isEmpty()
        || !outbox.isEmpty()
        || deadlines.earliestNs() != Stream.NO_DEADLINE
        || !reads.isEmpty()
        || attention
        || endReason != null;
  }

  /**
   * Ends the session if its memory is not there any more. Called where the thread is in no session:
   * if it holds this one's token nevertheless, the fault came up on the way to its release.
   *
   * @return true when it was this one's.
   */
  final boolean probe() {
    if (!ownership.isMine() && (ended || !ownership.tryAcquire())) {
      return false; // whoever owns it looks before it leaves
    }
    try {
      touchAll();
    } catch (Throwable t) {
      failed(t);
    }
    final boolean found = ended;
    if (releaseAndTell()) {
      drive();
    }
    return found;
  }

  /**
   * As the poller, after an alarm: takes back a token that was left with this thread. What was left
   * undone is done in the round that follows.
   */
  final void recover() {
    doomed = false;
    if (ownership.isMine()) {
      requestEnd(NO_MEMORY);
      ownership.release();
    }
  }

  /**
   * The poller wants to stop polling.
   *
   * @return false when it must not: there is something to do, or nobody else would.
   */
  abstract boolean retire();

  /** The earliest deadline, as of the last release. */
  long earliestDeadlineNs() {
    return earliestDeadlineNs;
  }
}
