package dev.ringfetch.index.client;

import io.grpc.ClientStreamTracer;
import io.grpc.Metadata;

/**
 * The mark of a call that was given to a connection: the server certainly did not get a call
 * without it. Safe for use by many threads.
 */
final class SentMark extends ClientStreamTracer.Factory {
  private volatile boolean traced;
  private volatile boolean sent;

  @Override
  public ClientStreamTracer newClientStreamTracer(
      ClientStreamTracer.StreamInfo info, Metadata headers) {
    traced = true;
    return new ClientStreamTracer() {
      @Override
      public void outboundMessage(int number) {
        sent = true;
      }
    };
  }

  /** Whether the call may have been sent: a channel without tracers cannot tell. */
  boolean mayBeSent() {
    return sent || !traced;
  }
}
