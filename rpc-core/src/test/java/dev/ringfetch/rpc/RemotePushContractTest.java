package dev.ringfetch.rpc;

import org.junit.jupiter.api.Tag;

/**
 * The transport contract over rings between sides that have memory of their own, as over RDMA: the
 * server writes the answers.
 */
@Tag("slow")
final class RemotePushContractTest extends RemoteContract {
  RemotePushContractTest() {
    super("simulated", ReplyMode.PUSH, RemoteHarness::new);
  }
}
