package dev.ringfetch.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Counters;
import dev.ringfetch.counters.Kind;
import dev.ringfetch.counters.Subject;
import dev.ringfetch.counters.Tally;
import dev.ringfetch.system.Await;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RingMetricsTest {
  private static final int LIMIT_S = 30;
  private static final int TOTALS = Counter.values().length;

  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final Tally tally = new Tally(Kind.SESSION);

  @TempDir Path directory;
  private RingMetrics metrics = new RingMetrics();

  @AfterEach
  void close() {
    metrics.close();
  }

  /** How many meters a subject has. */
  private long metersOf(Subject subject) {
    final String id = Long.toString(subject.serial());
    return registry.getMeters().stream()
        .filter(meter -> id.equals(meter.getId().getTag("id")))
        .count();
  }

  private static boolean hasAll(long meters, Kind kind) {
    return meters == kind.counters().size();
  }

  private double total(Counter counter) {
    return registry.get(counter.processMeter()).functionCounter().count();
  }

  @Test
  void sessionsHaveMetersAsLongAsTheyLast() throws Exception {
    final double before = totalOfThisProcess(Counter.SESSION_CALLS);
    final Counters counters = Counters.acquire(directory);
    try {
      metrics.bindTo(registry);
      final Subject subject = counters.add(Kind.SESSION, "client x", tally::get);
      tally.add(Counter.SESSION_CALLS, 3);
      tally.set(Counter.SESSION_BYTES_QUEUED, 17);
      Await.until("meters", LIMIT_S, () -> hasAll(metersOf(subject), Kind.SESSION));
      final FunctionCounter calls =
          registry
              .get(Counter.SESSION_CALLS.meter())
              .tags(Tags.of("id", Long.toString(subject.serial()), "session", "client x"))
              .functionCounter();
      assertEquals(3, calls.count());
      assertEquals("calls", calls.getId().getBaseUnit());
      final Gauge queued =
          registry.get(Counter.SESSION_BYTES_QUEUED.meter()).tag("session", "client x").gauge();
      assertEquals(17, queued.value());
      assertEquals(before + 3, total(Counter.SESSION_CALLS));
      tally.add(Counter.SESSION_CALLS, 1);
      assertEquals(4, calls.count());
      counters.remove(subject);
      Await.until("their end", LIMIT_S, () -> metersOf(subject) == 0);
      assertEquals(before + 4, total(Counter.SESSION_CALLS), "what has ended counts");
    } finally {
      counters.release();
    }
  }

  private static double totalOfThisProcess(Counter counter) {
    return Counters.ofThisProcess().stream().mapToLong(of -> of.total(counter)).sum();
  }

  @Test
  void everyCounterHasItsMeters() throws Exception {
    final Counters counters = Counters.acquire(directory);
    try {
      metrics.bindTo(registry);
      for (final Kind kind : Kind.values()) {
        final Subject subject = counters.add(kind, "x", counter -> 1);
        Await.until("meters", LIMIT_S, () -> hasAll(metersOf(subject), kind));
      }
      for (final Counter counter : Counter.values()) {
        final Meter.Type expected =
            counter.type() == Counter.Type.TOTAL ? Meter.Type.COUNTER : Meter.Type.GAUGE;
        for (final String name : new String[] {counter.meter(), counter.processMeter()}) {
          assertEquals(expected, registry.get(name).meter().getId().getType(), name);
        }
      }
    } finally {
      for (final Subject subject : counters.subjects()) {
        counters.remove(subject);
        Await.until("their end", LIMIT_S, () -> metersOf(subject) == 0);
      }
      counters.release();
    }
  }

  @Test
  void totalsAlone() throws Exception {
    metrics = new RingMetrics(false);
    final Counters counters = Counters.acquire(directory);
    try {
      metrics.bindTo(registry);
      try (RingMetrics all = new RingMetrics()) {
        final SimpleMeterRegistry other = new SimpleMeterRegistry();
        all.bindTo(other);
        final Subject subject = counters.add(Kind.SESSION, "x", counter -> 1);
        Await.until("meters of the other", LIMIT_S, () -> other.getMeters().size() > TOTALS);
        assertEquals(TOTALS, registry.getMeters().size());
        counters.remove(subject);
      }
    } finally {
      counters.release();
    }
  }

  @Test
  void closedItLeavesNothing() {
    metrics.bindTo(registry);
    assertThrows(IllegalStateException.class, () -> metrics.bindTo(registry));
    assertTrue(registry.getMeters().size() >= TOTALS);
    metrics.close();
    metrics.close();
    assertEquals(0, registry.getMeters().size());
  }
}
