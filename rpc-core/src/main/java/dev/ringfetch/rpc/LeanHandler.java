package dev.ringfetch.rpc;

/**
 * Handler of the calls of a unary method, with messages that are plain bytes. Bound to a method by
 * {@link Lean#replace}.
 *
 * <p>It is called for several calls at a time, by different threads. On a ring that is most often a
 * polling thread, as for every short handler: a call that takes long delays others until a backup
 * thread polls instead (see {@link RingServerBuilder#inlineHandlers(boolean)}).
 *
 * <p>{@link io.grpc.Context#current} is the call's only within an ordinary call. {@link LeanCall}
 * has the deadline, and tells whether the call was cancelled.
 */
@FunctionalInterface
@Experimental
public interface LeanHandler {
  /**
   * Serves a call: answers it, {@linkplain LeanCall#fail fails} it, or {@linkplain LeanCall#detach
   * detaches} it to do so later; or declines it.
   *
   * <p>If this method throws, the call ends UNKNOWN, and the exception is logged, as in gRPC; an
   * answer is not sent then. If it returns true without an answer, or false with one, the call ends
   * INTERNAL.
   *
   * @param call which may be used until this method returns, by this thread.
   * @param request contains the request message until this method returns, or detaches the call;
   *     must not be written to.
   * @param offset of the message, in bytes.
   * @param length of the message, in bytes.
   * @return false to decline the call: the method's handler in the replaced definition serves it.
   */
  boolean onRequest(LeanCall call, byte[] request, int offset, int length);
}
