package dev.ringfetch.interop;

import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.ForwardingServerBuilder;
import io.grpc.InsecureServerCredentials;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.ServerStreamTracer;
import io.grpc.census.GrpcCensus;
import io.grpc.netty.InternalNettyServerBuilder;
import io.grpc.netty.NettyServerBuilder;
import java.nio.file.Path;
import java.time.Duration;

/** The suite with its server in the same process, which the suite starts anew for each case. */
public abstract class ServedInterop extends ChannelInterop {
  private static final GrpcCensus TRACING = GrpcCensus.newBuilder().disableStats().build();

  private static final String OPEN = "ringfetch.v1.SessionService/Open";
  private static final ServerStreamTracer NONE = new ServerStreamTracer() {};

  private Server server;

  /** The server's builder, with the suite's own statistics. */
  abstract ServerBuilder<?> serverBuilder();

  @Override
  protected final ServerBuilder<?> getServerBuilder() {
    return new Remembering(serverBuilder())
        .addStreamTracerFactory(createCustomCensusTracerFactory());
  }

  @Override
  final int port() {
    return server.getPort();
  }

  /** A builder of gRPC's own server. */
  static NettyServerBuilder netty() {
    final NettyServerBuilder netty =
        NettyServerBuilder.forPort(0, InsecureServerCredentials.create())
            .maxInboundMessageSize(MAX_MESSAGE_SIZE);
    InternalNettyServerBuilder.setStatsEnabled(netty, false); // the suite brings its own
    return netty;
  }

  /** A builder of a server with rings in a directory. */
  static RingServerBuilder ring(Path directory) {
    return TRACING.configureServerBuilder(
        RingServerBuilder.over(netty())
            .shmDirectory(directory)
            .pollers(1)
            .spinTime(Duration.ZERO)
            .maxInboundMessageSize(MAX_MESSAGE_SIZE));
  }

  /**
   * Keeps the server for its port, which the suite does not tell; and the suite's tracers from what
   * a server without rings is asked for, for which the suite has no case.
   */
  private final class Remembering extends ForwardingServerBuilder<Remembering> {
    private final ServerBuilder<?> builder;

    Remembering(ServerBuilder<?> builder) {
      this.builder = builder;
    }

    @Override
    protected ServerBuilder<?> delegate() {
      return builder;
    }

    @Override
    public Remembering addStreamTracerFactory(ServerStreamTracer.Factory factory) {
      return super.addStreamTracerFactory(
          new ServerStreamTracer.Factory() {
            @Override
            public ServerStreamTracer newServerStreamTracer(String name, Metadata headers) {
              return OPEN.equals(name) ? NONE : factory.newServerStreamTracer(name, headers);
            }
          });
    }

    @Override
    public Server build() {
      server = super.build();
      return server;
    }
  }
}
