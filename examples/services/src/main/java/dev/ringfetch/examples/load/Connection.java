package dev.ringfetch.examples.load;

import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.Rings;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingChannelBuilder;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.ServerBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options of a client process, and the channel that they describe. */
public final class Connection {
  private static final int END_SECONDS = 10;

  @Option(
      names = "--target",
      required = true,
      description = "Host and port of the server, or unix:PATH of its socket.")
  private String target;

  @Option(names = "--transport", required = true, description = "${COMPLETION-CANDIDATES}.")
  private Side side;

  @Option(names = "--fallback", description = "Make calls over gRPC while there is no ring.")
  private boolean fallback;

  @Option(names = "--direct", description = "Use a direct executor.")
  private boolean direct;

  @Mixin private Rings rings;

  private ManagedChannel channel;

  /** The arguments that give a client process such a connection. */
  public static List<String> arguments(String target, Side side, boolean direct, Rings rings) {
    final List<String> arguments = new ArrayList<>(rings.arguments());
    arguments.addAll(List.of("--target", target, "--transport", side.name()));
    if (direct) {
      arguments.add("--direct");
    }
    return arguments;
  }

  /** The target, for what opens no channel of this. */
  public String target() {
    return target;
  }

  /** The channel; opened at the first call. */
  public ManagedChannel channel() {
    if (channel == null) {
      // Asked for with credentials, the transport is one that the target's addresses are for.
      final ManagedChannelBuilder<?> builder =
          side == Side.ring
              ? ring().usePlaintext()
              : Grpc.newChannelBuilder(target, InsecureChannelCredentials.create());
      if (direct) {
        builder.directExecutor();
      }
      channel = builder.build();
    }
    return channel;
  }

  private RingChannelBuilder ring() {
    final RingChannelBuilder builder = RingChannelBuilder.forTarget(target);
    if (!fallback) {
      builder.requireFabric();
    }
    rings.apply(builder);
    return builder;
  }

  /** The builder of a server of the same side, for a process that answers calls by calls. */
  public ServerBuilder<?> serverBuilder() {
    return side.serverBuilder(rings);
  }

  /** The transports that have served so far, and their numbers of calls. */
  public Answer describe() {
    if (channel() instanceof RingChannel ring) {
      return new Answer()
          .with("transport", ring.transport().name())
          .with("ring", ring.transport().isRing())
          .with("reason", ring.transport().reason())
          .with("ringCalls", ring.ringCalls())
          .with("grpcCalls", ring.grpcCalls());
    }
    return new Answer().with("transport", "grpc").with("ring", false);
  }

  /** Ends the channel. */
  public void close() throws InterruptedException {
    if (channel != null && !channel.shutdown().awaitTermination(END_SECONDS, TimeUnit.SECONDS)) {
      channel.shutdownNow();
      System.err.println("the channel does not end within " + END_SECONDS + " s: " + channel);
    }
  }
}
