package dev.ringfetch.rpc;

import io.grpc.LoadBalancer;
import io.grpc.LoadBalancerProvider;
import io.grpc.LoadBalancerRegistry;
import io.grpc.NameResolver.ConfigOrError;
import io.grpc.Status;
import java.lang.ref.WeakReference;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Provider of the load-balancing policy that Ringfetch's channels wrap around the application's, so
 * that a call on a ring goes to the backend that the application's policy picks. Instantiated by
 * grpc-api's registry; not for use in service configs of applications.
 */
public final class TapProvider extends LoadBalancerProvider {
  static final String POLICY = "ringfetch_tap";
  static final String ID = "id";
  static final String CHILD = "childPolicy";

  private static final int PRIORITY = 5; // there is no other of this name

  private static final AtomicLong IDS = new AtomicLong();
  private static final ConcurrentMap<String, WeakReference<Owner>> CHANNELS =
      new ConcurrentHashMap<>();

  /** Creates the provider; called by the registry. */
  public TapProvider() {}

  /** True if gRPC's registry has this provider: it looks only in its own class loader. */
  static boolean isRegistered() {
    return LoadBalancerRegistry.getDefaultRegistry().getProvider(POLICY) instanceof TapProvider;
  }

  /** Returns a new id, by which the tap of a channel finds the channel's backends. */
  static String register(Owner owner) {
    final String id = Long.toString(IDS.incrementAndGet());
    CHANNELS.put(id, new WeakReference<>(owner));
    CHANNELS.values().removeIf(channel -> channel.get() == null);
    return id;
  }

  static void deregister(Owner owner) {
    CHANNELS.values().removeIf(channel -> channel.get() == owner);
  }

  @Override
  public boolean isAvailable() {
    return true;
  }

  @Override
  public int getPriority() {
    return PRIORITY;
  }

  @Override
  public String getPolicyName() {
    return POLICY;
  }

  @Override
  public LoadBalancer newLoadBalancer(LoadBalancer.Helper helper) {
    return new Tap(helper);
  }

  /** Chooses the first policy that there is, as gRPC does, and lets it read its config. */
  @Override
  public ConfigOrError parseLoadBalancingPolicyConfig(Map<String, ?> config) {
    if (!(config.get(CHILD) instanceof List<?> policies)) {
      return error("no " + CHILD + " in the config of " + POLICY);
    }
    for (final Object one : policies) {
      if (!(one instanceof Map<?, ?> policy) || policy.size() != 1) {
        return error("a policy is a map with one key: " + one);
      }
      final String name = String.valueOf(policy.keySet().iterator().next());
      final LoadBalancerProvider provider =
          LoadBalancerRegistry.getDefaultRegistry().getProvider(name);
      if (provider != null) {
        return parse(String.valueOf(config.get(ID)), provider, policy.get(name));
      }
    }
    return error("None of " + policies + " specified Service Config policies are available.");
  }

  @SuppressWarnings("unchecked") // the keys of gRPC's configs are strings
  private static ConfigOrError parse(String id, LoadBalancerProvider policy, Object raw) {
    if (raw == null) {
      return ConfigOrError.fromConfig(new Config(id, policy, null));
    }
    final ConfigOrError parsed =
        policy.parseLoadBalancingPolicyConfig(
            raw instanceof Map<?, ?> map ? (Map<String, ?>) map : Map.of());
    return parsed.getError() == null
        ? ConfigOrError.fromConfig(new Config(id, policy, parsed.getConfig()))
        : parsed;
  }

  private static ConfigOrError error(String what) {
    return ConfigOrError.fromError(Status.UNAVAILABLE.withDescription(what));
  }

  /**
   * A parsed config.
   *
   * @param id of the channel.
   * @param policy of the application.
   * @param policyConfig which that policy has parsed; null for a default policy.
   */
  record Config(String id, LoadBalancerProvider policy, Object policyConfig) {
    /** Returns the owner of the channel's backends, or null if it has gone or was never there. */
    Owner owner() {
      final WeakReference<Owner> channel = CHANNELS.get(id);
      return channel == null ? null : channel.get();
    }
  }

  /** The owner of the backends that a tap tells of subchannels and pickers. */
  interface Owner {
    /** Called when gRPC has addresses and the policy begins; null: the policy works alone. */
    Backends onTapBegins();

    /** Called when the policy has ended: the channel is idle, or shut down. */
    void onTapEnds();
  }
}
