package dev.ringfetch.benchmarks;

import com.google.protobuf.ByteString;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.CommandLoop;
import dev.ringfetch.examples.process.Rings;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingChannelBuilder;
import io.grpc.Attributes;
import io.grpc.netty.NettyChannelBuilder;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * A client process with any number of channels, each with a session of its own. Each makes a call
 * over its ring when it is opened, and rests from then on.
 */
@Command(name = "session-holder")
final class SessionHolder implements Callable<Integer> {
  private static final int THREADS = 8;
  private static final int CALL_SECONDS = 60;
  private static final int END_SECONDS = 30;

  /** A server opens 256 sessions of one address at once, and then 8 a second. */
  private static final int ADDRESSES = 32;

  @Option(names = "--port", required = true)
  private int port;

  @Option(names = "--first-address", required = true)
  private int firstAddress;

  @Mixin private Rings rings;

  private final Deque<RingChannel> channels = new ArrayDeque<>();
  private int opened;

  /** Runs the process. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new SessionHolder()).execute(args));
  }

  @Override
  public Integer call() throws Exception {
    final ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    Footprint.addTo(new CommandLoop())
        .on("hold", arguments -> hold(threads, Integer.parseInt(arguments.get(0))))
        .run();
    hold(threads, 0);
    threads.shutdown();
    return CommandLine.ExitCode.OK;
  }

  /** Opens or ends channels until there are so many. */
  private Answer hold(ExecutorService threads, int count) throws Exception {
    final List<Future<RingChannel>> opening = new ArrayList<>();
    while (channels.size() + opening.size() < count) {
      final int address = firstAddress + opened++ % ADDRESSES;
      opening.add(threads.submit(() -> open(address)));
    }
    for (final Future<RingChannel> channel : opening) {
      channels.add(channel.get());
    }
    final List<RingChannel> ending = new ArrayList<>();
    while (channels.size() > count) {
      ending.add(channels.remove());
    }
    ending.forEach(RingChannel::shutdown);
    for (final RingChannel channel : ending) {
      if (!channel.awaitTermination(END_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException("does not end: " + channel);
      }
    }
    return new Answer().with("sessions", channels.size());
  }

  private RingChannel open(int address) {
    final NettyChannelBuilder beneath =
        NettyChannelBuilder.forAddress("127.0.0.1", port)
            .localSocketPicker(
                new NettyChannelBuilder.LocalSocketPicker() {
                  @Override
                  public InetSocketAddress createSocketAddress(
                      SocketAddress remote, Attributes attributes) {
                    return new InetSocketAddress("127.0.0." + address, 0);
                  }
                });
    final RingChannelBuilder builder =
        RingChannelBuilder.over(beneath, "127.0.0.1:" + port).requireFabric();
    rings.apply(builder);
    final RingChannel channel = builder.usePlaintext().directExecutor().build();
    final var unused =
        IndexGrpc.newBlockingStub(channel)
            .withWaitForReady()
            .withDeadlineAfter(CALL_SECONDS, TimeUnit.SECONDS)
            .get(GetRequest.newBuilder().setKey(ByteString.copyFromUtf8("session")).build());
    return channel;
  }
}
