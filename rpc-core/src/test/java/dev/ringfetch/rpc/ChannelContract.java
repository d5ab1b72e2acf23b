package dev.ringfetch.rpc;

import org.junit.jupiter.api.Nested;

/** All parts of the transport contract, over a transport of the subclass. */
abstract class ChannelContract {
  /** The transport, once for each test. */
  abstract TransportHarness newHarness();

  @Nested
  final class OnUnaryExchange extends UnaryExchangeContract {
    OnUnaryExchange() {
      super(ChannelContract.this::newHarness);
    }
  }

  @Nested
  final class OnStreaming extends StreamingContract {
    OnStreaming() {
      super(ChannelContract.this::newHarness);
    }
  }

  @Nested
  final class OnCredentials extends CredentialsContract {
    OnCredentials() {
      super(ChannelContract.this::newHarness);
    }
  }

  @Nested
  final class OnCredentialsUnderTls extends CredentialsContract {
    OnCredentialsUnderTls() {
      super(() -> newHarness().secure(Tls.server(), Tls.client()));
    }
  }

  @Nested
  final class OnTokens extends TokenContract {
    OnTokens() {
      super(ChannelContract.this::newHarness);
    }
  }

  @Nested
  final class OnSecurity extends SecurityContract {
    OnSecurity() {
      super(ChannelContract.this::newHarness);
    }
  }

  @Nested
  final class OnTransportFilter extends TransportFilterContract {
    OnTransportFilter() {
      super(ChannelContract.this::newHarness);
    }
  }

  @Nested
  final class OnTracers extends TracerContract {
    OnTracers() {
      super(ChannelContract.this::newHarness);
    }
  }

  @Nested
  final class OnMetadata extends MetadataContract {
    OnMetadata() {
      super(ChannelContract.this::newHarness);
    }
  }

  @Nested
  final class OnStatus extends StatusContract {
    OnStatus() {
      super(ChannelContract.this::newHarness);
    }
  }

  @Nested
  final class OnCallRules extends CallRulesContract {
    OnCallRules() {
      super(ChannelContract.this::newHarness);
    }
  }

  @Nested
  final class OnUserFailure extends UserFailureContract {
    OnUserFailure() {
      super(ChannelContract.this::newHarness);
    }
  }

  @Nested
  final class OnDeadline extends DeadlineContract {
    OnDeadline() {
      super(ChannelContract.this::newHarness);
    }
  }

  @Nested
  final class OnCancellation extends CancellationContract {
    OnCancellation() {
      super(ChannelContract.this::newHarness);
    }
  }

  @Nested
  final class OnLimits extends LimitsContract {
    OnLimits() {
      super(ChannelContract.this::newHarness);
    }
  }

  @Nested
  final class OnExecutor extends ExecutorContract {
    OnExecutor() {
      super(ChannelContract.this::newHarness);
    }
  }

  @Nested
  final class OnLifecycle extends LifecycleContract {
    OnLifecycle() {
      super(ChannelContract.this::newHarness);
    }
  }

  @Nested
  final class OnInterceptor extends InterceptorContract {
    OnInterceptor() {
      super(ChannelContract.this::newHarness);
    }
  }

  @Nested
  final class OnEncoding extends EncodingContract {
    OnEncoding() {
      super(ChannelContract.this::newHarness);
    }
  }

  @Nested
  final class OnHeaders extends HeadersContract {
    OnHeaders() {
      super(ChannelContract.this::newHarness);
    }
  }

  @Nested
  final class OnTelemetry extends TelemetryContract {
    OnTelemetry() {
      super(ChannelContract.this::newHarness);
    }
  }
}
