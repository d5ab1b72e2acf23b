package dev.ringfetch.rpc;

import io.grpc.Metadata;
import io.grpc.Status;

/**
 * Told how each call of a {@link UnaryCall} ends, by exactly one of these methods, which may start
 * the next call if this one was started.
 *
 * <p>Told of a call that was {@linkplain UnaryCall#run run}, in the thread that runs it; what a
 * listener throws there comes out of {@code run}. Of one that was {@linkplain UnaryCall#start
 * started}, in the poller's thread, as callbacks are of channels with a direct executor, or, if no
 * ring carries the call, in the channel's executor, or in the thread that starts it; what a
 * listener throws there goes to that thread's uncaught exception handler.
 *
 * <p>In the poller's thread long work and waits keep all calls of the process waiting, and their
 * deadlines, until another thread polls in its stead: after 20 ms at the latest of a wait, or 110
 * ms of work, as which a system call counts, too (and 10 ms more where another listener waits for a
 * call). A listener that has started the next call and not returned by then may find itself told of
 * that one's end, by that thread.
 */
public interface UnaryListener {
  /**
   * The call was answered, with the status OK. Headers and trailers of the answer are not told.
   *
   * @param answer holds the response message until this returns or the next call is made, in
   *     whichever thread; not to be written to.
   * @param offset of the message, in bytes.
   * @param length of the message, in bytes.
   */
  void onAnswer(UnaryCall call, byte[] answer, int offset, int length);

  /**
   * The call has failed.
   *
   * @param status why; never OK.
   * @param trailers that came with it, perhaps empty.
   */
  void onFailure(UnaryCall call, Status status, Metadata trailers);
}
