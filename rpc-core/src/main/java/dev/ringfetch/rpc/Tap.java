package dev.ringfetch.rpc;

import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.ConnectivityState;
import io.grpc.ConnectivityStateInfo;
import io.grpc.EquivalentAddressGroup;
import io.grpc.LoadBalancer;
import io.grpc.Status;
import io.grpc.util.ForwardingLoadBalancerHelper;
import io.grpc.util.ForwardingSubchannel;
import java.util.List;

/**
 * A load balancer that leaves everything to the application's policy, and tells the channel's
 * {@link Backends} which subchannels and which picker that policy has. Runs in gRPC's
 * synchronization context, but for the picker, which any thread uses.
 */
final class Tap extends LoadBalancer {
  /** The backend of a subchannel; it passes through all wrappers of other policies. */
  static final Attributes.Key<Backend> BACKEND =
      Attributes.Key.create("dev.ringfetch.rpc.Tap.BACKEND");

  /** Option of a call that ends when its pick is known, and tells the probe. */
  static final CallOptions.Key<BackendProbe> PROBE =
      CallOptions.Key.create("dev.ringfetch.rpc.Tap.PROBE");

  private static final PickResult PROBED =
      PickResult.withDrop(Status.CANCELLED.withDescription("the backend is known"));

  private final Helper helper;
  private TapProvider.Owner owner; // null: the channel has gone
  private Backends backends; // null: the policy works alone
  private String policyName;
  private LoadBalancer policy; // null until there are addresses
  private boolean ended;

  Tap(Helper helper) {
    this.helper = helper;
  }

  @Override
  public Status acceptResolvedAddresses(ResolvedAddresses addresses) {
    if (!(addresses.getLoadBalancingPolicyConfig() instanceof TapProvider.Config config)) {
      return Status.UNAVAILABLE.withDescription(
          TapProvider.POLICY + " is for the configs of Ringfetch's channels");
    }
    if (policy == null) {
      owner = config.owner();
      backends = owner == null ? null : owner.onTapBegins();
      policyName = config.policy().getPolicyName();
      policy =
          config.policy().newLoadBalancer(backends == null ? helper : new TappedHelper(backends));
    }
    return policy.acceptResolvedAddresses(
        addresses.toBuilder().setLoadBalancingPolicyConfig(config.policyConfig()).build());
  }

  @Override
  public void handleNameResolutionError(Status error) {
    if (policy != null) {
      policy.handleNameResolutionError(error);
    } else {
      helper.updateBalancingState(
          ConnectivityState.TRANSIENT_FAILURE, new FixedResultPicker(PickResult.withError(error)));
    }
  }

  @Override
  @SuppressWarnings("deprecation") // gRPC asks it as long as it has it
  public boolean canHandleEmptyAddressListFromNameResolution() {
    return policy != null && policy.canHandleEmptyAddressListFromNameResolution();
  }

  @Override
  public void requestConnection() {
    if (policy != null) {
      policy.requestConnection();
    }
  }

  @Override
  public void shutdown() {
    ended = true; // first: the policy may still tell of pickers
    if (backends != null) {
      backends.onPicker(null);
    }
    if (policy != null) {
      policy.shutdown();
    }
    if (backends != null) {
      owner.onTapEnds();
    }
  }

  /** The helper of the policy. */
  private final class TappedHelper extends ForwardingLoadBalancerHelper {
    private final Backends tapped;

    TappedHelper(Backends tapped) {
      this.tapped = tapped;
    }

    @Override
    protected Helper delegate() {
      return helper;
    }

    @Override
    public Subchannel createSubchannel(CreateSubchannelArgs args) {
      final Subchannel created = super.createSubchannel(args);
      return new TappedSubchannel(created, tapped.add(created, args.getAddresses()));
    }

    @Override
    public void updateBalancingState(ConnectivityState state, SubchannelPicker picker) {
      final Picker pinned = new Picker(tapped, policyName, state, picker);
      if (!ended) { // first: a call that gRPC buffers with the former one is picked again
        tapped.onPicker(pinned);
      }
      super.updateBalancingState(state, pinned);
    }
  }

  /** A subchannel with its backend. */
  private static final class TappedSubchannel extends ForwardingSubchannel {
    private final Subchannel subchannel;
    private final Backend backend;

    TappedSubchannel(Subchannel subchannel, Backend backend) {
      this.subchannel = subchannel;
      this.backend = backend;
    }

    @Override
    protected Subchannel delegate() {
      return subchannel;
    }

    @Override
    public Attributes getAttributes() {
      return super.getAttributes().toBuilder().set(BACKEND, backend).build();
    }

    @Override
    public void start(SubchannelStateListener listener) {
      super.start(
          new SubchannelStateListener() {
            @Override
            public void onSubchannelState(ConnectivityStateInfo state) {
              backend.onState(state);
              listener.onSubchannelState(state);
              backend.onPolicyTold();
            }
          });
    }

    @Override
    public void updateAddresses(List<EquivalentAddressGroup> addresses) {
      super.updateAddresses(addresses);
      backend.onAddresses(addresses);
    }

    @Override
    public void shutdown() {
      super.shutdown();
      backend.leave();
    }
  }

  /**
   * The picker of the policy, which also returns what was picked before: the backend of a
   * handshake, or the choice for a call that no ring has carried.
   */
  static final class Picker extends SubchannelPicker {
    /** The policies whose picker always returns the same ready subchannel. */
    private static final String FIXED = "pick_first";

    private final Backends owner;
    private final SubchannelPicker policy;
    private final Pick fixed;

    Picker(Backends owner, String name, ConnectivityState state, SubchannelPicker policy) {
      this.owner = owner;
      this.policy = policy;
      final PickResult always =
          FIXED.equals(name) && state == ConnectivityState.READY
              ? policy.pickSubchannel(new Pick.Call(SessionService.OPEN, CallOptions.DEFAULT, null))
              : PickResult.withNoResult();
      this.fixed = always.getSubchannel() == null ? null : new Pick(this, always, true);
    }

    Backends owner() {
      return owner;
    }

    /** Picks for a call before it goes to gRPC. */
    Pick pick(PickSubchannelArgs call) {
      return fixed == null ? new Pick(this, policy.pickSubchannel(call), false) : fixed;
    }

    /** Returns the pick that holds for all calls, or null. */
    Pick fixed() {
      return fixed;
    }

    @Override
    public PickResult pickSubchannel(PickSubchannelArgs call) {
      final Backend handshake = call.getCallOptions().getOption(Backend.HANDSHAKE);
      if (handshake != null) {
        return handshake.pinned();
      }
      final Pick before = call.getCallOptions().getOption(Pick.PICK);
      if (before == null || !before.isFor(owner)) {
        return probed(call, policy.pickSubchannel(call));
      }
      return before.isBy(this) && before.take()
          ? before.result()
          : before.become(policy.pickSubchannel(call));
    }

    private PickResult probed(PickSubchannelArgs call, PickResult result) {
      final BackendProbe probe = call.getCallOptions().getOption(PROBE);
      if (probe == null || result.getSubchannel() == null) {
        return result;
      }
      final Pick made = fixed == null ? new Pick(this, result, false) : fixed;
      final ConnectivityState now =
          made.backend() == null ? ConnectivityState.READY : made.backend().state();
      if (now != ConnectivityState.READY) { // picked early: the call waits for the next picker
        // The result of an idle subchannel makes gRPC connect it.
        return now == ConnectivityState.IDLE ? result : PickResult.withNoResult();
      }
      probe.onPick(made);
      return PROBED;
    }

    @Override
    public String toString() {
      return "Tap.Picker[" + policy + "]";
    }
  }
}
