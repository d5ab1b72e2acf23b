package dev.ringfetch.rpc;

import io.grpc.Metadata;
import io.grpc.Status;

/**
 * Listener for the ends of the calls of a {@link UnaryCall}: exactly one of its methods is called
 * for each call. The method may start the next call if this one was started.
 *
 * <p>For a call that was {@linkplain UnaryCall#run run}, the method is called on the thread that
 * runs it; {@code run} throws what the listener throws. For a call that was {@linkplain
 * UnaryCall#start started}, it is called on the poller's thread, as with a direct executor. If no
 * ring carries the call, it is called in the channel's executor, or on the thread that starts the
 * call. An exception of the listener there goes to that thread's uncaught exception handler.
 *
 * <p>On the poller's thread, long work and waits delay all calls of the process, and their
 * deadlines, until a backup thread polls instead: after at most 20 ms of a wait, or 110 ms of work,
 * which includes system calls (and 10 ms more where another listener waits for a call). If a
 * listener has started the next call and not returned by then, the backup thread may report the end
 * of that call concurrently.
 */
public interface UnaryListener {
  /**
   * Called when the call was answered, with the status OK. Headers and trailers are not passed on.
   *
   * @param answer contains the response message until this method returns or any thread makes the
   *     next call; must not be written to.
   * @param offset of the message, in bytes.
   * @param length of the message, in bytes.
   */
  void onAnswer(UnaryCall call, byte[] answer, int offset, int length);

  /**
   * Called when the call has failed.
   *
   * @param status why; never OK.
   * @param trailers that came with it, perhaps empty.
   */
  void onFailure(UnaryCall call, Status status, Metadata trailers);
}
