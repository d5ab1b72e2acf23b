package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ringfetch.fabric.FabricCapabilities.WriteOrder;
import dev.ringfetch.fabric.FabricProvider;
import dev.ringfetch.fabric.sim.SimContext;
import dev.ringfetch.fabric.sim.SimEngine;
import dev.ringfetch.fabric.sim.SimFabric;
import dev.ringfetch.fabric.sim.SimNetwork;
import dev.ringfetch.fabric.sim.SimProvider;
import dev.ringfetch.fabric.sim.Timeline;
import io.grpc.ChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.SecurityLevel;
import io.grpc.ServerCredentials;
import java.io.IOException;
import java.util.List;

/** Rings between sides that have memory of their own, through a network card that is a thread. */
final class RemoteHarness extends RingHarness {
  private static final int SEND_QUEUE_DEPTH = 16; // so small that it is full at times
  private static final int MAX_DATAGRAM = 1024; // bytes
  private static final int DATAGRAM_FAULTS = 8; // one in so many fares badly

  private final Timeline timeline = new Timeline(System.nanoTime());
  private final SimNetwork network =
      new SimNetwork(
          timeline,
          new SimContext()
              .loadStore(false)
              .writeOrder(WriteOrder.NONE)
              .sendQueueDepth(SEND_QUEUE_DEPTH)
              .maxDatagram(MAX_DATAGRAM)
              .datagramFaults(DATAGRAM_FAULTS)
              .engine(true));
  private final SimEngine engine = SimEngine.start(network);
  private final List<FabricProvider> providers = List.of(new SimProvider(network));
  private final ReplyMode mode;

  RemoteHarness(ReplyMode mode) {
    this.mode = mode;
  }

  @Override
  RingServerBuilder newServerBuilder(int port, ServerCredentials credentials) {
    return super.newServerBuilder(port, credentials)
        .providers(providers)
        .plaintextFabrics(SimFabric.NAME);
  }

  @Override
  RingChannelBuilder newChannelBuilder(String target, ChannelCredentials credentials) {
    return super.newChannelBuilder(target, credentials)
        .providers(providers)
        .plaintextFabrics(SimFabric.NAME)
        .replyMode(mode);
  }

  @Override
  String fabric() {
    return SimFabric.NAME;
  }

  /** Whatever the connection is: others may read along. */
  @Override
  SecurityLevel securityLevel() {
    return SecurityLevel.NONE;
  }

  @Override
  void verify(ManagedChannel channel) {
    super.verify(channel);
    assertEquals(List.of(), network.violations(), () -> "seed=" + timeline.seed());
  }

  @Override
  public String toString() {
    return mode + " seed=" + timeline.seed();
  }

  @Override
  void dispose() throws IOException {
    engine.close();
    super.dispose();
  }
}
