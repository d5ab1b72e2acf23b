package dev.ringfetch.rpc;

import org.junit.jupiter.api.Nested;

/** The transport contract over plain gRPC, which is what a ring has to behave like. */
final class GrpcContractTest {
  @Nested
  final class OnUnaryExchange extends UnaryExchangeContract {
    OnUnaryExchange() {
      super(GrpcHarness::new);
    }
  }

  @Nested
  final class OnStreaming extends StreamingContract {
    OnStreaming() {
      super(GrpcHarness::new);
    }
  }

  @Nested
  final class OnCredentials extends CredentialsContract {
    OnCredentials() {
      super(GrpcHarness::new);
    }
  }

  @Nested
  final class OnCredentialsUnderTls extends CredentialsContract {
    OnCredentialsUnderTls() {
      super(() -> new GrpcHarness().secure(Tls.server(), Tls.client()));
    }
  }

  @Nested
  final class OnTokens extends TokenContract {
    OnTokens() {
      super(GrpcHarness::new);
    }
  }

  @Nested
  final class OnSecurity extends SecurityContract {
    OnSecurity() {
      super(GrpcHarness::new);
    }
  }

  @Nested
  final class OnTransportFilter extends TransportFilterContract {
    OnTransportFilter() {
      super(GrpcHarness::new);
    }
  }

  @Nested
  final class OnTracers extends TracerContract {
    OnTracers() {
      super(GrpcHarness::new);
    }
  }

  @Nested
  final class OnMetadata extends MetadataContract {
    OnMetadata() {
      super(GrpcHarness::new);
    }
  }

  @Nested
  final class OnStatus extends StatusContract {
    OnStatus() {
      super(GrpcHarness::new);
    }
  }

  @Nested
  final class OnCallRules extends CallRulesContract {
    OnCallRules() {
      super(GrpcHarness::new);
    }
  }

  @Nested
  final class OnUserFailure extends UserFailureContract {
    OnUserFailure() {
      super(GrpcHarness::new);
    }
  }

  @Nested
  final class OnDeadline extends DeadlineContract {
    OnDeadline() {
      super(GrpcHarness::new);
    }
  }

  @Nested
  final class OnCancellation extends CancellationContract {
    OnCancellation() {
      super(GrpcHarness::new);
    }
  }

  @Nested
  final class OnLimits extends LimitsContract {
    OnLimits() {
      super(GrpcHarness::new);
    }
  }

  @Nested
  final class OnExecutor extends ExecutorContract {
    OnExecutor() {
      super(GrpcHarness::new);
    }
  }

  @Nested
  final class OnLifecycle extends LifecycleContract {
    OnLifecycle() {
      super(GrpcHarness::new);
    }
  }

  @Nested
  final class OnInterceptor extends InterceptorContract {
    OnInterceptor() {
      super(GrpcHarness::new);
    }
  }

  @Nested
  final class OnEncoding extends EncodingContract {
    OnEncoding() {
      super(GrpcHarness::new);
    }
  }

  @Nested
  final class OnHeaders extends HeadersContract {
    OnHeaders() {
      super(GrpcHarness::new);
    }
  }

  @Nested
  final class OnTelemetry extends TelemetryContract {
    OnTelemetry() {
      super(GrpcHarness::new);
    }
  }
}
