package dev.ringfetch.benchmarks.stores;

import dev.ringfetch.examples.load.AllocatedBytes;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.CommandLoop;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** A server process of plain gRPC over netty, with {@link MapService} and direct executors. */
public final class MapProcess {
  private MapProcess() {}

  /** Runs the process. */
  public static void main(String[] args) throws IOException {
    final MapService service = new MapService();
    final Server server =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .addService(service)
            .addService(service.admin())
            .directExecutor()
            .build()
            .start();
    new CommandLoop()
        .on("port", arguments -> new Answer().with("port", server.getPort()))
        .on("allocated", arguments -> AllocatedBytes.answer())
        .run();
    server.shutdownNow();
    System.exit(0);
  }
}
