package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.CLOSE;
import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;

import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.owner.OwnedBy;
import dev.ringfetch.session.owner.SharedField;
import dev.ringfetch.session.unit.Unit;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * The flow control of a stream with many units: queues of units that wait for the ring or for the
 * call, and a window in each direction.
 *
 * <p>A message may begin while the messages that the peer's call has not consumed yet take less
 * than {@link #WINDOW_LENGTH}, and is then sent to its end: so no message is too long for the
 * window, and a call that does not read keeps at most a window and one message in memory. A unit
 * counts its bytes and 64 more; headers, ends and updates are free. Cumulative acknowledgement as
 * in Binder's transport (gRFC L73). If few of the messages that a call consumes fit in its window,
 * its side lets the window grow, so that the next message is on its way meanwhile.
 *
 * <p>Two parties use it: the call ({@link #offer}, {@link #peek} and the public methods; its
 * inbound half by one thread at a time), and the owner of the session (the other methods).
 */
public final class Flow {
  /** Messages that are on their way, or that the call has not consumed, in bytes; at first. */
  public static final int WINDOW_LENGTH = 64 * 1024;

  /** The largest window, in bytes. */
  static final int MAX_WINDOW_LENGTH = 8 * 1024 * 1024;

  private static final int MESSAGES_IN_WINDOW = 4;

  /** As long as fewer bytes than this wait for the ring, the call is ready for more; at first. */
  public static final int READY_LENGTH = 32 * 1024;

  /** The state of the outbound half. Written by the owner, read by the call. */
  enum Sending {
    /** No unit has left. */
    WAITING,
    /** The first unit has left, the last one has not. */
    UNDER_WAY,
    /** The last unit has left. Final. */
    SENT,
    /** The stream has ended before the first unit left. Final. */
    UNSENT,
    /** The stream has ended after the first unit left, and before the last one did. Final. */
    CUT;

    /**
     * Returns the next state.
     *
     * @throws IllegalStateException when that state does not follow on this one.
     */
    Sending to(Sending next) {
      final boolean follows =
          this == WAITING
              ? next == UNDER_WAY || next == UNSENT
              : this == UNDER_WAY && (next == SENT || next == CUT);
      if (!follows) {
        throw new IllegalStateException("from=" + this + ", to=" + next);
      }
      return next;
    }

    /** True when no unit leaves any more. */
    boolean isOver() {
      return this != WAITING && this != UNDER_WAY;
    }
  }

  /** The state of the inbound half. */
  enum Receiving {
    /** No unit has come. */
    AWAITED,
    /** The first unit has come, the last one has not. */
    BEGUN,
    /** The last unit has come. Final. */
    ENDED;

    /**
     * Returns the state after a unit.
     *
     * @throws IllegalStateException when that state does not follow on this one.
     */
    Receiving to(Receiving next) {
      if (this == ENDED || next == AWAITED) {
        throw new IllegalStateException("from=" + this + ", to=" + next);
      }
      return next;
    }
  }

  private static final int UPDATE_LENGTH = WINDOW_LENGTH / 4;
  private static final VarHandle QUEUED =
      SharedField.of(MethodHandles.lookup(), "queued", long.class);

  private final ConcurrentLinkedQueue<Unit> outbound = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedQueue<Unit> inbound = new ConcurrentLinkedQueue<>();
  private final ArrayDeque<Unit> arrived = new ArrayDeque<>(2);

  @SuppressWarnings("unused") // through QUEUED
  private volatile long
      queued; // bytes of messages that the call has offered and no frame has taken

  private volatile long consumed; // written by the call's one thread
  private volatile int readyLength = READY_LENGTH;
  private volatile boolean room;
  private volatile @Nullable Outcome outcome;
  private volatile Sending sending = Sending.WAITING; // written by the owner

  @OwnedBy("session")
  private @Nullable Unit current;

  @OwnedBy("session")
  private long begun;

  @OwnedBy("session")
  private long countedQueued;

  @OwnedBy("session")
  private long peerConsumed;

  @OwnedBy("session")
  private long received;

  @OwnedBy("session")
  private long told;

  @OwnedBy("session")
  private long released;

  @OwnedBy("session")
  private long longest; // message that has come in, as windows count

  @OwnedBy("session")
  private int window = WINDOW_LENGTH; // for what comes in

  @OwnedBy("session")
  private int toldWindow = WINDOW_LENGTH;

  @OwnedBy("session")
  private int peerWindow = WINDOW_LENGTH; // for what goes out

  @OwnedBy("session")
  private @Nullable Outcome ending;

  private boolean whole; // the inbound units were there at the start, and are not counted

  @OwnedBy("session")
  private Receiving receiving = Receiving.AWAITED;

  @OwnedBy("session")
  boolean updateDue;

  @OwnedBy("session")
  boolean listed;

  /** Creates the flow of a complete request: only its response takes several units. */
  static Flow ofRequest(Unit request) {
    final Flow flow = new Flow();
    flow.whole = true;
    flow.receiving = Receiving.ENDED;
    flow.inbound.add(request);
    return flow;
  }

  /** Creates the flow of an answer to a request that has left: nothing more goes out. */
  static Flow ofAnswer() {
    final Flow flow = new Flow();
    flow.sending = Sending.SENT;
    return flow;
  }

  /** Queues a unit. {@link Session#write} then tells the session. */
  void offer(Unit unit) {
    QUEUED.getAndAdd(this, unit.cost());
    outbound.add(unit);
  }

  /** Sets the limit: the call is ready for more while fewer bytes than this wait for the ring. */
  public void readyLength(int bytes) {
    readyLength = bytes;
  }

  /** True when the call should send: little waits for the ring. */
  public boolean isReady() {
    return queued < readyLength;
  }

  /** Bytes of messages that wait for the ring. */
  public long queuedLength() {
    return queued;
  }

  /** The change of the bytes that wait for the ring since the last call; none wait in the end. */
  @OwnedBy("session")
  long newlyQueued() {
    final long now = sending.isOver() ? 0 : queued;
    final long before = countedQueued;
    countedQueued = now;
    return now - before;
  }

  /** True once, after there was no room and now there is. */
  public boolean takeRoom() {
    if (!room) {
      return false;
    }
    room = false;
    return true;
  }

  /** The next unit that came in. */
  public @Nullable Unit peek() {
    return inbound.peek();
  }

  /** Removes the unit that {@link #peek} has returned. */
  public void remove() {
    inbound.remove();
  }

  /** The end of the stream; null before. All earlier units are queued by then. */
  public @Nullable Outcome outcome() {
    return outcome;
  }

  /** True when the first unit has left: the server may have seen it. */
  public boolean isUnderWay() {
    final Sending now = sending;
    return now != Sending.WAITING && now != Sending.UNSENT;
  }

  /** True when the last unit has left: nothing can be sent any more. */
  public boolean isSent() {
    return sending == Sending.SENT;
  }

  /**
   * Called when the call has finished with a unit's message, or does not want it.
   *
   * @return true when the peer should be told.
   */
  boolean consume(Unit unit) {
    if (whole) {
      return false;
    }
    final long before = consumed;
    final long after = before + unit.cost();
    consumed = after;
    return before / UPDATE_LENGTH != after / UPDATE_LENGTH;
  }

  /** Loads the next unit to send, unless the window is closed. */
  @OwnedBy("session")
  boolean load(Stream stream) {
    if (current != null || sending.isOver()) {
      return false;
    }
    final Unit next = outbound.peek();
    if (next == null) {
      return false;
    }
    final long cost = next.cost();
    if (cost != 0 && isClosed()) {
      return false;
    }
    begun += cost;
    current = outbound.remove();
    stream.outbound(next.bytes());
    stream.outboundFlags = next.flags();
    stream.outboundCode = next.code();
    stream.outboundSent = 0;
    stream.outboundBegun = false;
    return true;
  }

  /** True while no message may be begun. */
  @OwnedBy("session")
  boolean isClosed() {
    return begun - peerConsumed >= peerWindow;
  }

  /** True while a unit is loaded. */
  @OwnedBy("session")
  boolean isLoaded() {
    return current != null;
  }

  /**
   * Called when the loaded unit is in the ring.
   *
   * @return true when the call is to be told that there is room.
   */
  @OwnedBy("session")
  boolean onSent() {
    final long cost = current.cost();
    current = null;
    if (sending == Sending.WAITING) {
      sending = sending.to(Sending.UNDER_WAY);
    }
    final long before = (long) QUEUED.getAndAdd(this, -cost);
    final int enough = readyLength;
    if (before < enough || before - cost >= enough) {
      return false;
    }
    room = true;
    return true;
  }

  /**
   * Drops the waiting units, and later ones, because the stream has ended. Idempotent, so that it
   * drops also what the call has offered since.
   */
  @OwnedBy("session")
  void dropOutbound() {
    final Sending now = sending;
    if (!now.isOver()) {
      sending = now.to(now == Sending.WAITING ? Sending.UNSENT : Sending.CUT);
    }
    Unit unit;
    while ((unit = outbound.poll()) != null) {
      unit.bytes().releaseSegments();
    }
    if (current != null) {
      current.bytes().releaseSegments();
      current = null;
    }
    updateDue = false;
  }

  /** Called when the last unit is in the ring. */
  @OwnedBy("session")
  void sentAll() {
    sending = sending.to(Sending.SENT);
  }

  /** Whether the peer may begin a unit with these flags. */
  @OwnedBy("session")
  boolean mayReceive(int unitFlags) {
    return receiving != Receiving.ENDED
        && (unitFlags & (PREFIX | MESSAGE | SUFFIX)) != 0
        && ((unitFlags & PREFIX) == 0 || receiving == Receiving.AWAITED)
        && ((unitFlags & MESSAGE) == 0 || received - told < toldWindow);
  }

  /**
   * Adds a complete unit. The call sees it with the next {@link #publish}.
   *
   * @param kept false when no call is left to consume it.
   */
  @OwnedBy("session")
  void onUnit(Unit unit, boolean kept) {
    receiving = receiving.to(unit.has(SUFFIX | CLOSE) ? Receiving.ENDED : Receiving.BEGUN);
    received += unit.cost();
    longest = Math.max(longest, unit.cost());
    if (kept) {
      arrived.add(unit);
    }
  }

  /** Ends the inbound half; the call sees it with the next {@link #publish}. */
  @OwnedBy("session")
  void end(Outcome outcome) {
    ending = outcome;
  }

  /** Lets the call see the inbound units, except those that were read out of lost memory. */
  @OwnedBy("session")
  void publish() {
    while (hasArrived()) {
      inbound.add(arrived.peek()); // first: it may throw
      arrived.remove();
    }
    if (outcome == null && ending != null && (arrived.isEmpty() || ending != Outcome.ANSWERED)) {
      outcome = ending;
    }
  }

  /** True when a unit waits for {@link #publish} that is there to its last byte. */
  @OwnedBy("session")
  boolean hasArrived() {
    final Unit next = arrived.peek();
    return next != null && !next.bytes().isReading();
  }

  /** Drops the units since the last {@link #publish}, because they may be garbage. */
  @OwnedBy("session")
  void distrust() {
    arrived.clear();
    ending = Outcome.SESSION_ENDED; // unless another one is published
  }

  /** Bytes of messages that this side keeps in memory. */
  @OwnedBy("session")
  long heldLength() {
    return received - released;
  }

  /** Bytes that the call has consumed since the last time, which are not kept any more. */
  @OwnedBy("session")
  long release() {
    final long now = consumed;
    final long before = released;
    released = now;
    return now - before;
  }

  /**
   * Lets the window grow if few of the messages that the call consumes fit in it.
   *
   * @param budget how much it may grow, in bytes.
   * @return how much it has grown.
   */
  @OwnedBy("session")
  long grow(long budget) {
    final long wanted = Math.min(MAX_WINDOW_LENGTH, MESSAGES_IN_WINDOW * longest);
    if (released == 0 || wanted - window > budget || wanted <= window) {
      return 0;
    }
    final long grown = wanted - window;
    window = (int) wanted;
    return grown;
  }

  /** How much the window has grown; it grows no more. */
  @OwnedBy("session")
  long grown() {
    return (long) window - WINDOW_LENGTH;
  }

  /** Length of the window that the peer has not been told of, or 0. */
  @OwnedBy("session")
  int untoldWindow() {
    return window == toldWindow ? 0 : window;
  }

  /** True when the peer waits for an update, or may soon. */
  @OwnedBy("session")
  boolean isUpdateUseful() {
    return receiving != Receiving.ENDED
        && (released - told >= toldWindow / 4 || window != toldWindow);
  }

  /** What the call has consumed so far, for an update. */
  @OwnedBy("session")
  long consumedLength() {
    return released;
  }

  /** Called when the peer was told. */
  @OwnedBy("session")
  void onTold() {
    updateDue = false;
    told = released;
    toldWindow = window;
  }

  /**
   * Called when the peer's call has consumed messages.
   *
   * @param length of the peer's window from now on, or 0: as before.
   * @return false when they were never sent, or the window is none.
   */
  @OwnedBy("session")
  boolean onUpdate(long consumedByPeer, int length) {
    if (consumedByPeer - peerConsumed < 0 || consumedByPeer - begun > 0) {
      return false;
    }
    if (length != 0) {
      if (length < peerWindow || length > MAX_WINDOW_LENGTH) {
        return false;
      }
      peerWindow = length;
    }
    peerConsumed = consumedByPeer;
    return true;
  }
}
