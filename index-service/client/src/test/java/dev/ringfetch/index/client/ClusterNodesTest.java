package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests of the addresses that nodes tell a client of other nodes. */
class ClusterNodesTest {
  private static final String SEED = "localhost:1";
  private static final String OTHER = "[::1]:2";

  private final ClusterNodes nodes =
      new ClusterNodes(
          new Targets(List.of(SEED), true),
          address -> ManagedChannelBuilder.forTarget(address).usePlaintext().build());

  @AfterEach
  void close() {
    nodes.close(ManagedChannel::shutdownNow);
  }

  @Test
  void addressesThatCannotBeAreLeftOut() {
    nodes.learn("::1:23603," + OTHER + ",bad host:5,,host:5:6");
    assertEquals(List.of(SEED, OTHER), nodes.addresses());
    nodes.lead("index", "::1:23603");
    assertTrue(nodes.addresses().contains(nodes.addressOf("index")));
    nodes.lead("index", OTHER);
    assertEquals(OTHER, nodes.addressOf("index"));
  }
}
