package dev.ringfetch.rpc;

import io.grpc.BinaryLog;
import io.grpc.Channel;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.ServerMethodDefinition;
import java.io.IOException;

/**
 * The channel beneath all interceptors of a gRPC channel, for the streams of sessions. Such a
 * stream is no call of the application, and lasts as long as the session: an interceptor of an
 * agent or of the whole process would make a span and a metric of it. A binary log is the only
 * place where gRPC's builders hand that channel out; this one hands it on to the application's.
 */
final class ControlChannel extends BinaryLog {
  private final BinaryLog next; // null: none
  private Channel channel;

  private ControlChannel(BinaryLog next) {
    this.next = next;
  }

  /**
   * Prepares a builder of a gRPC channel.
   *
   * @param log the application's, or null.
   */
  static ControlChannel within(ManagedChannelBuilder<?> builder, BinaryLog log) {
    final ControlChannel made = new ControlChannel(log);
    try {
      builder.setBinaryLog(made);
    } catch (UnsupportedOperationException e) {
      // The builder of a transport that has no binary log: the streams pass its interceptors.
    }
    return made;
  }

  /** Returns the channel for streams of sessions over the channel that was built. */
  Channel of(ManagedChannel built) {
    return channel == null ? built : channel;
  }

  @Override
  public Channel wrapChannel(Channel innermost) {
    channel = innermost;
    return next == null ? innermost : next.wrapChannel(innermost);
  }

  @Override
  public <ReqT, RespT> ServerMethodDefinition<?, ?> wrapMethodDefinition(
      ServerMethodDefinition<ReqT, RespT> method) {
    return method; // of servers alone
  }

  @Override
  public void close() throws IOException {
    if (next != null) {
      next.close();
    }
  }
}
