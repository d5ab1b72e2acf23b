package dev.ringfetch.rpc;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * The load balancing of a channel: says whether its policy and service config keep calls on gRPC. A
 * ring leads to one server, and knows no method configs. Thread-safe.
 */
final class Balancing {
  static final String PICK_FIRST = "pick_first";

  private static final String CONFIGS = "loadBalancingConfig";
  private static final String POLICY = "loadBalancingPolicy"; // gRPC's older form
  private static final Set<String> CHOICES = Set.of(CONFIGS, POLICY);
  private static final String NOT_CARRIED = " is not carried by a ring";

  private final Map<String, ?> config;
  private final String policy;

  private volatile String obstacle;
  private volatile Runnable onObstacle = () -> {};

  /**
   * Creates the balancing of a channel.
   *
   * @param config the service config that holds unless the name resolver has one, or null.
   * @param policy the policy of a config that names none.
   * @param resolved whether {@link #onResolved} will be called: until then a policy is no obstacle.
   */
  Balancing(Map<String, ?> config, String policy, boolean resolved) {
    this.config = config;
    this.policy = policy;
    this.obstacle = resolved ? methods(config) : obstacle(config, "");
  }

  /** Returns why no ring can carry the channel's calls, or null. */
  String obstacle() {
    return obstacle;
  }

  /** Whether there is a service config for a resolver that has none, or an invalid one. */
  boolean hasConfig() {
    return config != null;
  }

  /** Sets the task that runs whenever there comes to be an obstacle, and now if there is one. */
  void onObstacle(Runnable task) {
    onObstacle = task;
    if (obstacle != null) {
      task.run();
    }
  }

  /**
   * Called when the name resolver has an answer, before gRPC learns of it.
   *
   * @param own the resolver's service config, or null.
   */
  void onResolved(int addresses, Map<String, ?> own) {
    final Map<String, ?> effective = own == null ? config : own;
    final String found =
        addresses == 1 // to which every policy leads
            ? methods(effective)
            : obstacle(effective, " over " + addresses + " addresses");
    final boolean isNew = found != null && obstacle == null;
    obstacle = found;
    if (isNew) {
      DefaultExecutor.RETRYING.execute(onObstacle); // not on the thread that resolves names
    }
  }

  private String obstacle(Map<String, ?> effective, String servers) {
    final String methods = methods(effective);
    if (methods != null) {
      return methods;
    }
    final String chosen = effective == null ? policy : policy(effective);
    return PICK_FIRST.equals(chosen)
        ? null
        : "load-balancing policy " + chosen + servers + NOT_CARRIED;
  }

  /** Returns an obstacle if a config has more than a choice of policies. */
  private static String methods(Map<String, ?> config) {
    if (config == null) {
      return null;
    }
    final Set<String> others = new TreeSet<>(config.keySet());
    others.removeAll(CHOICES);
    return others.isEmpty()
        ? null
        : "a service config with " + String.join(", ", others) + NOT_CARRIED;
  }

  /** Returns the first policy of a config, as gRPC looks for it. */
  private String policy(Map<String, ?> named) {
    if (named.get(CONFIGS) instanceof List<?> list
        && !list.isEmpty()
        && list.get(0) instanceof Map<?, ?> first) {
      return first.isEmpty() ? policy : String.valueOf(first.keySet().iterator().next());
    }
    return named.get(POLICY) instanceof String name ? name.toLowerCase(Locale.ROOT) : policy;
  }
}
