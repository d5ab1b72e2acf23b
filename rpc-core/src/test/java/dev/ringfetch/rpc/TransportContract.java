package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.abort;

import io.grpc.CallOptions;
import io.grpc.ServerCallHandler;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;

/**
 * What all parts of the transport contract share: one harness a test, and whether its calls went
 * where they should.
 */
abstract class TransportContract {
  private final Supplier<TransportHarness> harnesses;

  TransportHarness harness;

  /** The parts of the contract have the same names over all transports. */
  @RegisterExtension
  final TestExecutionExceptionHandler naming =
      (test, thrown) -> {
        System.out.println(test.getDisplayName() + " has failed over " + harness);
        throw thrown;
      };

  TransportContract(Supplier<TransportHarness> harnesses) {
    this.harnesses = harnesses;
  }

  @BeforeEach
  final void open(TestInfo test) {
    harness = harnesses.get();
    final String name = test.getTestMethod().orElseThrow().getName();
    final String difference = harness.allowedDifference(name);
    if (difference != null) {
      System.out.println(name + " is left out: " + difference);
      abort(difference);
    }
  }

  @AfterEach
  final void close() throws Exception {
    try (TransportHarness closing = harness) {
      if (closing.channel() != null) {
        closing.verify(closing.channel());
      }
    }
  }

  /** Serves {@link Bytes#METHOD}, and connects. */
  final void start(ServerCallHandler<byte[], byte[]> handler) throws Exception {
    harness.handle(handler).start();
  }

  final Exchange exchange() {
    return new Exchange(harness.channel());
  }

  final Exchange exchange(CallOptions options) {
    return new Exchange(harness.channel(), Bytes.METHOD, options);
  }

  final byte[] blockingCall(byte[] request) {
    return ClientCalls.blockingUnaryCall(
        harness.channel(), Bytes.METHOD, CallOptions.DEFAULT, request);
  }

  /** Makes one call that is to end well: the channel serves. */
  final void assertServes() throws InterruptedException {
    final byte[] request = Bytes.random(1, 32);
    assertEquals(32, exchange().send(request).response().length);
  }

  /** See {@link TransportHarness#brokenByServer}. */
  final void assertBrokenByServer(Status.Code code, String descriptionPart, Status status) {
    final Status.Code expected = harness.brokenByServer(code);
    assertStatus(expected, expected == code ? descriptionPart : "", status);
  }

  static void assertStatus(Status.Code code, String descriptionPart, Status status) {
    assertEquals(code, status.getCode(), status::toString);
    final String description = String.valueOf(status.getDescription());
    assertTrue(description.contains(descriptionPart), description);
  }
}
