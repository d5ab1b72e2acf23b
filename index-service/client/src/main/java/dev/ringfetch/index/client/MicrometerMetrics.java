package dev.ringfetch.index.client;

import io.grpc.Status;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
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
 *   <li>counter {@value #ROUTES}, with tags {@code index} and {@code route}: rpc or direct;
 *   <li>gauge {@value #SHARE}, from 0 to 1, and counter {@value #PROBES}, with tags {@code index}
 *       and {@code kind}, of the reads of {@link Access#ADAPTIVE} views.
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

  /** Name of the gauge of the share of reads that go directly. */
  public static final String SHARE = "ringfetch.index.client.direct.share";

  /** Name of the counter of reads that went the slower way, to see what it takes. */
  public static final String PROBES = "ringfetch.index.client.probes";

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

  @Override
  public void onShare(String index, ReadKind kind, double share, long probes) {
    meters.computeIfAbsent(index, IndexMeters::new).share(kind).set(share, probes);
  }

  /** The meters of one index. Timers are registered with their first operation. */
  private final class IndexMeters {
    private final String index;
    private final Map<Operation, AtomicReferenceArray<Timer>> timers = // by value of the code
        new EnumMap<>(Operation.class);
    private final Map<Access, Counter> routes = new EnumMap<>(Access.class);
    private final Map<ReadKind, ShareMeters> shares = new ConcurrentHashMap<>();

    IndexMeters(String index) {
      this.index = index;
      for (final Access access : List.of(Access.RPC, Access.DIRECT)) {
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

    ShareMeters share(ReadKind kind) {
      return shares.computeIfAbsent(kind, of -> new ShareMeters(index, of));
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

  /** The meters of one kind of an index's reads by views that choose their route. */
  private final class ShareMeters {
    private final Counter probes;
    private volatile double share;

    ShareMeters(String index, ReadKind kind) {
      final Tags tags = Tags.of("index", index, "kind", kind.name().toLowerCase(Locale.ROOT));
      Gauge.builder(SHARE, this, meters -> meters.share).tags(tags).register(registry);
      probes = Counter.builder(PROBES).tags(tags).register(registry);
    }

    void set(double ofNextReads, long probed) {
      share = ofNextReads;
      probes.increment((double) probed);
    }
  }
}
