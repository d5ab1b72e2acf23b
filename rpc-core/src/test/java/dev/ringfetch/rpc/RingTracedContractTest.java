package dev.ringfetch.rpc;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/**
 * The transport contract over rings once more, with tracers: a unary call then takes the way of
 * streams, which is other code on both sides, and the same contract.
 */
@Tag("slow")
final class RingTracedContractTest {
  @Nested
  final class OnUnaryExchange extends UnaryExchangeContract {
    OnUnaryExchange() {
      super(() -> new RingHarness().traced());
    }
  }

  @Nested
  final class OnCallRules extends CallRulesContract {
    OnCallRules() {
      super(() -> new RingHarness().traced());
    }
  }

  @Nested
  final class OnCancellation extends CancellationContract {
    OnCancellation() {
      super(() -> new RingHarness().traced());
    }
  }

  @Nested
  final class OnDeadline extends DeadlineContract {
    OnDeadline() {
      super(() -> new RingHarness().traced());
    }
  }

  @Nested
  final class OnStatus extends StatusContract {
    OnStatus() {
      super(() -> new RingHarness().traced());
    }
  }

  @Nested
  final class OnLimits extends LimitsContract {
    OnLimits() {
      super(() -> new RingHarness().traced());
    }
  }

  @Nested
  final class OnUserFailure extends UserFailureContract {
    OnUserFailure() {
      super(() -> new RingHarness().traced());
    }
  }

  @Nested
  final class OnMetadata extends MetadataContract {
    OnMetadata() {
      super(() -> new RingHarness().traced());
    }
  }

  @Nested
  final class OnEncoding extends EncodingContract {
    OnEncoding() {
      super(() -> new RingHarness().traced());
    }
  }

  @Nested
  final class OnHeaders extends HeadersContract {
    OnHeaders() {
      super(() -> new RingHarness().traced());
    }
  }

  @Nested
  final class OnExecutor extends ExecutorContract {
    OnExecutor() {
      super(() -> new RingHarness().traced());
    }
  }

  @Nested
  final class OnInterceptor extends InterceptorContract {
    OnInterceptor() {
      super(() -> new RingHarness().traced());
    }
  }

  @Nested
  final class OnCredentials extends CredentialsContract {
    OnCredentials() {
      super(() -> new RingHarness().traced());
    }
  }

  @Nested
  final class OnSecurity extends SecurityContract {
    OnSecurity() {
      super(() -> new RingHarness().traced());
    }
  }

  @Nested
  final class OnLifecycle extends LifecycleContract {
    OnLifecycle() {
      super(() -> new RingHarness().traced());
    }
  }
}
