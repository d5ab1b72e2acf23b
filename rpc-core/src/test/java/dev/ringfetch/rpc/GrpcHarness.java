package dev.ringfetch.rpc;

import io.grpc.ChannelCredentials;
import io.grpc.ConnectivityState;
import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.ServerBuilder;
import io.grpc.ServerCredentials;
import io.grpc.Status;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Plain gRPC: what it does is how a ring has to behave. */
final class GrpcHarness extends TransportHarness {
  @Override
  ServerBuilder<?> newServerBuilder(int port, ServerCredentials credentials) {
    return Grpc.newServerBuilderForPort(port, credentials);
  }

  @Override
  ManagedChannelBuilder<?> newChannelBuilder(String target, ChannelCredentials credentials) {
    return Grpc.newChannelBuilder(target, credentials);
  }

  @Override
  String fabric() {
    return null;
  }

  @Override
  void awaitConnected(ManagedChannel channel) throws Exception {
    awaitReady(channel);
  }

  /** Connects a channel of gRPC. */
  static void awaitReady(ManagedChannel channel) throws Exception {
    ConnectivityState state;
    while ((state = channel.getState(true)) != ConnectivityState.READY) {
      final CountDownLatch changed = new CountDownLatch(1);
      channel.notifyWhenStateChanged(state, changed::countDown);
      if (!changed.await(TIMEOUT_S, TimeUnit.SECONDS)) {
        throw new TimeoutException("the channel stays " + state);
      }
    }
  }

  @Override
  void verify(ManagedChannel channel) {}

  @Override
  void dispose() {}

  @Override
  Status.Code brokenByServer(Status.Code code) {
    return Status.Code.CANCELLED;
  }

  @Override
  boolean countsCallsBeforeHalfClose() {
    return true;
  }
}
