package dev.ringfetch.rpc;

import io.grpc.ServerCredentials;
import org.junit.jupiter.api.Nested;

/** Parts of the transport contract over rings to a server with memory for a message at a time. */
final class RingBudgetContractTest {
  private static final class Harness extends RingHarness {
    private final MessageBudget budget = new MessageBudget(1);

    @Override
    RingServerBuilder newServerBuilder(int port, ServerCredentials credentials) {
      return super.newServerBuilder(port, credentials).messageBudget(budget);
    }
  }

  @Nested
  final class OnUnaryExchange extends UnaryExchangeContract {
    OnUnaryExchange() {
      super(Harness::new);
    }
  }

  @Nested
  final class OnStreaming extends StreamingContract {
    OnStreaming() {
      super(Harness::new);
    }
  }

  @Nested
  final class OnCancellation extends CancellationContract {
    OnCancellation() {
      super(Harness::new);
    }
  }

  @Nested
  final class OnLean extends LeanContract {
    OnLean() {
      super(Harness::new);
    }

    @Override
    boolean reuses() {
      return true;
    }
  }
}
