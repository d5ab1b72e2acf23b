package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.CallOptions;
import io.grpc.ConnectivityState;
import io.grpc.LoadBalancer.PickResult;
import io.grpc.LoadBalancer.PickSubchannelArgs;
import io.grpc.LoadBalancer.SubchannelPicker;
import io.grpc.Metadata;
import io.grpc.Status;
import org.junit.jupiter.api.Test;

/**
 * The picker that gRPC gets: whose result it returns for a call that the channel has picked for.
 */
final class TapTest {
  /** A policy that counts its picks, and returns another result each time. */
  private static final class Policy extends SubchannelPicker {
    private int picks;

    @Override
    public PickResult pickSubchannel(PickSubchannelArgs args) {
      return PickResult.withError(Status.UNAVAILABLE.withDescription("pick " + picks++));
    }
  }

  private final Policy policy = new Policy();
  private final Tap.Picker picker = picker(policy);

  private static Tap.Picker picker(Policy policy) {
    return new Tap.Picker(null, "round_robin", ConnectivityState.READY, policy);
  }

  private static Pick.Call call(CallOptions options) {
    return new Pick.Call(Bytes.METHOD, options, new Metadata());
  }

  private static Pick.Call callWith(Pick pick) {
    return call(CallOptions.DEFAULT.withOption(Pick.PICK, pick));
  }

  @Test
  void aPickIsUsedForOneCall() {
    final Pick pick = picker.pick(call(CallOptions.DEFAULT));
    assertSame(pick.result(), picker.pickSubchannel(callWith(pick)));
    assertEquals(1, policy.picks);
    assertEquals(
        "pick 1", picker.pickSubchannel(callWith(pick)).getStatus().getDescription(), "a retry");
  }

  @Test
  void aPickOfAnotherChannelIsIgnored() {
    final Backends other = new Backends(true, null);
    final Pick foreign =
        new Tap.Picker(other, "round_robin", ConnectivityState.READY, policy)
            .pick(call(CallOptions.DEFAULT));
    assertEquals("pick 1", picker.pickSubchannel(callWith(foreign)).getStatus().getDescription());
    assertTrue(foreign.isFresh());
    final Backends own = new Backends(true, null);
    assertNotSame(
        foreign, own.pick(Bytes.METHOD, CallOptions.DEFAULT.withOption(Pick.PICK, foreign), null));
    assertSame(
        foreign,
        other.pick(Bytes.METHOD, CallOptions.DEFAULT.withOption(Pick.PICK, foreign), null));
  }

  @Test
  void aPickOfAFormerPickerIsMadeAnew() {
    final Pick pick = picker.pick(call(CallOptions.DEFAULT));
    final Policy next = new Policy();
    next.picks = 7;
    assertEquals(
        "pick 7", picker(next).pickSubchannel(callWith(pick)).getStatus().getDescription());
  }

  @Test
  void aStreamWithoutTheTapCountsOnlyWhileThereIsNoPicker() {
    final Backends backends = new Backends(true, null);
    backends.begin(null, new RingPolicy(false, 0, 0, false), null, null, 1);
    backends.shutdown(() -> {}); // it logs nothing then
    backends.onPicker(picker);
    backends.onBypassed();
    assertNull(backends.obstacle(), "the stream is older than the picker");
    backends.onPicker(null);
    assertNull(backends.obstacle());
    backends.onBypassed();
    assertEquals(Backends.BYPASSED, backends.obstacle());
    backends.onPicker(picker);
    assertNull(backends.obstacle());
  }

  @Test
  void aCallThatARingHasCarriedIsPickedAgain() {
    final Pick pick = picker.pick(call(CallOptions.DEFAULT));
    pick.onUsed();
    assertEquals("pick 1", picker.pickSubchannel(callWith(pick)).getStatus().getDescription());
  }
}
