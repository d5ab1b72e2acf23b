package dev.ringfetch.rpc;

import org.junit.jupiter.api.Tag;

/**
 * The transport contract over RDMA: the server sends the answers in datagrams. Both sides are in
 * one process, as the contract's tests look into the handlers; what they say goes through the
 * device.
 */
@Tag("verbs")
final class VerbsDatagramContractTest extends RemoteContract {
  VerbsDatagramContractTest() {
    super("verbs", ReplyMode.DATAGRAM, VerbsHarness::new);
  }
}
