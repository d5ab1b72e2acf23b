package dev.ringfetch.rpc;

import io.grpc.ChannelCredentials;
import io.grpc.Grpc;
import io.grpc.ManagedChannelBuilder;
import io.grpc.ServerBuilder;
import io.grpc.ServerCredentials;

/** Plain gRPC: what it does is how a ring has to behave. */
final class GrpcHarness extends PlainHarness {
  @Override
  ServerBuilder<?> newServerBuilder(int port, ServerCredentials credentials) {
    return Grpc.newServerBuilderForPort(port, credentials);
  }

  @Override
  ManagedChannelBuilder<?> newChannelBuilder(String target, ChannelCredentials credentials) {
    return Grpc.newChannelBuilder(target, credentials);
  }
}
