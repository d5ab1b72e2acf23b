package dev.ringfetch.call;

import static dev.ringfetch.call.ServerSteps.UNIT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.call.ServerSteps.Frame;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.rpc.Lean;
import dev.ringfetch.rpc.LeanCall;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Reused calls of a session with 256 streams, step by step. */
@Timeout(60)
final class BareServerCallTest {
  private static final int CANCELLED = 1;
  private static final int MORE_THAN_STREAMS = 300;

  private final List<String> requests = new ArrayList<>();
  private Predicate<LeanCall> answers = call -> true;
  private int index;

  private final ServerServiceDefinition service =
      Lean.replace(
          ServerServiceDefinition.builder("steps.Steps")
              .addMethod(
                  ServerSteps.method("Call", (call, headers) -> new ServerCall.Listener<>() {}))
              .build(),
          "Call",
          (call, request, offset, length) -> {
            final String text = new String(request, offset, length, StandardCharsets.UTF_8);
            requests.add(text);
            if (answers.test(call)) {
              final byte[] answer = ("to " + text).getBytes(StandardCharsets.UTF_8);
              call.answer(answer, 0, answer.length);
            }
            return true;
          });

  private final ServerSteps steps = ServerSteps.direct(List.copyOf(service.getMethods()));

  /** Another id each time, of the first index. */
  private int nextId() {
    index++;
    return index << 16 | 1;
  }

  private void assertServes() {
    final int id = nextId();
    steps.request(id, 0, "next");
    assertEquals(List.of(new Frame(id, UNIT, 0, "to next")), steps.frames());
  }

  @Test
  void noHandlerRunsForARequestThatIsCancelledAtOnce() {
    for (int i = 0; i < MORE_THAN_STREAMS; i++) {
      final int id = nextId();
      steps.cancelledRequest(id, 0, "late");
      assertEquals(List.of(new Frame(id, FrameDescriptor.CLOSE, CANCELLED, "")), steps.frames());
      steps.tellConsumed();
    }
    assertEquals(List.of(), requests);
    assertServes();
  }

  @Test
  void anAnswerAfterACancelIsDroppedAndItsCallCountsNoMore() {
    for (int i = 0; i < MORE_THAN_STREAMS; i++) {
      final int id = nextId();
      answers =
          call -> {
            steps.cancel(id);
            assertTrue(call.isCancelled());
            return true;
          };
      steps.request(id, 0, "late");
      assertEquals(List.of(new Frame(id, FrameDescriptor.CLOSE, CANCELLED, "")), steps.frames());
      steps.tellConsumed();
    }
    answers = call -> true;
    assertServes();
  }

  @Test
  void aDetachedCallThatWasCancelledIsNoHandlersFault() {
    for (int i = 0; i < MORE_THAN_STREAMS; i++) {
      final int id = nextId();
      final List<LeanCall> detached = new ArrayList<>();
      answers =
          call -> {
            steps.cancel(id);
            detached.add(call.detach());
            return false;
          };
      steps.request(id, 0, "late");
      assertEquals(List.of(new Frame(id, FrameDescriptor.CLOSE, CANCELLED, "")), steps.frames());
      assertTrue(detached.get(0).isCancelled());
      detached.get(0).fail(Status.ABORTED, new Metadata());
      steps.tellConsumed();
    }
    answers = call -> true;
    assertServes();
  }

  @Test
  void aRequestThatComesWhileAHandlerRunsHasAnotherCall() {
    final int outer = nextId();
    final int inner = outer + 1;
    final List<LeanCall> calls = new ArrayList<>();
    answers =
        call -> {
          calls.add(call);
          if (calls.size() == 1) {
            steps.request(inner, 0, "inner");
          }
          return true;
        };
    steps.request(outer, 0, "outer");
    assertEquals(
        List.of(new Frame(inner, UNIT, 0, "to inner"), new Frame(outer, UNIT, 0, "to outer")),
        steps.frames());
    assertTrue(calls.get(0) != calls.get(1));
    assertServes();
  }
}
