package dev.ringfetch.session.remote;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.ring.RingFetcher;
import dev.ringfetch.ring.RingWriter;
import dev.ringfetch.session.carrier.CarrierParts;
import dev.ringfetch.session.carrier.Inbox;
import org.jspecify.annotations.Nullable;

/**
 * The inbox of a client that cannot load from the server's memory: reads the ring there, or polls
 * the copy of it that the server pushes. With datagrams it waits for {@link Hints} before it reads.
 *
 * <p>Before it sleeps, it writes that it does, and reads the ring once more: frames that this read
 * misses were stored after the server could see the client's words, so the server pushes them and
 * rings. The round trip takes some time, in which the inbox is <em>settling</em>. With {@link
 * ReplyChoice} it <em>turns</em> from one way to the other in the same manner, but continues as
 * usual meanwhile: a frame that comes both ways counts once.
 */
public final class FetchingInbox extends Inbox {
  private static final int LINE_INTERVAL = 8; // reads that bring nothing new of the server's line
  private static final int LINE_MISSES = 4; // in a row, until it is read: mostly, an answer comes

  /** How far it is on its way to sleep. */
  private enum State {
    AWAKE,
    /** The server is told, and a read has to follow. */
    TOLD,
    /** That read is under way. */
    LOOKING,
    /** It has found nothing. */
    LOOKED,
    /** The server rings. */
    SETTLED
  }

  private final ClientDelivery toServer;
  private final RingFetcher fetcher;
  private final RingWriter writer;
  private final @Nullable Hints hints;
  private final @Nullable ReplyChoice choice; // null: the mode is given
  private final FetchPace pace;
  private final ClientTurn turn;

  private State state = State.AWAKE;
  private boolean fetches; // while awake
  private boolean turning; // from fetching to being pushed to: a read has yet to find nothing
  private boolean last; // the read under way was posted after the server was told
  private long toldAt; // position of the other ring; a side that writes on is awake
  private int misses; // in a row
  private int sinceLine; // reads
  private long lastConsumed;
  private boolean full; // there was no room for the read

  FetchingInbox(CarrierParts parts, FetchingParts fetching) {
    super(parts, fetching.delivery);
    this.toServer = fetching.delivery;
    this.fetcher = parts.rings().fetcher();
    this.writer = parts.rings().writer();
    this.choice = fetching.choice;
    this.fetches = fetching.fetches;
    this.hints = fetching.hints;
    this.pace = fetching.pace;
    this.turn = fetching.turn;
    toServer.fetching(fetches);
  }

  @Override
  public int poll() {
    turn.look();
    int frames = taken(ring.poll(session, POLL_LIMIT));
    if (hints != null) {
      frames += taken(hints.take());
    }
    if ((fetcher.isPending() || full || toServer.isBehind()) && fetcher.poll()) {
      frames += onFetched();
    }
    if (frames > 0) {
      progress();
    }
    creditPeer();
    return frames;
  }

  private void progress() {
    if (isArmed()) {
      disarm();
    }
    if (hints != null) {
      hints.progress();
    }
  }

  private int onFetched() {
    if (fetcher.hasLine() && !takeLine()) {
      session.blame("the peer acknowledged what was never sent");
      return 0;
    }
    final long before = ring.position();
    final int frames = taken(fetcher.take(session, POLL_LIMIT));
    if (frames > 0) {
      pace.found();
    } else if (fetcher.foundNothing()) {
      pace.missed();
    } else {
      pace.begun();
    }
    if (frames > 0) {
      misses = 0;
      if (hints != null) {
        hints.fetched(before);
      }
    } else {
      misses++;
      tally.add(Counter.SESSION_FETCH_MISSES, 1);
    }
    if (last && fetcher.foundNothing()) {
      turning = false;
    }
    last = false;
    if (state == State.LOOKING) {
      if (fetcher.hasFrame()) { // there is more to come; what has come is progress
        disarm();
      } else {
        state = State.LOOKED;
      }
    }
    return frames;
  }

  private boolean takeLine() {
    toServer.onReleased(fetcher.lineReleased());
    return toServer.onLine(fetcher.lineConsumed(), fetcher.lineSleeping(), fetcher.lineBlocked());
  }

  /**
   * Takes at most as much as a correct peer can have written: a peer that writes on cannot keep the
   * thread.
   */
  @Override
  public void drain() {
    final long end = ring.position() + ring.slots();
    int frames = 1;
    while (frames > 0 && ring.position() - end < 0 && !isViolated()) {
      frames = taken(ring.poll(session, ring.slots()));
      fetcher.poll();
      frames += taken(fetcher.take(session, ring.slots()));
      if (hints != null) {
        frames += taken(hints.take());
      }
    }
  }

  @Override
  public boolean isArmed() {
    return state != State.AWAKE;
  }

  @Override
  public boolean isSettling() {
    return state != State.AWAKE && state != State.SETTLED;
  }

  /**
   * Never arms at once: a leaving thread leaves it to the poller. If the poller does not look
   * already, a delayed read is posted now, since no thread would post it before the poller comes.
   */
  @Override
  public boolean arm() {
    if (!session.isPolled() && fetches && hints == null && !fetcher.isPending() && mayRead()) {
      fetch();
    }
    return false;
  }

  @Override
  public boolean settle() {
    switch (state) {
      case AWAKE -> tellAsleep();
      case LOOKED -> {
        if (ring.hasNext()) {
          disarm();
        } else {
          state = State.SETTLED;
        }
      }
      default -> {}
    }
    return state == State.SETTLED;
  }

  private void tellAsleep() {
    state = State.TOLD;
    toldAt = writer.position();
    ownControl.sleeping(true);
    toServer.fetching(false);
    tellConsumed();
    endRound();
  }

  /** In the same write as the words before. */
  private void tellConsumed() {
    if (ring.untold() != 0) {
      ring.tellConsumed();
      toServer.wakeBlockedPeer();
    }
  }

  @Override
  public void disarm() {
    state = State.AWAKE;
    misses = 0;
    ownControl.sleeping(false);
    toServer.fetching(fetches);
  }

  @Override
  public void endRound() {
    if (isArmed() && writer.position() != toldAt) {
      disarm();
    }
    if (choice != null && choice.fetches() != fetches) { // by what came in: it is awake
      turn();
    }
    toServer.flush();
    if (fetcher.isPending()) {
      return;
    }
    if (state == State.TOLD
        || (state == State.AWAKE && (turning || (fetches && isReadDue() && mayRead())))) {
      fetch();
    }
  }

  /**
   * From here on the server pushes, or does not. What it has stored before it can know of the
   * former, it has left where it stands; and nothing but reads will bring that.
   */
  private void turn() {
    fetches = choice.fetches();
    turning = !fetches;
    last = false; // a read under way may be of an earlier turn
    toServer.fetching(fetches);
    pace.turned(fetches);
    tellConsumed();
    tally.add(Counter.SESSION_REPLY_TURNS, 1);
  }

  /** True while a read has yet to find nothing after the server was told to push. */
  boolean isTurning() {
    return turning;
  }

  private boolean mayRead() {
    return turn.mayRead(session.earliestDeadlineNs());
  }

  private boolean isReadDue() {
    if (!session.expectsFrames()) {
      if (hints != null) {
        hints.restart();
      }
      pace.rest();
      return false;
    }
    return hints == null ? isFirstReadDue() : hints.isReadDue();
  }

  /** Where a request waits for credit not late, since that comes by reads alone. */
  private boolean isFirstReadDue() {
    if (turn.isHolding() && !pace.isExpecting()) {
      return false; // it is not sent yet
    }
    return pace.isDue(session.isOutputBlocked(), session.earliestDeadlineNs());
  }

  private void fetch() {
    if (toServer.isBehind()) {
      return;
    }
    final boolean withLine =
        state == State.TOLD || turning || isLineDue() || hints != null || session.awaitsRelease();
    final int posted = fetcher.post(withLine);
    full = posted == QueuePair.SEND_QUEUE_FULL;
    if (posted != QueuePair.POSTED) {
      return;
    }
    last = turning;
    if (hints != null) {
      hints.posted(state == State.TOLD);
    }
    pace.posted(state == State.TOLD);
    tally.add(Counter.SESSION_FETCHES, 1);
    sinceLine = withLine ? 0 : sinceLine + 1;
    if (state == State.TOLD) {
      state = State.LOOKING;
    }
  }

  /** After some misses, and then, or while nothing is acknowledged, now and then. */
  private boolean isLineDue() {
    final long unconsumed = writer.unconsumed();
    final long consumed = writer.position() - unconsumed;
    if (consumed != lastConsumed) {
      lastConsumed = consumed;
      sinceLine = 0;
    }
    return misses == LINE_MISSES || (sinceLine >= LINE_INTERVAL && (misses > 0 || unconsumed > 0));
  }

  @Override
  public void count() {
    if (hints != null) {
      hints.count();
    }
  }
}
