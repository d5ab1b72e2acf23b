package dev.ringfetch.frameworks.stubs;

import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingChannelBuilder;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.BindableService;
import io.grpc.Server;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** A server with one service, and a channel to it that makes no call over gRPC. */
public final class Pair implements AutoCloseable {
  private static final int END_SECONDS = 30;

  private final Server server;
  private final RingChannel channel;

  /** Starts both. */
  public Pair(BindableService service) throws IOException {
    server = RingServerBuilder.forPort(0).addService(service).build().start();
    channel =
        RingChannelBuilder.forTarget("localhost:" + server.getPort())
            .usePlaintext()
            .requireFabric()
            .build();
  }

  /** The channel. */
  public RingChannel channel() {
    return channel;
  }

  /** Ends both. */
  @Override
  public void close() {
    channel.shutdownNow();
    server.shutdownNow();
    try {
      if (!channel.awaitTermination(END_SECONDS, TimeUnit.SECONDS)
          || !server.awaitTermination(END_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException("they do not end within " + END_SECONDS + " s");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
