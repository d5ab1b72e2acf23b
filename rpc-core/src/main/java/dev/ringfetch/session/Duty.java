package dev.ringfetch.session;

import java.util.List;

/**
 * Who does a session's work, and until when. Any thread asks for something; whoever holds the
 * {@link Ownership} token does {@linkplain Session#work rounds} of the duty cycle until nothing is
 * owed, lets the token go, and tells what there is to tell.
 *
 * <p>A thread that stops polling while something is pending <em>arms</em> the session, unless the
 * poller polls it: it sets the sleep flag in the control line, fences fully, and looks at the ring
 * again. From then on the peer rings the doorbell, and the session's {@link Poller} comes back.
 */
final class Duty {
  /** {@link #service} found the session owned by another thread. */
  static final int NOT_OWNER = -1;

  private static final int LEAVE_TRIES = 16;

  private final Session session;
  private final Ownership ownership = new Ownership();
  private final OperationQueue operations = new OperationQueue();

  private Stream asking; // first of those that were taken out of the queue, and not heard yet

  private volatile boolean missed; // the poller came while another thread was about to leave
  private volatile boolean attention;

  /** Creates it when the session has everything else. */
  Duty(Session session) {
    this.session = session;
  }

  /** Asks the owner for something. The caller {@linkplain #drive drives} afterwards. */
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

  /** True when a round is asked for. Any thread. */
  private boolean owes() {
    return !operations.isEmpty() || attention || session.ending.isDue();
  }

  /** Hears what was asked for; owner, at the start of a round. */
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
   * Does what was asked for, unless another thread owns the session: then that one does. Neither
   * polls nor looks at deadlines: a callback that asks for something would find itself telling the
   * next callback, and so on.
   */
  void drive() {
    while (ownership.tryAcquire()) {
      boolean armed = true;
      try {
        session.work(false);
        armed = mayLeave();
        session.guard.verifyTouched();
      } catch (Throwable t) { // see Ending.failed
        session.ending.failed(t);
      }
      final boolean more = releaseAndTell();
      if (!armed) {
        session.poller.activateLater(session);
      }
      if (!more || session.ending.isPollers()) {
        return;
      }
    }
  }

  /** True when a thread may leave the session as it is; otherwise the poller has to come. */
  private boolean mayLeave() {
    if (session.outbox.isHeld()) {
      return session.outbox.isWatched();
    }
    return !session.delivery.isBehind()
        && (!session.mustArmToLeave() || session.isPolled() || arm());
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
   * Makes the peer ring from now on; owner.
   *
   * @return false when there is something to do at once.
   */
  boolean arm() {
    try {
      if (session.inbox.isArmed()) {
        return !session.inbox.isSettling();
      }
      if (!session.reads.isEmpty()) {
        return false;
      }
      missed = false; // what the poller came for is answered by the look that follows
      session.guard.touch();
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
   * As {@link #arm}, by the poller, which comes back while it cannot be had at once; owner.
   *
   * @return true when the peer rings from now on.
   */
  boolean settle() {
    try {
      return session.inbox.settle();
    } catch (Throwable t) {
      session.ending.failed(t);
    }
    return true;
  }

  /** Stops the peer from ringing, because this thread polls; owner. */
  void disarm() {
    if (session.ending.isOver()) {
      return;
    }
    try {
      if (session.inbox.isArmed()) {
        session.guard.touch();
        session.inbox.disarm();
      }
    } catch (Throwable t) {
      session.ending.failed(t);
    }
  }

  /**
   * Lets the token go, armed if frames are expected and nobody else polls, and tells what there is
   * to tell.
   *
   * @return true when something was asked for meanwhile, so that the caller should drive.
   */
  boolean leave() {
    int tries = 0;
    try {
      if (missed && !look()) {
        session.poller.activateLater(session);
      }
      while (!mayLeave()) {
        // Behind a card the poller waits; else it is half a frame, whose rest may never come.
        if (!session.loadStore || ++tries > LEAVE_TRIES) {
          session.poller.activateLater(session);
          break;
        }
        session.work(true);
      }
      session.guard.verifyTouched();
    } catch (Throwable t) { // see Ending.failed
      session.ending.failed(t);
    }
    return releaseAndTell();
  }

  /**
   * Does what the poller came for, until a round finds nothing: called back, the poller would find
   * the next owner; owner. Disarmed, since the peer rings once for what it writes in one sleep.
   *
   * @return false when there may be more.
   */
  private boolean look() {
    session.outbox.watched(false); // it has gone
    if (session.loadStore) {
      disarm(); // another thread may have armed since this one has polled
    }
    for (int rounds = 0; rounds < LEAVE_TRIES; rounds++) {
      missed = false;
      session.guard.touch();
      if (session.work(true) == 0) {
        return true;
      }
    }
    return false;
  }

  /** Has the owner look once more before it leaves, as if the poller had come. */
  void lookBeforeLeaving() {
    missed = true;
  }

  /**
   * Lets the token go, and tells what there is to tell.
   *
   * @return true when something was asked for meanwhile.
   */
  boolean releaseAndTell() {
    final boolean earlier;
    final Stream streams;
    final List<Stream> flows;
    final List<Runnable> tasks;
    boolean taken = false;
    boolean unasked = false;
    try {
      session.guard.verifyTouched();
      session.count();
      unasked = asking != null;
      earlier = session.earliest.publish(earliestNs());
      flows = session.news.takeFlows();
      streams = session.news.takeStreams();
      tasks = session.news.takeTasks();
      taken = true;
    } finally {
      ownership.release(); // come what may: a token that is kept is a session that hangs
      if (!taken) {
        session.poller.alarm();
      }
    }
    if (earlier) {
      session.poller.onEarlierDeadline(session.earliest);
    }
    if (missed) {
      missed = false;
      session.poller.activateLater(session);
    }
    session.poller.counters().changed();
    News.tell(session, streams);
    News.tellFlows(session, flows);
    News.run(tasks);
    return unasked || owes();
  }

  /** When a round is due without anything that comes in. */
  private long earliestNs() {
    return Math.min(session.deadlines.earliestNs(), session.headWatch.dueNs());
  }

  /**
   * The poller's visit: one round, and what it brings is told.
   *
   * @param shared whether the thread polls other sessions, too: what they have left behind in it
   *     must come up before this one is changed, and comes out of here.
   */
  int service(boolean shared) {
    if (!ownership.tryAcquire()) {
      return NOT_OWNER;
    }
    boolean clean = false;
    int done = 1;
    try {
      if (shared
          && !session.ending.isOver()
          && hasWork()) { // afterwards this side is out of the memory
        session.queuePair.memory().verify();
      }
      clean = true;
      if (session.loadStore || !session.inbox.isSettling()) {
        disarm();
      }
      done = session.work(true);
      session.outbox.watched(true);
      session.guard.verifyTouched();
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
      drive(); // the poller forgets what has ended, and does not come back
    }
    return done + 1;
  }

  /** True when a round will do more than to look at an empty ring; owner. */
  private boolean hasWork() {
    return session.inbox.hasNext()
        || session.inbox.isArmed()
        || !session.outbox.isEmpty()
        || earliestNs() != Stream.NO_DEADLINE
        || !session.reads.isEmpty()
        || owes();
  }

  /**
   * Ends the session if its memory is not there any more. Called where the thread is in no session:
   * if it holds this one's token nevertheless, the fault came up on the way to its release.
   *
   * @return true when it was this one's.
   */
  boolean probe() {
    if (!ownership.isMine() && (session.ending.isOver() || !ownership.tryAcquire())) {
      return false; // whoever owns it looks before it leaves
    }
    try {
      session.guard.probe();
    } catch (Throwable t) {
      session.ending.failed(t);
    }
    final boolean found = session.ending.isOver();
    if (releaseAndTell()) {
      drive();
    }
    return found;
  }

  /**
   * As the poller, after an alarm: takes back a token that was left with this thread. What was left
   * undone is done in the round that follows.
   */
  void recover() {
    final boolean abandoned = ownership.isMine();
    session.ending.recover(abandoned);
    if (abandoned) {
      ownership.release();
    }
  }
}
