package dev.ringfetch.rpc;

import io.grpc.ClientCall;
import io.grpc.Metadata;

/** A call that has ended before it began: all its methods have no effect. */
final class ClosedCall<ReqT, RespT> extends ClientCall<ReqT, RespT> {
  @Override
  public void start(Listener<RespT> listener, Metadata headers) {}

  @Override
  public void request(int numMessages) {}

  @Override
  public void cancel(String message, Throwable cause) {}

  @Override
  public void halfClose() {}

  @Override
  public void sendMessage(ReqT message) {}
}
