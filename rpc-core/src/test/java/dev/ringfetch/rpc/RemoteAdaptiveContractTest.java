package dev.ringfetch.rpc;

import dev.ringfetch.session.ReplyMode;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;

/**
 * The transport contract over rings between sides that have memory of their own, as over RDMA:
 * answers come in the way that proves faster.
 */
@Tag("slow")
final class RemoteAdaptiveContractTest extends RemoteContract {
  private static final ReplyMode MODE = ReplyMode.ADAPTIVE;

  @Override
  TransportHarness newHarness() {
    return new RemoteHarness(MODE);
  }

  @AfterAll
  static void verify() {
    verify("simulated", MODE);
  }
}
