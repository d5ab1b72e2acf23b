package dev.ringfetch.rpc;

import io.grpc.ConnectivityState;
import io.grpc.LoadBalancer;
import io.grpc.LoadBalancer.CreateSubchannelArgs;
import io.grpc.LoadBalancer.FixedResultPicker;
import io.grpc.LoadBalancer.PickResult;
import io.grpc.LoadBalancer.Subchannel;
import io.grpc.LoadBalancer.SubchannelPicker;
import io.grpc.LoadBalancerProvider;
import io.grpc.LoadBalancerRegistry;
import io.grpc.util.ForwardingLoadBalancerHelper;

/** A policy with one backend, which it picks before there is a connection. */
final class EarlyPicks extends LoadBalancerProvider {
  static final String NAME = "early_picks";

  @Override
  public boolean isAvailable() {
    return true;
  }

  @Override
  public int getPriority() {
    return 5;
  }

  @Override
  public String getPolicyName() {
    return NAME;
  }

  @Override
  public LoadBalancer newLoadBalancer(LoadBalancer.Helper helper) {
    return LoadBalancerRegistry.getDefaultRegistry()
        .getProvider("pick_first")
        .newLoadBalancer(
            new ForwardingLoadBalancerHelper() {
              private Subchannel created;

              @Override
              protected LoadBalancer.Helper delegate() {
                return helper;
              }

              @Override
              public Subchannel createSubchannel(CreateSubchannelArgs args) {
                created = super.createSubchannel(args);
                return created;
              }

              @Override
              public void updateBalancingState(ConnectivityState state, SubchannelPicker picker) {
                super.updateBalancingState(
                    state,
                    state == ConnectivityState.CONNECTING && created != null
                        ? new FixedResultPicker(PickResult.withSubchannel(created))
                        : picker);
              }
            });
  }
}
