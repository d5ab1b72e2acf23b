package dev.ringfetch.session;

import dev.ringfetch.session.unit.Unit;

/** The client session's state of one call. */
public final class ClientStream extends Stream {
  /** Operation: send the request. */
  static final int SEND = 1;

  /** Operation: cancel, and forget the call. */
  static final int CANCEL = 2;

  /** Operation: release, after the call was told of an end, and that end counted. */
  static final int RELEASE = 4;

  /**
   * Operation: release, after the call was told of an end, but a cancel counted, which comes or has
   * come as well.
   */
  static final int RELEASE_CANCELLED = 8;

  /** The state of a stream, as the owner of the session sees it. */
  enum State {
    IDLE,
    SENDING,
    SENT,
    /** A cancel is on its way, or waits for room; the server's last frame has not come. */
    CLOSING,
    /** Nothing more comes for this id. */
    DONE
  }

  /** Why a call ended, for {@link Listener#onClosed}. */
  public enum Outcome {
    /** The response is in {@link #inbound()}. */
    ANSWERED,
    /** The deadline passed first. */
    DEADLINE_EXCEEDED,
    /** The session ended before any byte of the request was visible to the server. */
    NOT_SENT,
    /** The session ended when the server may have seen the request. */
    SESSION_ENDED,
    /** The server sends more than one unit, and the listener takes one. */
    TOO_MANY_RESPONSES
  }

  private Listener listener;
  private FlowListener flowListener;

  int maxInboundLength;
  State state = State.IDLE;
  Outcome outcome;
  boolean cancelled;
  boolean released;
  boolean releasedCancelled;
  volatile boolean ended;

  ClientStream(int id) {
    this.id = id;
  }

  /**
   * Prepares a call; the request's unit is in {@link #outbound()} already.
   *
   * @param flags of the unit; see {@link dev.ringfetch.ring.FrameDescriptor}.
   * @param methodId in the server's table.
   * @param deadlineNs in terms of the session's clock, or {@link #NO_DEADLINE}.
   * @param maxInboundLength longest unit that is kept, in bytes; of a longer one only the length is
   *     kept.
   */
  public void prepare(
      Listener listener, int flags, int methodId, long deadlineNs, int maxInboundLength) {
    this.maxInboundLength = maxInboundLength;
    this.listener = listener;
    this.outboundFlags = flags;
    this.outboundCode = methodId;
    this.deadlineNs = deadlineNs;
  }

  Listener listener() {
    return listener;
  }

  /**
   * Prepares a call that sends and receives any number of units. The stream serves this call only.
   *
   * @param listener notified of changes in {@link #flow()}.
   * @param deadlineNs in terms of the session's clock, or {@link #NO_DEADLINE}.
   * @param maxInboundLength longest unit that is kept, in bytes.
   * @param first unit, with PREFIX.
   */
  public void prepareFlow(
      FlowListener listener, long deadlineNs, int maxInboundLength, Unit first) {
    this.maxInboundLength = maxInboundLength;
    this.flowListener = listener;
    this.deadlineNs = deadlineNs;
    flow = new Flow();
    flow.offer(first);
  }

  /** The flow that {@link #prepareFlow} has created. */
  public Flow flow() {
    return flow;
  }

  FlowListener flowListener() {
    return flowListener;
  }

  /** True when the call takes an answer of several units. */
  boolean takesFlow() {
    return listener instanceof AnswerListener;
  }

  /** Turns a stream into a flow after its request has left: the answer takes several units. */
  void openFlow() {
    final AnswerListener answered = (AnswerListener) listener;
    flowListener = () -> answered.onFlow(this);
    flow = Flow.ofAnswer();
  }

  /** Creates the stream of the same index for the next call. */
  ClientStream next() {
    return new ClientStream(id + (1 << INDEX_BITS));
  }

  /** Forgets the call; the next one has an id that no call had before. */
  @Override
  void reset() {
    super.reset();
    id += 1 << INDEX_BITS;
    listener = null;
    state = State.IDLE;
    outcome = null;
    cancelled = false;
    released = false;
    releasedCancelled = false;
    ended = false;
  }

  /** Listener for changes in a flow. */
  @FunctionalInterface
  public interface FlowListener {
    /**
     * Called when the flow has new units, room, or its end. On a thread without ownership, also on
     * several at a time.
     */
    void onFlow();
  }

  /** Listener for the end of a call. */
  public interface Listener {
    /**
     * Called at most once, when the call has ended, on a thread without ownership. The listener
     * releases the stream exactly once: by {@link ClientSession#recycle}, when it has finished with
     * the buffers, if it was answered and that counted; otherwise by {@link ClientSession#release}.
     * After {@link Outcome#NOT_SENT} and {@link Outcome#SESSION_ENDED} there is nothing to release.
     */
    void onClosed(ClientStream stream, Outcome outcome);
  }

  /** Listener that also takes an answer of several units, as a streaming server sends it. */
  public interface AnswerListener extends Listener {
    /**
     * Called instead of {@link #onClosed} when the stream's flow has changed: the listener releases
     * the stream by {@link ClientSession#cancel}, if it ends the call first. On a thread without
     * ownership, also on several at a time.
     */
    void onFlow(ClientStream stream);
  }
}
