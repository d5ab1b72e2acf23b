package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.CommandLoop;
import dev.ringfetch.index.service.IndexService;
import dev.ringfetch.index.service.Indexes;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** A server process of gRPC at a Unix socket, with an index. */
@Command(name = "unix-server")
final class UnixServer implements Callable<Integer> {
  private static final int END_SECONDS = 10;

  @Option(names = "--direct", description = "Run the handlers on the threads of the transport.")
  private boolean direct;

  @Option(names = "--socket", required = true, description = "Made by this process.")
  private Path socket;

  /** Runs the process. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new UnixServer()).execute(args));
  }

  @Override
  public Integer call() throws Exception {
    final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(EpollIoHandler.newFactory());
    final NettyServerBuilder builder =
        NettyServerBuilder.forAddress(new DomainSocketAddress(socket.toFile()))
            .channelType(EpollServerDomainSocketChannel.class)
            .bossEventLoopGroup(loops)
            .workerEventLoopGroup(loops)
            .addService(new IndexService(new Indexes()));
    if (direct) {
      builder.directExecutor();
    }
    final Server server = builder.build().start();
    Allocation.addTo(new CommandLoop()).on("listens", arguments -> new Answer()).run();
    if (!server.shutdown().awaitTermination(END_SECONDS, TimeUnit.SECONDS)) {
      server.shutdownNow();
    }
    final var unused = loops.shutdownGracefully(0, END_SECONDS, TimeUnit.SECONDS);
    return CommandLine.ExitCode.OK;
  }
}
