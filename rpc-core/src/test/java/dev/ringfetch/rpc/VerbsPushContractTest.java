package dev.ringfetch.rpc;

import org.junit.jupiter.api.Tag;

/**
 * The transport contract over RDMA: the server writes the answers. Both sides are in one process,
 * as the contract's tests look into the handlers; what they say goes through the device.
 */
@Tag("verbs")
final class VerbsPushContractTest extends RemoteContract {
  VerbsPushContractTest() {
    super("verbs", ReplyMode.PUSH, VerbsHarness::new);
  }
}
