package dev.ringfetch.session;

/** A call as the server's session sees it. */
public final class ServerStream extends Stream {
  /** The call asks: send the response. */
  static final int RESPOND = 1;

  /** The call says: nobody uses the stream any more, which was cancelled. */
  static final int RELEASE = 2;

  private volatile Listener listener;
  private volatile boolean cancelled;

  // The response as the call hands it over; the owner copies it, unless it has answered itself.
  int responseFlags;
  int responseCode;
  boolean reusable;
  ServerStream substitute; // carries the response instead

  boolean handed;
  long handedNs; // behind a card
  boolean answered;
  boolean abandoned; // cancelled, and the call has not let go of it
  long heldLength; // what the session counts for it

  ServerStream() {}

  /** A stream for {@link ServerSession#respondInstead}, to be filled by one thread. */
  public static ServerStream substitute() {
    final ServerStream stream = new ServerStream();
    stream.cancelled = true; // of nobody: it is sent, and forgotten
    return stream;
  }

  /**
   * Sets who is told of a cancel; called in {@link ServerSession.Acceptor#onRequest}. Look at
   * {@link #isCancelled} afterwards: a cancel that came earlier was told to nobody.
   */
  public void listener(Listener listener) {
    this.listener = listener;
  }

  /** Units in both directions; null while there is one each way. */
  public Flow flow() {
    return flow;
  }

  /**
   * Makes a flow of a stream whose request is whole: the response takes several units. Called in
   * {@link ServerSession.Acceptor#onRequest}, or by the call that was made there.
   */
  public Flow openFlow() {
    if (flow == null) {
      flow = Flow.ofRequest(incoming.take());
    }
    return flow;
  }

  /** True when the call is over before it was answered, whatever the handler does. */
  public boolean isCancelled() {
    return cancelled;
  }

  void cancelled() {
    cancelled = true;
  }

  Listener listener() {
    return listener;
  }

  /** Deadline of the call in terms of the session's clock, or {@link #NO_DEADLINE}. */
  public long deadlineNs() {
    return deadlineNs;
  }

  @Override
  void reset() {
    super.reset();
    listener = null;
    cancelled = false;
    handed = false;
    handedNs = 0;
    answered = false;
    reusable = false;
    heldLength = 0;
  }

  /** Told that a call is over before it was answered. */
  public interface Listener {
    /**
     * The call was cancelled, and the client answered: what the handler says is dropped. Called at
     * most once, in a thread that owns nothing, possibly while the handler answers.
     */
    void onCancelled();

    /**
     * There is something new in the stream's flow: units, room, its end. Called in a thread that
     * owns nothing, also by several at a time.
     */
    default void onFlow() {}
  }
}
