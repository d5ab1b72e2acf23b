package dev.ringfetch.rpc;

import org.junit.jupiter.api.Tag;

/**
 * The transport contract over rings between sides that have memory of their own, as over RDMA: the
 * server sends the answers in datagrams, some of which are lost, late or damaged.
 */
@Tag("slow")
final class RemoteDatagramContractTest extends RemoteContract {
  RemoteDatagramContractTest() {
    super("simulated", ReplyMode.DATAGRAM, RemoteHarness::new);
  }
}
