package dev.ringfetch.rpc;

import static dev.ringfetch.call.HandlerRecord.SHORT_NS_DEFAULT;

import io.grpc.ServerCredentials;

/** Rings whose server runs handlers in its polling threads from the first call on. */
final class InlineHarness extends RingHarness {
  @Override
  RingServerBuilder newServerBuilder(int port, ServerCredentials credentials) {
    return super.newServerBuilder(port, credentials).inlineHandlers(0, SHORT_NS_DEFAULT, 1);
  }
}
