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
import org.agrona.concurrent.NanoClock;

/**
 * One side of a session: a duty cycle over its end of two rings, without a thread of its own.
 *
 * <p>What there is of a session belongs to the holder of its token: {@link Duty} says who that is.
 * No code of the user runs while a thread holds the token: what there is to tell is chained up, and
 * told afterwards.
 */
public abstract class Session implements QueuePair.Listener, RingPoller.FrameHandler {
  final QueuePair queuePair;
  final RingWriter writer;
  final RingPoller ring;
  final Poller poller;
  final NanoClock clock;
  final Delivery delivery;
  final Inbox inbox;
  final Outbox outbox;
  final Reads reads;
  final BulkPool bulk;
  final MemoryExchange exchange;
  final Windows windows;
  final Guard guard;
  final HeadWatch headWatch;
  final Ending ending;
  final Duty duty;
  final ReplyChoice choice; // null: the mode is given
  final FetchPace pace; // null: this side never reads
  final ClientTurn turn; // null: this side sends at any time
  final DeadlineQueue<Stream> deadlines = new DeadlineQueue<>();
  final EarliestDeadline earliest = new EarliestDeadline(this);
  final News news = new News();
  final Tally tally = new Tally(Kind.SESSION);
  final long spinNs;
  final boolean loadStore; // both sides load and store one memory

  /**
   * Set while the poller looks here in every round. In shared memory it is cleared before the
   * poller, as the owner, looks for the last time: who leaves the session while it is set need not
   * arm it, since the poller comes later than that, or finds the token taken and is {@linkplain
   * Duty#tryAcquireOrBeMissed called back}. Behind a card it says no more than that.
   */
  volatile boolean polled;

  private final long writeStart;
  private final long pollStart;

  // The poller's, not the owner's.
  int place; // among the poller's sessions
  boolean active;
  boolean settling; // as of its last visit
  boolean resting; // and for so long that it may sleep meanwhile
  long lastWorkNs;
  InlineTask firstInLine; // of those to be run inline, or null
  InlineTask lastInLine;
  Session nextInLine; // after this one's turn
  boolean awaitsTurn; // as of its last visit: output waits for a turn
  long nextTurnNs;
  volatile long lingerNs; // how long it is polled at the least, after something came
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
    this.loadStore = queuePair.capabilities().loadStore();
    if (rings.fetcher() == null) {
      this.delivery =
          loadStore ? new StoreDelivery(tally, rings, clock) : new ServerDelivery(tally, rings);
      this.inbox = new PollingInbox(this, rings);
      this.choice = null;
      this.pace = null;
      this.turn = null;
    } else {
      final boolean chooses = context.replyPolicy() == ReplyPolicy.ADAPTIVE;
      final ClientDelivery written = new ClientDelivery(tally, rings);
      this.delivery = written;
      this.choice = chooses ? new ReplyChoice(clock, context.replyTrialCalls(), pollStart) : null;
      this.pace = new FetchPace(clock, tally);
      this.turn = new ClientTurn(rings.peerControl(), clock, tally);
      this.inbox = new FetchingInbox(this, rings, written, context);
    }
    this.outbox = new Outbox(this, rings);
    this.reads = new Reads(this, rings, context);
    this.bulk = new BulkPool(this, queuePair, context);
    this.exchange = new MemoryExchange(this);
    this.windows = new Windows(outbox);
    this.guard = new Guard(this);
    this.headWatch = new HeadWatch(this);
    this.ending = new Ending(this);
    this.duty = new Duty(this);
  }

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
    return ending.reason() != null;
  }

  /** Why the session has ended, or null. */
  public String endReason() {
    return ending.reason();
  }

  /** True when the session ended by what no peer does that is in order. */
  public boolean isPeerAtFault() {
    return ending.isPeerAtFault();
  }

  /** Position of the ring that this side writes, in slots: it grows by one per small frame. */
  public long writePosition() {
    return writer.position();
  }

  /** Position of the ring that this side polls, in slots. */
  public long pollPosition() {
    return ring.position();
  }

  /** Memory out of which the peer reads long messages. */
  public BulkPool bulk() {
    return bulk;
  }

  /** Sends a unit of a flow, after those before and as the window allows. Never blocks. */
  public final void write(Stream stream, Unit unit) {
    stream.flow.offer(unit);
    duty.submit(stream, Stream.WRITE);
    duty.drive();
  }

  /** The call of a flow has done with a unit that came in. One thread at a time. */
  public final void consumed(Stream stream, Unit unit) {
    if (stream.flow.consume(unit)) {
      duty.submit(stream, Stream.CONSUMED);
      duty.drive();
    }
  }

  /** Ends the session. Any thread; what is committed is still delivered, the rest fails. */
  public final void end(String reason) {
    ending.request(reason);
    duty.drive();
  }

  /**
   * Ends the session in the poller's thread, as soon as that is possible: there is no memory to do
   * it here, or no stack. Allocates nothing. Any thread.
   */
  public final void doom() {
    ending.doom();
  }

  @Override
  public final boolean onFrame(
      int streamId, int flags, int code, int ack, MemoryRegion region, int offset, int length) {
    tally.add(Counter.SESSION_FRAMES_RECEIVED, 1);
    if (!writer.onAck(ack)) {
      return false;
    }
    if (streamId == SESSION_STREAM_ID) {
      return flags == BULK ? exchange.onFrame(code, region, offset, length) : onSessionFrame(flags);
    }
    if ((flags & BULK) != 0 && !reads.add(exchange.regions(), region, offset, length)) {
      return false;
    }
    return onStreamFrame(streamId, flags, code, region, offset, length);
  }

  @Override
  public final void onDoorbell() {
    tally.add(Counter.SESSION_WAKEUPS_RECEIVED, 1);
    headWatch.onRing();
    poller.activate(this);
  }

  @Override
  public final void onDisconnected(String reason) {
    end(reason);
  }

  /**
   * One round of the duty cycle; owner.
   *
   * @param poll false to leave the frames that came in to the next round.
   * @return how much was done.
   */
  final int work(boolean poll) {
    int done = 0;
    if (!loadStore) {
      queuePair.cork();
    }
    try {
      done += duty.takeOperations();
      if (ending.isOver()) {
        return done;
      }
      if (poll) {
        done += inbox.poll();
        done += reads.poll();
        done += expireDeadlines();
      }
      onRound();
      exchange.offer();
      done += outbox.flush();
      if (!loadStore) {
        inbox.endRound();
      }
      if (!poll || done > 0) { // of a poll that finds nothing, the poller takes care
        guard.touch();
      }
      if (ending.isDue()) {
        ending.end();
      }
    } catch (Throwable t) { // also InternalError: the peer took the memory away
      ending.failed(t);
    } finally {
      if (!loadStore) {
        queuePair.uncork(); // what one round posts, the device is told at once
      }
    }
    return done;
  }

  /** What is not counted as it happens; owner, before it lets go. */
  final void count() {
    tally.set(
        Counter.SESSION_BYTES_SENT, (writer.position() - writeStart) * FrameDescriptor.SLOT_LENGTH);
    tally.set(
        Counter.SESSION_BYTES_RECEIVED,
        (ring.position() - pollStart) * FrameDescriptor.SLOT_LENGTH);
    tally.set(Counter.SESSION_BYTES_QUEUED, outbox.queuedLength());
    if (!loadStore) {
      tally.set(Counter.SESSION_FRAMES_TORN, ring.torn());
      tally.set(Counter.SESSION_LINES_SENT, delivery.ownControl.publications());
      inbox.count();
      delivery.count();
    }
    tally.set(Counter.SESSION_BYTES_HELD, heldLength());
  }

  private int expireDeadlines() {
    headWatch.look();
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

  /** The earliest deadline, as of the last release. Any thread. */
  long earliestDeadlineNs() {
    return earliest.publishedNs();
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

  /** There is no room for a frame; owner. Clients ask for longer rings. */
  void onOutboundFull() {}

  /** The peer has no room for a frame, as its line says; owner. */
  void onInboundFull() {}

  /** The timetable of this side's sessions; null when there is none. */
  Turns turns() {
    return null;
  }

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

  /** Tells the end of the session to whoever keeps it; owns nothing. Called once. */
  abstract void tellEnd(String reason);

  /**
   * True when a thread that leaves must arm the session unless the poller {@linkplain #isPolled
   * polls it}, because the peer owes it frames; owner.
   */
  abstract boolean mustArmToLeave();

  /** True when a poller will look by itself. Behind a card it may sleep between looks. */
  final boolean isPolled() {
    return loadStore && polled;
  }

  /**
   * The poller wants to stop polling.
   *
   * @return false when it must not: there is something to do, or nobody else would.
   */
  abstract boolean retire();
}
