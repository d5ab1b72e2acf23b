package dev.ringfetch.session;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.session.owner.OwnedBy;
import dev.ringfetch.session.poller.OwnerToken;
import dev.ringfetch.session.poller.PolledSession;
import dev.ringfetch.session.poller.Poller;
import java.util.List;

/**
 * The scheduler of a session's work: decides which thread does it, and until when. Any thread
 * submits operations; the thread that holds the {@link OwnerToken} does {@linkplain Session#work
 * rounds} until none are left, releases the token, and delivers the notifications.
 *
 * <p>A thread that stops polling while something is pending <em>arms</em> the session, unless the
 * poller polls it: it sets the sleep flag in the control line, fences fully, and looks at the ring
 * again. From then on the peer rings the doorbell, and the session's {@link Poller} comes back.
 */
final class SessionDriver implements PolledSession {
  private static final int LEAVE_TRIES = 16;

  /** Rounds of a thread for others' operations, 100 us or so: then the poller goes on. */
  private static final int MAX_ROUNDS = 64;

  private final Session session;
  private final FabricEvents events;
  private final OwnerToken ownership = new OwnerToken();
  private final OperationQueue operations = new OperationQueue();

  // first of the streams that were taken out of the queue, and not handled yet
  private Stream asking;

  private volatile boolean missed; // the poller came while another thread was about to leave
  private volatile boolean attention;

  /** Creates the driver, as the last part of the session. */
  SessionDriver(Session session) {
    this.session = session;
    this.events = new FabricEvents(session);
  }

  /** Submits an operation to the owner. The caller {@linkplain #drive drives} afterwards. */
  void submit(Stream stream, int operation) {
    if (stream.request(operation)) {
      operations.add(stream);
    }
  }

  /** Asks for a round, in which {@link Session#onRound} sees what was set before. Any thread. */
  void requestRound() {
    attention = true;
    drive();
  }

  /** True when a round is requested. Any thread. */
  private boolean owes() {
    return !operations.isEmpty() || attention || session.ending.isDue();
  }

  /** Handles submitted operations, at the start of a round. */
  @OwnedBy("session")
  int takeOperations() {
    if (attention) {
      attention = false;
    }
    int done = 0;
    if (asking == null) {
      asking = operations.takeAll();
    }
    while (asking != null) {
      final Stream stream = asking;
      asking = stream.nextOperation;
      stream.nextOperation = null;
      session.onOperations(stream, stream.takeOperations());
      done++;
    }
    return done;
  }

  /**
   * Does the submitted operations, unless another thread owns the session and so does them. Neither
   * polls nor looks at deadlines: otherwise a callback that submits an operation would deliver the
   * next callback, and so on. After {@link #MAX_ROUNDS} rounds the poller does what others have
   * submitted meanwhile.
   */
  void drive() {
    for (int rounds = 1; ownership.tryAcquire(); rounds++) {
      boolean armed = true;
      try {
        session.work(false);
        armed = mayLeave();
        session.memoryGuard.verifyTouched();
      } catch (Throwable t) { // see Ending.failed
        session.ending.failed(t);
      }
      final boolean more = releaseAndTell();
      if (!armed) {
        session.poller.activateLater(session.entry);
      }
      if (!more || session.ending.isPollers()) {
        return;
      }
      if (rounds >= MAX_ROUNDS && !session.ending.isOver()) { // the poller forgets ended sessions
        session.poller.activateLater(session.entry);
        return;
      }
    }
  }

  /** True when a thread may leave the session as it is; otherwise the poller has to come. */
  private boolean mayLeave() {
    if (session.turn.isHolding()) {
      return session.turn.isWatched();
    }
    return !session.delivery.isBehind() && (!session.mustArmToLeave() || isPolled() || arm());
  }

  /**
   * True when the poller will look without being called. Behind a card it may sleep between looks.
   */
  private boolean isPolled() {
    return session.carrier.armsAtOnce() && session.entry.isPolled();
  }

  boolean tryAcquire() {
    return ownership.tryAcquire();
  }

  /**
   * The poller's attempt to take the token before it sleeps. If it fails, the holder sees, before
   * its release or after, that the poller was here: it may have armed the session already, and the
   * ring that it armed for may be the one that the poller came for.
   */
  boolean tryAcquireOrBeMissed() {
    if (ownership.tryAcquire()) {
      return true;
    }
    missed = true;
    return ownership.tryAcquire();
  }

  /**
   * Makes the peer ring from now on.
   *
   * @return false when there is something to do at once.
   */
  @OwnedBy("session")
  boolean arm() {
    try {
      if (session.inbox.isArmed()) {
        return !session.inbox.isSettling();
      }
      if (!session.reads.isEmpty()) {
        return false;
      }
      missed = false; // the look that follows finds what the poller came for
      session.memoryGuard.touch();
      if (!session.inbox.arm()) {
        return false;
      }
      if (session.outbox.isBlocked()) {
        session.outbox.flush();
        session.delivery.flush();
      }
      return !session.delivery.isBehind();
    } catch (Throwable t) {
      session.ending.failed(t);
    }
    return true;
  }

  /**
   * As {@link #arm}, for the poller, which comes back while arming takes time.
   *
   * @return true when the peer rings from now on.
   */
  @OwnedBy("session")
  boolean settle() {
    try {
      return session.reads.isEmpty() && session.inbox.settle();
    } catch (Throwable t) {
      session.ending.failed(t);
    }
    return true;
  }

  /** Stops the peer from ringing, because this thread polls. */
  @OwnedBy("session")
  void disarm() {
    if (session.ending.isOver()) {
      return;
    }
    try {
      if (session.inbox.isArmed()) {
        session.memoryGuard.touch();
        session.inbox.disarm();
      }
    } catch (Throwable t) {
      session.ending.failed(t);
    }
  }

  /**
   * Releases the token, armed if frames are expected and no other thread polls, and delivers the
   * notifications.
   *
   * @return true when operations were submitted meanwhile, so that the caller should drive.
   */
  boolean leave() {
    int tries = 0;
    try {
      if (missed && !look()) {
        session.poller.activateLater(session.entry);
      }
      while (!mayLeave()) {
        // Behind a card the poller waits; else it is half a frame, and the rest of it may never
        // come.
        if (!session.carrier.armsAtOnce() || ++tries > LEAVE_TRIES) {
          session.poller.activateLater(session.entry);
          break;
        }
        session.work(true);
      }
      session.memoryGuard.verifyTouched();
    } catch (Throwable t) { // see Ending.failed
      session.ending.failed(t);
    }
    return releaseAndTell();
  }

  /**
   * Does rounds in place of the poller, until one finds nothing, because the poller, if called
   * back, might find the next owner. Disarmed, since the peer rings only once for one sleep.
   *
   * @return false when there may be more.
   */
  @OwnedBy("session")
  private boolean look() {
    session.turn.watched(false); // the poller has gone
    if (session.carrier.armsAtOnce()) {
      disarm(); // another thread may have armed after this one's poll
    }
    for (int rounds = 0; rounds < LEAVE_TRIES; rounds++) {
      missed = false;
      session.memoryGuard.touch();
      if (session.work(true) == 0) {
        return true;
      }
    }
    return false;
  }

  /** Makes the owner look once more before it leaves, as if the poller had come. */
  void lookBeforeLeaving() {
    missed = true;
  }

  /**
   * Releases the token, and delivers the notifications.
   *
   * @return true when operations were submitted meanwhile.
   */
  boolean releaseAndTell() {
    final boolean earlier;
    final Stream streams;
    final List<Stream> flows;
    final List<Runnable> tasks;
    boolean taken = false;
    boolean unasked = false;
    try {
      session.memoryGuard.verifyTouched();
      session.count();
      unasked = asking != null;
      earlier = session.entry.publishDeadline(earliestNs());
      flows = session.notifications.takeFlows();
      streams = session.notifications.takeStreams();
      tasks = session.notifications.takeTasks();
      taken = true;
    } finally {
      ownership.release(); // in any case: a session with a lost token hangs
      if (!taken) {
        session.poller.alarm();
      }
    }
    if (earlier) {
      session.poller.onEarlierDeadline(session.entry);
    }
    if (missed) {
      missed = false;
      session.poller.activateLater(session.entry);
    }
    session.poller.counters().changed();
    session.notifications.tell(streams);
    session.notifications.tellFlows(flows);
    Notifications.run(tasks);
    return unasked || owes();
  }

  /** The time at which a round is due even if nothing comes in. */
  private long earliestNs() {
    return Math.min(session.deadlines.earliestNs(), session.carrier.lookDueNs());
  }

  @Override
  public int service(boolean shared) {
    if (!ownership.tryAcquire()) {
      return session.isPolledByCallers() ? NOT_OWNER : 0;
    }
    boolean clean = false;
    int done = 1;
    try {
      if (shared
          && !session.ending.isOver()
          && hasWork()) { // afterwards this side does not use the memory
        session.queuePair.memory().verify();
      }
      clean = true;
      if (!session.inbox.isSettling()) {
        disarm();
      }
      done = session.work(true);
      session.turn.watched(true);
      session.memoryGuard.verifyTouched();
    } catch (Throwable t) { // see Ending.failed
      if (!clean) {
        ownership.release();
        throw t;
      }
      session.ending.failed(t);
    }
    if (!releaseAndTell()) {
      return done;
    }
    if (session.ending.isOver()) {
      drive(); // the poller forgets ended sessions, and does not come back
    }
    return done + 1;
  }

  /** True when a round will do more than look at an empty ring. */
  @OwnedBy("session")
  private boolean hasWork() {
    return session.inbox.hasNext()
        || session.inbox.isArmed()
        || !session.outbox.isEmpty()
        || earliestNs() != Stream.NO_DEADLINE
        || !session.reads.isEmpty()
        || owes();
  }

  @Override
  public boolean probe() {
    if (!ownership.isMine() && (session.ending.isOver() || !ownership.tryAcquire())) {
      return false; // the owner looks before it leaves
    }
    try {
      session.memoryGuard.probe();
    } catch (Throwable t) {
      session.ending.failed(t);
    }
    final boolean found = session.ending.isOver();
    if (releaseAndTell()) {
      drive();
    }
    return found;
  }

  @Override
  public void recover() {
    final boolean abandoned = ownership.isMine();
    session.ending.recover(abandoned);
    if (abandoned) {
      ownership.release();
    }
  }

  @Override
  public void bind() {
    session.queuePair.bind(events);
  }

  @Override
  public boolean retire() {
    if (session.carrier.armsAtOnce()) { // else it may be polled on
      // first: a thread that leaves from here on arms, or sees that the poller was here
      session.entry.lastLook();
    }
    return session.retire();
  }

  @Override
  public void end(String reason) {
    session.end(reason);
  }

  @Override
  public long earliestDeadlineNs() {
    return session.earliestDeadlineNs();
  }

  @Override
  public String label() {
    return session.side() + " " + session.describe();
  }

  @Override
  public long count(Counter counter) {
    return session.count(counter);
  }
}
