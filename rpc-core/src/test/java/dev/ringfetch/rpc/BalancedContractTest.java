package dev.ringfetch.rpc;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The contract of calls over rings to three servers that a policy picks in turn. */
@Tag("slow")
final class BalancedContractTest {
  @Nested
  final class OnUnaryExchange extends UnaryExchangeContract {
    OnUnaryExchange() {
      super(BalancedHarness::new);
    }
  }

  @Nested
  final class OnCallRules extends CallRulesContract {
    OnCallRules() {
      super(BalancedHarness::new);
    }
  }

  @Nested
  final class OnCancellation extends CancellationContract {
    OnCancellation() {
      super(BalancedHarness::new);
    }
  }

  @Nested
  final class OnDeadline extends DeadlineContract {
    OnDeadline() {
      super(BalancedHarness::new);
    }
  }

  @Nested
  final class OnStatus extends StatusContract {
    OnStatus() {
      super(BalancedHarness::new);
    }
  }

  @Nested
  final class OnUserFailure extends UserFailureContract {
    OnUserFailure() {
      super(BalancedHarness::new);
    }
  }

  @Nested
  final class OnMetadata extends MetadataContract {
    OnMetadata() {
      super(BalancedHarness::new);
    }
  }

  @Nested
  final class OnEncoding extends EncodingContract {
    OnEncoding() {
      super(BalancedHarness::new);
    }
  }

  @Nested
  final class OnHeaders extends HeadersContract {
    OnHeaders() {
      super(BalancedHarness::new);
    }
  }

  @Nested
  final class OnExecutor extends ExecutorContract {
    OnExecutor() {
      super(BalancedHarness::new);
    }
  }

  @Nested
  final class OnInterceptor extends InterceptorContract {
    OnInterceptor() {
      super(BalancedHarness::new);
    }
  }
}
