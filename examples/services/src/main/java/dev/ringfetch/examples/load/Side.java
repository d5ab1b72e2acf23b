package dev.ringfetch.examples.load;

import dev.ringfetch.examples.process.Rings;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.ServerBuilder;

/** The two sides of a comparison. */
public enum Side {
  /** A channel of Ringfetch that requires a ring. */
  ring,
  /** gRPC's own channel, over HTTP/2. */
  grpc;

  /** The builder of a server on a port that is free: Ringfetch's, or gRPC's own. */
  public ServerBuilder<?> serverBuilder(Rings rings) {
    if (this == grpc) {
      return Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create());
    }
    final RingServerBuilder builder = RingServerBuilder.forPort(0);
    rings.apply(builder);
    return builder;
  }
}
