package dev.ringfetch.rpc;

import io.grpc.CallOptions;
import io.grpc.LoadBalancerRegistry;
import io.grpc.MethodDescriptor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The service config of a channel's builder: wraps its load-balancing policy for the tap, and
 * applies its method configs to calls on rings as gRPC does. gRPC has checked it. Immutable.
 */
final class ServiceConfig {
  static final String PICK_FIRST = "pick_first";

  private static final String POLICIES = "loadBalancingConfig";
  private static final String POLICY = "loadBalancingPolicy"; // gRPC's older form
  private static final String METHODS = "methodConfig";

  /** Why a channel without the tap has no rings, if it needs the tap. */
  static final String UNREGISTERED =
      "gRPC's registry has no policy " + TapProvider.POLICY + ": its class loader lacks Ringfetch";

  private static final Pattern DURATION = Pattern.compile("(\\d+)(?:\\.(\\d{1,9}))?s");
  private static final int FRACTION_DIGITS = 9;

  private final Map<String, ?> config; // null: none
  private final String policy;
  private final Map<String, MethodConfig> methods = new HashMap<>(); // by "", service, full name

  /**
   * Creates the config of a channel.
   *
   * @param config as the builder got it, or null.
   * @param policy of a config that names none.
   * @param retries whether gRPC retries calls as their method configs say.
   */
  ServiceConfig(Map<String, ?> config, String policy, boolean retries) {
    this.config = config;
    this.policy = policy;
    for (final Map<?, ?> raw : maps(config == null ? null : config.get(METHODS))) {
      final MethodConfig method = MethodConfig.of(raw, retries);
      for (final Map<?, ?> name : maps(raw.get("name"))) {
        methods.put(key(name.get("service"), name.get("method")), method);
      }
    }
  }

  private static List<Map<?, ?>> maps(Object raw) {
    final List<Map<?, ?>> maps = new ArrayList<>();
    if (raw instanceof List<?> list) {
      list.forEach(one -> maps.add((Map<?, ?>) one));
    }
    return maps;
  }

  private static String key(Object service, Object method) {
    if (service == null || service.equals("")) {
      return "";
    }
    return method == null || method.equals("") ? service.toString() : service + "/" + method;
  }

  /** Returns why no ring can carry the calls of a channel without a tap, or null. */
  String untapped() {
    if (isLate()) {
      return "gRPC's registry had no policy " + policy + " when the channel was built";
    }
    return ((Map<?, ?>) policies().get(0)).containsKey(PICK_FIRST) && methods.isEmpty()
        ? null
        : UNREGISTERED;
  }

  private List<?> policies() {
    if (config != null && config.get(POLICIES) instanceof List<?> list && !list.isEmpty()) {
      return list;
    }
    return List.of(
        config != null && config.get(POLICY) instanceof String old
            ? Map.of(old.toLowerCase(Locale.ROOT), Map.of())
            : Collections.singletonMap(policy, null)); // as in gRPC: no config, not {}
  }

  /** True if the default policy counts, and nobody has registered it yet: gRPC asks later. */
  boolean isLate() {
    return policies().get(0) instanceof Map<?, ?> first
        && first.containsKey(policy)
        && first.get(policy) == null
        && LoadBalancerRegistry.getDefaultRegistry().getProvider(policy) == null;
  }

  /**
   * Returns the config with the policy wrapped. Session calls get a method config of their own, so
   * that none for all methods limits their time.
   *
   * @param id of the channel, for the tap.
   */
  Map<String, ?> tapped(String id) {
    final Map<String, Object> tapped = new HashMap<>();
    if (config != null) {
      tapped.putAll(config);
      tapped.remove(POLICY);
    }
    tapped.put(
        POLICIES,
        List.of(
            Map.of(TapProvider.POLICY, Map.of(TapProvider.ID, id, TapProvider.CHILD, policies()))));
    if (!methods.isEmpty()) {
      final List<Object> all = new ArrayList<>(maps(config.get(METHODS)));
      all.add(Map.of("name", List.of(Map.of("service", SessionService.OPEN.getServiceName()))));
      tapped.put(METHODS, all);
    }
    return tapped;
  }

  /** Returns the config of a method, or null. */
  MethodConfig of(MethodDescriptor<?, ?> method) {
    if (methods.isEmpty()) {
      return null;
    }
    final MethodConfig own = methods.get(method.getFullMethodName());
    if (own != null) {
      return own;
    }
    final MethodConfig ofService = methods.get(method.getServiceName());
    return ofService == null ? methods.get("") : ofService;
  }

  /** Returns the names of methods, services ("" for all) whose calls gRPC retries. */
  List<String> retried() {
    return methods.entrySet().stream()
        .filter(entry -> entry.getValue().isRetried())
        .map(Map.Entry::getKey)
        .sorted()
        .toList();
  }

  /**
   * The config of a method. Null where it says nothing.
   *
   * @param isRetried whether gRPC repeats or hedges its calls.
   */
  record MethodConfig(
      Long timeoutNs,
      Boolean waitForReady,
      Integer maxRequestBytes,
      Integer maxResponseBytes,
      boolean isRetried) {
    private static MethodConfig of(Map<?, ?> raw, boolean retries) {
      return new MethodConfig(
          raw.get("timeout") instanceof String timeout ? nanos(timeout) : null,
          (Boolean) raw.get("waitForReady"),
          bytes(raw.get("maxRequestMessageBytes")),
          bytes(raw.get("maxResponseMessageBytes")),
          retries && (raw.containsKey("retryPolicy") || raw.containsKey("hedgingPolicy")));
    }

    private static Long nanos(String duration) {
      final Matcher parsed = DURATION.matcher(duration);
      if (!parsed.matches()) {
        return null;
      }
      final String digits = parsed.group(2) == null ? "" : parsed.group(2);
      final long fraction = Long.parseLong(digits + "0".repeat(FRACTION_DIGITS - digits.length()));
      final long whole = TimeUnit.SECONDS.toNanos(Long.parseLong(parsed.group(1)));
      return Math.min(whole, Long.MAX_VALUE - fraction) + fraction; // for ever, as in gRPC
    }

    private static Integer bytes(Object raw) {
      if (raw instanceof Number number) {
        return number.intValue();
      }
      return raw instanceof String text ? Integer.valueOf(text) : null;
    }

    /** Applies it to a call that starts: the sooner deadline and the smaller limits count. */
    CallOptions apply(CallOptions options) {
      CallOptions applied = options;
      if (timeoutNs != null) {
        final CallOptions due = applied.withDeadlineAfter(timeoutNs, TimeUnit.NANOSECONDS);
        if (options.getDeadline() == null || due.getDeadline().isBefore(options.getDeadline())) {
          applied = due;
        }
      }
      if (waitForReady != null) {
        applied = waitForReady ? applied.withWaitForReady() : applied.withoutWaitForReady();
      }
      if (maxRequestBytes != null) {
        final Integer own = options.getMaxOutboundMessageSize();
        applied =
            applied.withMaxOutboundMessageSize(
                own == null ? maxRequestBytes : Math.min(own, maxRequestBytes));
      }
      if (maxResponseBytes != null) {
        final Integer own = options.getMaxInboundMessageSize();
        applied =
            applied.withMaxInboundMessageSize(
                own == null ? maxResponseBytes : Math.min(own, maxResponseBytes));
      }
      return applied;
    }
  }
}
