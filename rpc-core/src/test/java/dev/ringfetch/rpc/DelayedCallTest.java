package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.ClientCall;
import io.grpc.Metadata;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class DelayedCallTest {
  private final Recorded first = new Recorded();
  private final Recorded other = new Recorded();
  private boolean underWay;

  /** A call that notes its operations; the message "throw" throws. */
  private static final class Recorded extends ClientCall<String, String> {
    final List<String> operations = new ArrayList<>();

    @Override
    public void start(Listener<String> listener, Metadata headers) {}

    @Override
    public void request(int numMessages) {
      operations.add("request " + numMessages);
    }

    @Override
    public void cancel(String message, Throwable cause) {
      operations.add("cancel " + message);
    }

    @Override
    public void halfClose() {
      operations.add("half-close");
    }

    @Override
    public void sendMessage(String message) {
      operations.add(message);
      if (message.equals("throw")) {
        throw new IllegalStateException("the test wants it");
      }
    }
  }

  private DelayedCall<String, String> trying() {
    final DelayedCall<String, String> call =
        new DelayedCall<>(DelayedCall.State.TRYING) {
          @Override
          boolean isFirstUnderWay() {
            return underWay;
          }
        };
    call.tries(first);
    return call;
  }

  @Test
  void replaysInOrderAndThenPassesOn() {
    final DelayedCall<String, String> call = new DelayedCall<>();
    call.request(1);
    call.sendMessage("a");
    assertFalse(call.isReady());
    call.become(other, started -> started.sendMessage("earlier"));
    call.halfClose();
    assertEquals(List.of("earlier", "request 1", "a", "half-close"), other.operations);
    assertTrue(call.isReady());
  }

  @Test
  void aCancelComesInsteadOfTheReplay() {
    final DelayedCall<String, String> call = new DelayedCall<>();
    call.sendMessage("a");
    call.cancel("enough", null);
    call.sendMessage("b");
    call.become(other, started -> started.sendMessage("earlier"));
    assertEquals(List.of("cancel enough"), other.operations);
  }

  @Test
  void aCancelDuringTheReplayComesAtOnce() {
    final DelayedCall<String, String> call = new DelayedCall<>();
    call.sendMessage("a");
    call.become(other, started -> call.cancel("enough", null));
    assertEquals(List.of("cancel enough", "a"), other.operations);
  }

  @Test
  void theFirstCallsOperationsGoToTheOtherOneThatTakesItsPlace() {
    final DelayedCall<String, String> call = trying();
    call.sendMessage("a");
    assertTrue(call.begin());
    assertFalse(call.begin());
    call.sendMessage("b");
    call.become(other, started -> {});
    assertEquals(List.of("a"), first.operations);
    assertEquals(List.of("a", "b"), other.operations);
  }

  @Test
  void theFirstCallUnderWayStaysTheOnlyOne() {
    final DelayedCall<String, String> call = trying();
    underWay = true;
    call.sendMessage("a");
    call.sendMessage("b");
    call.cancel("enough", null);
    assertEquals(List.of("a", "b", "cancel enough"), first.operations);
    assertFalse(call.begin());
  }

  @Test
  void nothingHasAnEffectWhereThereIsNoOtherCall() {
    final DelayedCall<String, String> call = trying();
    assertTrue(call.begin());
    call.sendMessage("a");
    call.end();
    call.sendMessage("b");
    call.cancel("enough", null);
    assertEquals(List.of(), first.operations);
    assertThrows(IllegalStateException.class, call::end);
  }

  @Test
  void anOperationThatThrowsInTheReplayCancels() {
    final DelayedCall<String, String> call = new DelayedCall<>();
    call.sendMessage("throw");
    call.sendMessage("b");
    call.become(other, started -> {});
    assertEquals(List.of("throw", "cancel Failed to repeat the call"), other.operations);
    call.request(1);
    assertEquals("request 1", other.operations.get(2));
  }
}
