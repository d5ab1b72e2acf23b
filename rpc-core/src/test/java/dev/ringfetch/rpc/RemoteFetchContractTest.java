package dev.ringfetch.rpc;

import org.junit.jupiter.api.Tag;

/**
 * The transport contract over rings between sides that have memory of their own, as over RDMA: the
 * client reads the answers.
 */
@Tag("slow")
final class RemoteFetchContractTest extends RemoteContract {
  RemoteFetchContractTest() {
    super("simulated", ReplyMode.FETCH, RemoteHarness::new);
  }
}
