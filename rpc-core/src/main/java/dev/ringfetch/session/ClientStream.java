package dev.ringfetch.session;

/** A call as the client's session sees it. */
public final class ClientStream extends Stream {
  /** The call asks: send the request. */
  static final int SEND = 1;

  /** The call asks: cancel, and forget the call. */
  static final int CANCEL = 2;

  /** The call asks: forget the call, which has been told of a local end. */
  static final int RELEASE = 4;

  /** Where a stream is on its way, as the owner of the session sees it. */
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
    SESSION_ENDED
  }

  private Listener listener;

  int maxInboundLength;
  State state = State.IDLE;
  Outcome outcome;
  boolean released;
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
   * @param maxInboundLength longest unit that is kept, in bytes; of a longer one only the length
   *     is.
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

  @Override
  void reset() {
    super.reset();
    listener = null;
    state = State.IDLE;
    outcome = null;
    released = false;
    ended = false;
  }

  /** Told how a call ended. */
  public interface Listener {
    /**
     * The call has ended; called at most once, in a thread that owns nothing. The listener lets go
     * of the stream when it has done with the buffers: by {@link ClientSession#recycle} if it was
     * answered, by {@link ClientSession#release} otherwise. Only a listener that has cancelled the
     * stream, or is about to, does neither.
     */
    void onClosed(ClientSession session, ClientStream stream, Outcome outcome);
  }
}
