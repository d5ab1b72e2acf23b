package dev.ringfetch.rpc;

import org.junit.jupiter.api.Tag;

/**
 * The transport contract over RDMA: answers come in the way that proves faster. Both sides are in
 * one process, as the contract's tests look into the handlers; what they say goes through the
 * device.
 */
@Tag("verbs")
final class VerbsAdaptiveContractTest extends RemoteContract {
  VerbsAdaptiveContractTest() {
    super("verbs", ReplyMode.ADAPTIVE, VerbsHarness::new);
  }
}
