package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The transport contract over gRPC's in-process transport, the other one that a ring is like. */
@Tag("slow")
final class InProcessContractTest {
  /** A test that is renamed would be left out of nothing, and its reason stay. */
  @Test
  void everyDifferenceIsOfATestThatThereIs() {
    final Set<String> tests =
        Arrays.stream(InProcessContractTest.class.getDeclaredClasses())
            .flatMap(nested -> Arrays.stream(nested.getSuperclass().getDeclaredMethods()))
            .filter(method -> method.isAnnotationPresent(Test.class))
            .map(Method::getName)
            .collect(Collectors.toSet());
    final Set<String> stale = new TreeSet<>(InProcessHarness.DIFFERENCES.keySet());
    stale.removeAll(tests);
    assertEquals(Set.of(), stale);
  }

  @Nested
  final class OnUnaryExchange extends UnaryExchangeContract {
    OnUnaryExchange() {
      super(InProcessHarness::new);
    }
  }

  @Nested
  final class OnStreaming extends StreamingContract {
    OnStreaming() {
      super(InProcessHarness::new);
    }
  }

  @Nested
  final class OnCredentials extends CredentialsContract {
    OnCredentials() {
      super(InProcessHarness::new);
    }
  }

  @Nested
  final class OnMetadata extends MetadataContract {
    OnMetadata() {
      super(InProcessHarness::new);
    }
  }

  @Nested
  final class OnStatus extends StatusContract {
    OnStatus() {
      super(InProcessHarness::new);
    }
  }

  @Nested
  final class OnCallRules extends CallRulesContract {
    OnCallRules() {
      super(InProcessHarness::new);
    }
  }

  @Nested
  final class OnUserFailure extends UserFailureContract {
    OnUserFailure() {
      super(InProcessHarness::new);
    }
  }

  @Nested
  final class OnDeadline extends DeadlineContract {
    OnDeadline() {
      super(InProcessHarness::new);
    }
  }

  @Nested
  final class OnCancellation extends CancellationContract {
    OnCancellation() {
      super(InProcessHarness::new);
    }
  }

  @Nested
  final class OnLimits extends LimitsContract {
    OnLimits() {
      super(InProcessHarness::new);
    }
  }

  @Nested
  final class OnExecutor extends ExecutorContract {
    OnExecutor() {
      super(InProcessHarness::new);
    }
  }

  @Nested
  final class OnLifecycle extends LifecycleContract {
    OnLifecycle() {
      super(InProcessHarness::new);
    }
  }

  @Nested
  final class OnInterceptor extends InterceptorContract {
    OnInterceptor() {
      super(InProcessHarness::new);
    }
  }

  @Nested
  final class OnEncoding extends EncodingContract {
    OnEncoding() {
      super(InProcessHarness::new);
    }
  }

  @Nested
  final class OnHeaders extends HeadersContract {
    OnHeaders() {
      super(InProcessHarness::new);
    }
  }

  @Nested
  final class OnTelemetry extends TelemetryContract {
    OnTelemetry() {
      super(InProcessHarness::new);
    }
  }

  @Nested
  final class OnTracers extends TracerContract {
    OnTracers() {
      super(InProcessHarness::new);
    }
  }
}
