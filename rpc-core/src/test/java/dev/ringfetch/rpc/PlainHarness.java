package dev.ringfetch.rpc;

import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** What the transports of gRPC itself have in common: how they behave is how a ring has to. */
abstract class PlainHarness extends TransportHarness {
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
