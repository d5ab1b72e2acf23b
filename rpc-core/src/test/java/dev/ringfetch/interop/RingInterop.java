package dev.ringfetch.interop;

import dev.ringfetch.rpc.RingChannelBuilder;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.ForwardingServerBuilder;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.testing.integration.AbstractInteropTest;
import java.nio.file.Path;
import java.time.Duration;

/**
 * gRPC's own interop suite with both sides on a ring: a call that would go over gRPC fails. {@link
 * InteropTest} runs its cases.
 */
public final class RingInterop extends AbstractInteropTest {
  /** Directory of the shared-memory fabric; set by whoever runs the cases. */
  static Path directory;

  private Server server;

  @Override
  protected ServerBuilder<?> getServerBuilder() {
    return new Remembering(
        RingServerBuilder.forPort(0)
            .shmDirectory(directory)
            .pollers(1)
            .spinTime(Duration.ZERO)
            .maxInboundMessageSize(MAX_MESSAGE_SIZE)
            .addStreamTracerFactory(createCustomCensusTracerFactory()));
  }

  @Override
  protected ManagedChannelBuilder<?> createChannelBuilder() {
    return RingChannelBuilder.forAddress("localhost", server.getPort())
        .usePlaintext()
        .shmDirectory(directory)
        .spinTime(Duration.ZERO)
        .requireFabric()
        .maxInboundMessageSize(MAX_MESSAGE_SIZE)
        .intercept(createCensusStatsClientInterceptor());
  }

  /** Keeps the server for its port, which the suite does not tell. */
  private final class Remembering extends ForwardingServerBuilder<Remembering> {
    private final ServerBuilder<?> ring;

    Remembering(ServerBuilder<?> ring) {
      this.ring = ring;
    }

    @Override
    protected ServerBuilder<?> delegate() {
      return ring;
    }

    @Override
    public Server build() {
      server = super.build();
      return server;
    }
  }
}
