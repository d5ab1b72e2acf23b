package dev.ringfetch.index.service;

import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.journal.DiskQuota;
import dev.ringfetch.index.replication.ReplicaState;
import dev.ringfetch.index.v1.DescribeClusterResponse;
import dev.ringfetch.index.v1.GroupDescription;
import dev.ringfetch.index.v1.MemberDescription;
import dev.ringfetch.index.v1.SlowCall;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The measurements of a server's indexes as meters of Micrometer: a timer of calls, gauges of
 * memory and disk, and of a node its groups and the lag of their members. docs/monitoring.md lists
 * them.
 *
 * <p>An application without this class needs no Micrometer on its class path. Of one server; safe
 * for use by many threads.
 */
@SuppressWarnings("exports") // an application that binds meters requires Micrometer itself
public final class MicrometerIndexMetrics {
  private static final String PREFIX = "ringfetch.index.";

  /** Name of the timer of calls; the tags are service, method and status. */
  public static final String CALLS = PREFIX + "calls";

  /** Upper bounds of the timer's buckets: 10, 25 and 50 µs, and so on, up to 5 s. */
  private static final Duration[] BOUNDS =
      LongStream.iterate(10, micros -> micros <= 1_000_000, micros -> micros * 10)
          .flatMap(micros -> LongStream.of(micros, micros * 5 / 2, micros * 5))
          .mapToObj(micros -> Duration.of(micros, ChronoUnit.MICROS))
          .toArray(Duration[]::new);

  private static final int CODES = Status.Code.values().length;

  private final Indexes indexes;
  private final MeterRegistry registry;
  private final Map<String, AtomicReferenceArray<Timer>> calls = // by method, and value of the code
      new ConcurrentHashMap<>();
  private final SlowCalls slow = new SlowCalls(System::currentTimeMillis);
  private final MultiGauge entries;

  // Of a node of a cluster.
  private volatile DescribeClusterResponse node = DescribeClusterResponse.getDefaultInstance();
  private final MultiGauge roles;
  private final MultiGauge lost;
  private final MultiGauge replicas;
  private final MultiGauge members;
  private final MultiGauge lag;

  private MicrometerIndexMetrics(Indexes indexes, MeterRegistry registry) {
    this.indexes = indexes;
    this.registry = registry;
    entries = rows("entries", null, "Entries of an index that this server leads");
    roles = rows("groups", null, "Groups of this node, by its role");
    lost = rows("group.lost", null, "1 if no live node has all records, as this one knows");
    replicas = rows("group.replicas", null, "Wanted members of a group that this node leads");
    members = rows("group.members", null, "Members of a group that this node leads");
    lag = rows("group.lag", "records", "Records that the last member of a led group lacks");
  }

  /**
   * Measures a server's indexes. Called after they have joined a cluster, if they do, and before
   * services over them are added to a server: the calls of those are measured.
   */
  public static MicrometerIndexMetrics of(Indexes indexes, MeterRegistry registry) {
    final MicrometerIndexMetrics metrics = new MicrometerIndexMetrics(indexes, registry);
    indexes.callMetrics(metrics::onEnd);
    final IndexMemory memory = indexes.memory();
    metrics.gauge("memory.used", "bytes", "Index memory in use", () -> memory.store().usedBytes());
    metrics.gauge("memory.limit", "bytes", "Limit of index memory", () -> memory.store().budget());
    metrics.gauge(
        "journal.obstructed",
        null,
        "1 while the disk takes no more data, or its quota is exceeded",
        () -> isObstructed(memory.journal()) ? 1 : 0);
    metrics.gauge(
        "data.used",
        "bytes",
        "Data directory, where there is a quota",
        () -> ofQuota(memory.journal(), DiskQuota::bytes));
    metrics.gauge(
        "data.quota",
        "bytes",
        "Quota of the data directory",
        () -> ofQuota(memory.journal(), DiskQuota::limit));
    metrics.gauge("cluster.nodes", null, "Nodes that live", () -> metrics.node.getNodesCount());
    metrics.gauge(
        "cluster.coordinated",
        null,
        "1 while this node reaches the coordinator",
        () -> metrics.node.getCoordinatorReached() ? 1 : 0);
    metrics.refresh();
    return metrics;
  }

  /**
   * Renews the gauges of each index and each group. Called before the registry is read, by a scrape
   * for example.
   */
  public void refresh() {
    final Collection<ServedIndex> all = indexes.all();
    entries.register(
        all.stream().map(each -> row("index", each.name(), each.count())).toList(), true);
    refresh(indexes.catalog().describe());
  }

  /** The slowest unary calls of the last ten minutes, the slowest first. */
  public List<SlowCall> slowCalls() {
    return slow.list();
  }

  private void refresh(DescribeClusterResponse now) {
    node = now;
    final List<GroupDescription> groups = now.getGroupsList();
    roles.register(
        Stream.of(ReplicaState.values())
            .filter(state -> state != ReplicaState.NONE && state != ReplicaState.STOPPED)
            .map(
                state ->
                    row(
                        "role",
                        state.name(),
                        groups.stream()
                            .filter(group -> group.getRole().equals(state.name()))
                            .count()))
            .toList(),
        true);
    lost.register(
        groups.stream()
            .map(group -> row("index", group.getIndex(), group.getLost() ? 1 : 0))
            .toList(),
        true);
    final List<GroupDescription> led =
        groups.stream()
            .filter(group -> group.getRole().equals(ReplicaState.LEADING.name()))
            .toList();
    replicas.register(
        led.stream().map(group -> row("index", group.getIndex(), group.getReplicas())).toList(),
        true);
    members.register(
        led.stream().map(group -> row("index", group.getIndex(), group.getMembersCount())).toList(),
        true);
    lag.register(led.stream().map(MicrometerIndexMetrics::largestLag).toList(), true);
  }

  private static double ofQuota(@Nullable IndexJournal journal, ToLongFunction<DiskQuota> part) {
    final DiskQuota quota = journal == null ? null : journal.journal().quota();
    return quota == null || quota.limit() == 0 ? Double.NaN : part.applyAsLong(quota);
  }

  private static boolean isObstructed(@Nullable IndexJournal journal) {
    return journal != null && journal.obstacle() != null;
  }

  private static MultiGauge.Row<?> largestLag(GroupDescription group) {
    return row(
        "index",
        group.getIndex(),
        group.getMembersList().stream().mapToLong(MemberDescription::getLag).max().orElse(0));
  }

  private void onEnd(MethodDescriptor<?, ?> method, Status.Code code, long durationNs) {
    final AtomicReferenceArray<Timer> ofMethod =
        calls.computeIfAbsent(
            method.getFullMethodName(), unused -> new AtomicReferenceArray<>(CODES));
    Timer timer = ofMethod.get(code.value());
    if (timer == null) { // threads that race get the same one from the registry
      timer =
          Timer.builder(CALLS)
              .description("Calls, from their arrival at the service to their end")
              .tag("service", String.valueOf(method.getServiceName()))
              .tag("method", String.valueOf(method.getBareMethodName()))
              .tag("status", code.name())
              .serviceLevelObjectives(BOUNDS)
              .register(registry);
      ofMethod.set(code.value(), timer);
    }
    timer.record(durationNs, TimeUnit.NANOSECONDS);
    slow.onEnd(method, code, durationNs);
  }

  private MultiGauge rows(String name, @Nullable String unit, String description) {
    return MultiGauge.builder(PREFIX + name)
        .baseUnit(unit)
        .description(description)
        .register(registry);
  }

  private static MultiGauge.Row<?> row(String tag, String value, Number level) {
    return MultiGauge.Row.of(Tags.of(tag, value), level);
  }

  private void gauge(
      String name, @Nullable String unit, String description, Supplier<Number> level) {
    Gauge.builder(PREFIX + name, level)
        .baseUnit(unit)
        .description(description)
        .strongReference(true)
        .register(registry);
  }
}
