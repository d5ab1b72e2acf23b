package dev.ringfetch.rpc;

import static dev.ringfetch.call.TaskRecord.SHORT_NS_DEFAULT;

import io.grpc.ChannelCredentials;
import io.grpc.ServerCredentials;

/** Rings whose polling threads run handlers and callbacks from the first call on. */
final class InlineHarness extends RingHarness {
  @Override
  RingServerBuilder newServerBuilder(int port, ServerCredentials credentials) {
    return super.newServerBuilder(port, credentials).inlineHandlers(0, SHORT_NS_DEFAULT, 1);
  }

  @Override
  RingChannelBuilder newChannelBuilder(String target, ChannelCredentials credentials) {
    return super.newChannelBuilder(target, credentials).inlineCallbacks(0, SHORT_NS_DEFAULT, 1);
  }
}
