package dev.ringfetch.rpc;

import io.grpc.Metadata;
import io.grpc.Status;

/**
 * Told how each call of a {@link UnaryCall} ends, by exactly one of these methods, which may start
 * the next call if this one was started.
 *
 * <p>Told of a call that was {@linkplain UnaryCall#run run}, in the thread that runs it. Of one
 * that was {@linkplain UnaryCall#start started}, in the poller's thread, as callbacks are of
 * channels with a direct executor: long work belongs elsewhere, as no deadline of the process's
 * calls fires meanwhile; and a wait for a call that no ring carries yet (a channel that waits for
 * one, or for credentials) belongs elsewhere, too, since it is this thread that would end it. If no
 * ring carries the call, in the channel's executor, or in the thread that starts it.
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
