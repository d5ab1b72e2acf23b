package dev.ringfetch.session;

import org.jspecify.annotations.Nullable;

/** The server session's state of one call. */
public final class ServerStream extends Stream {
  /** Operation: send the response. */
  static final int RESPOND = 1;

  /** Operation: release, because no thread uses the cancelled stream any more. */
  static final int RELEASE = 2;

  private volatile Listener listener;
  private volatile boolean cancelled;
  private @Nullable Object reusableCall; // owned by the call

  // The response of the call; the owner copies it, unless the session has answered.
  int responseFlags;
  int responseCode;
  boolean reusable;
  ServerStream substitute; // carries the response instead

  boolean handed;
  long handedNs; // behind a card
  boolean answered;
  boolean abandoned; // cancelled, and the call has not released it
  long heldLength; // bytes that the session counts for it

  ServerStream() {}

  /** Creates a stream for {@link ServerSession#respondInstead}, to be filled by one thread. */
  public static ServerStream substitute() {
    final ServerStream stream = new ServerStream();
    stream.cancelled = true; // it has no call: it is sent, and forgotten
    return stream;
  }

  /**
   * Sets the listener for a cancel; called in {@link ServerSession.Acceptor#onRequest}. The caller
   * checks {@link #isCancelled} afterwards, because an earlier cancel was not reported.
   */
  public void listener(Listener listener) {
    this.listener = listener;
  }

  /** Keeps an object of the call above for all further calls on this stream. */
  public void reusableCall(Object call) {
    reusableCall = call;
  }

  /** The object that {@link #reusableCall(Object)} has kept, or null. */
  public @Nullable Object reusableCall() {
    return reusableCall;
  }

  /** Units in both directions; null while there is one each way. */
  public @Nullable Flow flow() {
    return flow;
  }

  /**
   * Turns a stream with a complete request into a flow: the response takes several units. Called in
   * {@link ServerSession.Acceptor#onRequest}, or by the call that was created there.
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

  /** Listener for calls that are over before they were answered. */
  public interface Listener {
    /**
     * Called when the call was cancelled, and the client has got an answer: the handler's answer is
     * dropped. At most once, on a thread without ownership, possibly while the handler answers.
     */
    void onCancelled();

    /**
     * Called when the stream's flow has new units, room, or its end. On a thread without ownership,
     * also on several at a time.
     */
    default void onFlow() {}
  }
}
