package dev.ringfetch.rpc;

import org.junit.jupiter.api.Tag;

/**
 * The transport contract over rings between sides that have memory of their own, as over RDMA:
 * answers come in the way that proves faster.
 */
@Tag("slow")
final class RemoteAdaptiveContractTest extends RemoteContract {
  RemoteAdaptiveContractTest() {
    super("simulated", ReplyMode.ADAPTIVE, RemoteHarness::new);
  }
}
