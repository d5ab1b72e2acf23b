package dev.ringfetch.index.client;

import io.grpc.Status;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The measurements of clients as meters of Micrometer:
 *
 * <ul>
 *   <li>timer {@value #OPERATIONS}, with tags {@code index}, {@code operation}, and {@code
 *       outcome}: OK, or the status code;
 *   <li>counter {@value #ROUTES}, with tags {@code index} and {@code route}: rpc or direct.
 * </ul>
 *
 * <p>An application that does not use this class needs no Micrometer on its class path.
 * Thread-safe; may serve several clients.
 */
@SuppressWarnings("exports") // an application that binds meters requires Micrometer itself
public final class MicrometerMetrics implements ClientMetrics {
  /** Name of the timer. */
  public static final String OPERATIONS = "ringfetch.index.client.operations";

  /** Name of the counter. */
  public static final String ROUTES = "ringfetch.index.client.routes";

  private static final int CODES = Status.Code.values().length;

  private final MeterRegistry registry;
  private final Map<String, IndexMeters> meters = new ConcurrentHashMap<>(); // by index

  /** Measures into a registry. */
  public MicrometerMetrics(MeterRegistry registry) {
    this.registry = registry;
  }

  @Override
  public void onEnd(
      Operation operation, String index, Access route, Status.Code code, long durationNs) {
    final IndexMeters of = meters.computeIfAbsent(index, IndexMeters::new);
    of.timer(operation, code).record(durationNs, TimeUnit.NANOSECONDS);
    of.routes.get(route).increment();
  }

  /** The meters of one index. Timers are registered with their first operation. */
  private final class IndexMeters {
    private final String index;
    private final Map<Operation, AtomicReferenceArray<Timer>> timers = // by value of the code
        new EnumMap<>(Operation.class);
    private final Map<Access, Counter> routes = new EnumMap<>(Access.class);

    IndexMeters(String index) {
      this.index = index;
      for (final Access access : Access.values()) {
        routes.put(
            access,
            Counter.builder(ROUTES)
                .tag("index", index)
                .tag("route", access == Access.RPC ? "rpc" : "direct")
                .register(registry));
      }
      for (final Operation operation : Operation.values()) {
        timers.put(operation, new AtomicReferenceArray<>(CODES));
      }
    }

    /** Threads that race register the same meter: the registry has one of a name and tags. */
    Timer timer(Operation operation, Status.Code code) {
      final AtomicReferenceArray<Timer> ofOperation = timers.get(operation);
      Timer timer = ofOperation.get(code.value());
      if (timer == null) {
        timer =
            Timer.builder(OPERATIONS)
                .tag("index", index)
                .tag("operation", operation.label())
                .tag("outcome", code.name())
                .register(registry);
        ofOperation.set(code.value(), timer);
      }
      return timer;
    }
  }
}
