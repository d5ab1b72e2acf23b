package dev.ringfetch.rpc;

import org.junit.jupiter.api.Nested;

/** The transport contract over rings in shared memory. */
final class RingContractTest {
  @Nested
  final class OnUnaryExchange extends UnaryExchangeContract {
    OnUnaryExchange() {
      super(RingHarness::new);
    }
  }

  @Nested
  final class OnStreaming extends StreamingContract {
    OnStreaming() {
      super(RingHarness::new);
    }
  }

  @Nested
  final class OnCredentials extends CredentialsContract {
    OnCredentials() {
      super(RingHarness::new);
    }
  }

  @Nested
  final class OnCredentialsUnderTls extends CredentialsContract {
    OnCredentialsUnderTls() {
      super(() -> new RingHarness().secure(Tls.server(), Tls.client()));
    }
  }

  @Nested
  final class OnTokens extends TokenContract {
    OnTokens() {
      super(RingHarness::new);
    }
  }

  @Nested
  final class OnSecurity extends SecurityContract {
    OnSecurity() {
      super(RingHarness::new);
    }
  }

  @Nested
  final class OnTransportFilter extends TransportFilterContract {
    OnTransportFilter() {
      super(RingHarness::new);
    }
  }

  @Nested
  final class OnTracers extends TracerContract {
    OnTracers() {
      super(RingHarness::new);
    }
  }

  @Nested
  final class OnMetadata extends MetadataContract {
    OnMetadata() {
      super(RingHarness::new);
    }
  }

  @Nested
  final class OnStatus extends StatusContract {
    OnStatus() {
      super(RingHarness::new);
    }
  }

  @Nested
  final class OnCallRules extends CallRulesContract {
    OnCallRules() {
      super(RingHarness::new);
    }
  }

  @Nested
  final class OnUserFailure extends UserFailureContract {
    OnUserFailure() {
      super(RingHarness::new);
    }
  }

  @Nested
  final class OnDeadline extends DeadlineContract {
    OnDeadline() {
      super(RingHarness::new);
    }
  }

  @Nested
  final class OnCancellation extends CancellationContract {
    OnCancellation() {
      super(RingHarness::new);
    }
  }

  @Nested
  final class OnLimits extends LimitsContract {
    OnLimits() {
      super(RingHarness::new);
    }
  }

  @Nested
  final class OnExecutor extends ExecutorContract {
    OnExecutor() {
      super(RingHarness::new);
    }
  }

  @Nested
  final class OnLifecycle extends LifecycleContract {
    OnLifecycle() {
      super(RingHarness::new);
    }
  }

  @Nested
  final class OnInterceptor extends InterceptorContract {
    OnInterceptor() {
      super(RingHarness::new);
    }
  }

  @Nested
  final class OnEncoding extends EncodingContract {
    OnEncoding() {
      super(RingHarness::new);
    }
  }

  @Nested
  final class OnHeaders extends HeadersContract {
    OnHeaders() {
      super(RingHarness::new);
    }
  }

  @Nested
  final class OnTelemetry extends TelemetryContract {
    OnTelemetry() {
      super(RingHarness::new);
    }
  }
}
