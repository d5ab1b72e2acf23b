package dev.ringfetch.session;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Kind;
import dev.ringfetch.counters.Tally;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.ring.RingPoller;
import dev.ringfetch.ring.RingWriter;
import dev.ringfetch.session.bulk.BulkPath;
import dev.ringfetch.session.bulk.BulkPool;
import dev.ringfetch.session.bulk.MemoryExchange;
import dev.ringfetch.session.carrier.Carrier;
import dev.ringfetch.session.carrier.CarrierParts;
import dev.ringfetch.session.carrier.Delivery;
import dev.ringfetch.session.carrier.Inbox;
import dev.ringfetch.session.carrier.RingPair;
import dev.ringfetch.session.carrier.SendingTurn;
import dev.ringfetch.session.owner.OwnedBy;
import dev.ringfetch.session.poller.DeadlineQueue;
import dev.ringfetch.session.poller.InlineTask;
import dev.ringfetch.session.poller.Poller;
import dev.ringfetch.session.poller.PollerEntry;
import dev.ringfetch.session.remote.Carriers;
import dev.ringfetch.session.unit.BulkReads;
import dev.ringfetch.session.unit.Unit;
import org.agrona.concurrent.NanoClock;
import org.jspecify.annotations.Nullable;

/**
 * One side of a session: serves its ends of two rings in rounds, without a thread of its own.
 *
 * <p>The state of a session belongs to the thread that holds its token, which {@link SessionDriver}
 * decides. No user code runs while a thread holds the token: notifications are queued, and
 * delivered afterwards.
 */
public abstract class Session {
  final QueuePair queuePair;
  final RingWriter writer;
  final RingPoller ring;
  final Poller poller;
  final NanoClock clock;
  final Delivery delivery;
  final Inbox inbox;
  final Outbox outbox;
  final BulkReads<Stream> reads;
  final BulkPool bulk;
  final MemoryExchange exchange;
  final Windows windows;
  final MemoryGuard memoryGuard;
  final Ending ending;
  final SessionDriver driver;
  final DeadlineQueue<Stream> deadlines = new DeadlineQueue<>();
  final Notifications notifications = new Notifications(this::tell, this::tellFlow);
  final Tally tally = new Tally(Kind.SESSION);
  final long spinNs;
  final RingEvents events = new RingEvents(this);
  final Carrier carrier;
  final SendingTurn turn;
  public final PollerEntry entry;
  private final long writeStart;
  private final long pollStart;

  Session(RingPair rings, boolean longReads, Poller poller, SessionContext context) {
    this.queuePair = rings.queuePair();
    this.writer = rings.writer();
    this.ring = rings.poller();
    this.poller = poller;
    this.clock = context.clock();
    this.spinNs = context.spinNs();
    this.writeStart = writer.position();
    this.pollStart = ring.position();
    final var parts = new CarrierParts(rings, events, clock, tally);
    this.carrier = Carriers.create(parts, context);
    this.inbox = carrier.inbox();
    this.delivery = carrier.delivery();
    this.turn = carrier.turn();
    this.driver = new SessionDriver(this);
    this.entry = new PollerEntry(driver, queuePair.memory(), carrier.timetable());
    this.outbox = new Outbox(this, rings);
    final var path = new BulkPath(queuePair, rings.completions(), longReads);
    this.reads =
        new BulkReads<>(
            this::onRead,
            tally,
            rings.ownControl(),
            path.window(),
            context.bulkQuota().arrays(),
            context.bulkSegmentLength());
    final var memory = new SessionMemory(this);
    this.bulk = new BulkPool(memory, path, context);
    this.exchange = new MemoryExchange(memory, bulk, path, context.bulkQuota());
    this.windows = new Windows(outbox);
    this.memoryGuard = new MemoryGuard(this);
    this.ending = new Ending(this);
  }

  /** The poller that serves this session. */
  public Poller poller() {
    return poller;
  }

  /** Adds this session to its poller. */
  public void serve() {
    poller.add(entry);
  }

  /** Offers the poller a task: see {@link Poller#offer}. */
  public boolean offer(InlineTask task) {
    return poller.offer(entry, task);
  }

  /** The time of this session's clock, in nanoseconds. */
  public long nanoTime() {
    return clock.nanoTime();
  }

  /** One line for messages: the fabric and the peer. */
  public String describe() {
    return queuePair.peer();
  }

  /** Returns the value of one of the session's counters. Any thread. */
  public final long count(Counter counter) {
    return tally.get(counter);
  }

  /** True when the session has ended: nothing can be sent any more. */
  public boolean hasEnded() {
    return ending.reason() != null;
  }

  /** Why the session has ended; null while it has not. */
  public @Nullable String endReason() {
    return ending.reason();
  }

  /** True when the session ended because the peer broke a rule. */
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

  /** The memory out of which the peer reads long messages. */
  public BulkPool bulk() {
    return bulk;
  }

  /** Sends a unit of a flow, after those before and as the window allows. Never blocks. */
  public final void write(Stream stream, Unit unit) {
    stream.flow.offer(unit);
    driver.submit(stream, Stream.WRITE);
    driver.drive();
  }

  /** Called when the call of a flow has finished with an inbound unit. One thread at a time. */
  public final void consumed(Stream stream, Unit unit) {
    if (stream.flow.consume(unit) || reportsAll()) {
      driver.submit(stream, Stream.CONSUMED);
      driver.drive();
    }
  }

  /** Ends the session. Any thread; committed frames are still delivered, the other calls fail. */
  public final void end(String reason) {
    ending.request(reason);
    driver.drive();
  }

  /**
   * Ends the session on the poller's thread, as soon as possible, because this thread lacks the
   * memory or the stack to do it. Allocates nothing. Any thread.
   */
  public final void doom() {
    ending.doom();
  }

  /**
   * Does one round.
   *
   * @param poll false to leave the frames that came in to the next round.
   * @return how much was done.
   */
  @OwnedBy("session")
  final int work(boolean poll) {
    int done = 0;
    queuePair.cork();
    try {
      done += driver.takeOperations();
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
      inbox.endRound();
      reads.post();
      if (!poll || done > 0) { // after a poll that finds nothing, the poller verifies
        memoryGuard.touch();
      }
      if (ending.isDue()) {
        ending.end();
      }
    } catch (Throwable t) { // also InternalError: the peer took the memory away
      ending.failed(t);
    } finally {
      queuePair.uncork(); // the device is told at once of what one round posts
    }
    return done;
  }

  /** Counts events that are not counted as they happen, before the owner releases the token. */
  @OwnedBy("session")
  final void count() {
    tally.set(
        Counter.SESSION_BYTES_SENT, (writer.position() - writeStart) * FrameDescriptor.SLOT_LENGTH);
    tally.set(
        Counter.SESSION_BYTES_RECEIVED,
        (ring.position() - pollStart) * FrameDescriptor.SLOT_LENGTH);
    tally.set(Counter.SESSION_BYTES_QUEUED, outbox.queuedLength());
    tally.set(Counter.SESSION_FRAMES_TORN, ring.torn());
    tally.set(Counter.SESSION_LINES_SENT, delivery.ownControl.publications());
    inbox.count();
    delivery.count();
    tally.set(Counter.SESSION_BYTES_HELD, heldLength());
  }

  private int expireDeadlines() {
    carrier.look();
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
    return entry.publishedDeadlineNs();
  }

  /** Creates a frame of the session itself, without a call. */
  abstract Stream notice(int id, int flags, int code);

  /** Handles a frame that concerns the session. False when no peer may write it. */
  @OwnedBy("session")
  abstract boolean onSessionFrame(int flags);

  /** True when each consumed message is reported, not only what the peer should be told. */
  boolean reportsAll() {
    return false;
  }

  /**
   * True when a unit may begin now; otherwise its first frame, with all behind it, stays in the
   * ring. The peer may change these values until the frame is handled.
   *
   * @param total length of the unit in bytes, as announced.
   */
  @OwnedBy("session")
  boolean mayBegin(int streamId, int flags, int total) {
    return true;
  }

  /**
   * Handles a frame of a stream. False when no peer may write it. See {@link
   * RingPoller.FrameHandler}.
   */
  @OwnedBy("session")
  abstract boolean onStreamFrame(
      int streamId, int flags, int code, MemoryRegion region, int offset, int length);

  /** Called when all reads that a unit of this stream has waited for are done. */
  @OwnedBy("session")
  abstract void onRead(Stream stream);

  /** Called when the session ends before a unit of this stream was read. */
  @OwnedBy("session")
  void onReadLost(Stream stream) {}

  /** Handles the operations that a stream has requested. */
  @OwnedBy("session")
  abstract void onOperations(Stream stream, int asked);

  /** Called when the last byte of a stream's unit, or its header-only frame, is in the ring. */
  @OwnedBy("session")
  abstract void onSent(Stream stream);

  /** Called when a stream's deadline has passed. It is out of the queue. */
  @OwnedBy("session")
  abstract void onDeadline(Stream stream);

  /** Tells every stream that the session has ended. */
  @OwnedBy("session")
  abstract void onEnd();

  /** Does the work of this side in every round. */
  @OwnedBy("session")
  abstract void onRound();

  /** Called when there is no room for a frame. Clients then ask for longer rings. */
  @OwnedBy("session")
  void onOutboundFull() {}

  /** Called when the peer has no room for a frame, as its line says. */
  @OwnedBy("session")
  void onInboundFull() {}

  /** Drops the inbound unit of a stream in the notifications, because the memory was taken away. */
  @OwnedBy("session")
  abstract void distrust(Stream ready);

  /** Notifies the call of a stream; without ownership. */
  abstract void tell(Stream stream);

  /** Notifies the call of a flow of changes; without ownership. */
  abstract void tellFlow(Stream stream);

  /** The name of this side, for messages. */
  abstract String side();

  /** Bytes of inbound units that this side keeps in memory. */
  @OwnedBy("session")
  long heldLength() {
    return 0;
  }

  /** Notifies the session's listener of the end; without ownership. Called once. */
  abstract void tellEnd(String reason);

  /**
   * True when a thread that leaves must arm the session unless the poller polls it, because the
   * peer owes it frames.
   */
  @OwnedBy("session")
  abstract boolean mustArmToLeave();

  /** True when other threads than the poller's poll the session while they own it. */
  abstract boolean isPolledByCallers();

  /**
   * Called when the poller wants to stop polling.
   *
   * @return false when it must not, because there is work that no other thread would do.
   */
  abstract boolean retire();
}
