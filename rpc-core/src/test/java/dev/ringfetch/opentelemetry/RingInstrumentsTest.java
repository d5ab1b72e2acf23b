package dev.ringfetch.opentelemetry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Counters;
import dev.ringfetch.counters.Kind;
import dev.ringfetch.counters.Subject;
import dev.ringfetch.counters.Tally;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.metrics.SdkMeterProvider;
import io.opentelemetry.sdk.metrics.data.LongPointData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.testing.exporter.InMemoryMetricReader;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RingInstrumentsTest {
  private final InMemoryMetricReader reader = InMemoryMetricReader.create();
  private final SdkMeterProvider provider =
      SdkMeterProvider.builder().registerMetricReader(reader).build();
  private final OpenTelemetrySdk telemetry =
      OpenTelemetrySdk.builder().setMeterProvider(provider).build();

  @TempDir Path directory;
  private RingInstruments rings;

  @AfterEach
  void close() {
    rings.close();
    provider.close();
  }

  private Map<String, MetricData> collect() {
    return reader.collectAllMetrics().stream()
        .collect(Collectors.toMap(MetricData::getName, Function.identity()));
  }

  private static long value(MetricData metric, String id) {
    return metric.getLongSumData().getPoints().stream()
        .filter(point -> id.equals(point.getAttributes().get(AttributeKey.stringKey("id"))))
        .mapToLong(LongPointData::getValue)
        .sum();
  }

  @Test
  void everyCounterHasItsInstruments() throws Exception {
    final Counters counters = Counters.acquire(directory);
    final TreeSet<String> expected = new TreeSet<>();
    for (final Counter counter : Counter.values()) {
      expected.add(counter.meter());
      expected.add(counter.processMeter());
    }
    for (final Kind kind : Kind.values()) {
      counters.add(kind, "x", counter -> 1);
    }
    rings = new RingInstruments(telemetry);
    try {
      final Map<String, MetricData> metrics = collect();
      assertEquals(expected, new TreeSet<>(metrics.keySet()));
      for (final Counter counter : Counter.values()) {
        assertEquals(
            counter.type() == Counter.Type.TOTAL,
            metrics.get(counter.meter()).getLongSumData().isMonotonic(),
            counter.meter());
      }
      assertEquals("By", metrics.get("ringfetch.sessions.bytes.sent").getUnit());
      assertEquals("{calls}", metrics.get("ringfetch.channels.calls.kept.retry").getUnit());
    } finally {
      counters.subjects().forEach(counters::remove);
      counters.release();
    }
    rings.close();
    assertEquals(Map.of(), collect(), "nothing after close");
  }

  @Test
  void whatHasEndedCountsForTheProcessOnly() throws Exception {
    final Tally tally = new Tally(Kind.SESSION);
    final Counters counters = Counters.acquire(directory);
    final long before = Counters.processTotal(Counter.SESSION_CALLS);
    rings = new RingInstruments(telemetry);
    try {
      final Subject subject = counters.add(Kind.SESSION, "client x", tally::get);
      final String id = Long.toString(subject.serial());
      tally.add(Counter.SESSION_CALLS, 3);
      Map<String, MetricData> metrics = collect();
      assertEquals(3, value(metrics.get("ringfetch.session.calls"), id));
      assertEquals(before + 3, ofProcess(metrics));
      counters.remove(subject);
      metrics = collect();
      final MetricData each = metrics.get("ringfetch.session.calls");
      assertTrue(each == null || value(each, id) == 0, "of the session that has ended");
      assertEquals(before + 3, ofProcess(metrics));
    } finally {
      counters.release();
    }
  }

  private static long ofProcess(Map<String, MetricData> metrics) {
    return metrics.get("ringfetch.sessions.calls").getLongSumData().getPoints().stream()
        .mapToLong(LongPointData::getValue)
        .sum();
  }

  @Test
  void totalsAlone() throws Exception {
    final Counters counters = Counters.acquire(directory);
    final Subject subject = counters.add(Kind.SESSION, "x", counter -> 1);
    rings = new RingInstruments(telemetry, false);
    try {
      final Map<String, MetricData> metrics = collect();
      assertEquals(Counter.values().length, metrics.size());
      assertFalse(metrics.containsKey(Counter.SESSION_CALLS.meter()));
    } finally {
      counters.remove(subject);
      counters.release();
    }
  }
}
