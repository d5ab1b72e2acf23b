package dev.ringfetch.rpc;

import static dev.ringfetch.call.TaskRecord.SHORT_NS_DEFAULT;

import io.grpc.ServerCredentials;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** Parts of the transport contract over rings to a server with memory for a message at a time. */
@Tag("slow")
final class RingBudgetContractTest {
  private static class Harness extends RingHarness {
    private final MessageBudget budget = new MessageBudget(1);

    @Override
    RingServerBuilder newServerBuilder(int port, ServerCredentials credentials) {
      return super.newServerBuilder(port, credentials).messageBudget(budget);
    }
  }

  /** Polling threads run handlers from the first call on: otherwise the machine's speed decides. */
  private static final class InlineHarness extends Harness {
    @Override
    RingServerBuilder newServerBuilder(int port, ServerCredentials credentials) {
      return super.newServerBuilder(port, credentials).inlineHandlers(0, SHORT_NS_DEFAULT, 1);
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
      super(InlineHarness::new);
    }

    @Override
    boolean reuses() {
      return true;
    }
  }
}
