package dev.ringfetch.rpc;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Rule that says which load-balancing policies and service configs keep a channel's calls on gRPC:
 * a ring leads to one server, and knows no method configs.
 */
final class Balancing {
  static final String PICK_FIRST = "pick_first";

  private static final String CONFIGS = "loadBalancingConfig";
  private static final String POLICY = "loadBalancingPolicy"; // gRPC's older form
  private static final Set<String> CHOICES = Set.of(CONFIGS, POLICY);

  private Balancing() {}

  /**
   * Returns what no ring carries, or null.
   *
   * @param config the service config, or null.
   * @param defaultPolicy the policy of a config that names none.
   */
  static String obstacle(Map<String, ?> config, String defaultPolicy) {
    String policy = defaultPolicy;
    if (config != null) {
      final Set<String> others = new TreeSet<>(config.keySet());
      others.removeAll(CHOICES);
      if (!others.isEmpty()) {
        return "a service config with " + String.join(", ", others);
      }
      policy = policy(config, defaultPolicy);
    }
    return PICK_FIRST.equals(policy) ? null : "load-balancing policy " + policy;
  }

  /** Returns the first policy of a config, as gRPC looks for it. */
  private static String policy(Map<String, ?> config, String defaultPolicy) {
    if (config.get(CONFIGS) instanceof List<?> list
        && !list.isEmpty()
        && list.get(0) instanceof Map<?, ?> first) {
      return first.isEmpty() ? defaultPolicy : String.valueOf(first.keySet().iterator().next());
    }
    return config.get(POLICY) instanceof String name
        ? name.toLowerCase(Locale.ROOT)
        : defaultPolicy;
  }
}
