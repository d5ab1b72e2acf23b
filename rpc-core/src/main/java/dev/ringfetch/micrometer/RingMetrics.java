package dev.ringfetch.micrometer;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Counters;
import dev.ringfetch.counters.Kind;
import dev.ringfetch.counters.Subject;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Registers what all channels and servers of this process count, in all of their directories:
 *
 * <pre>{@code
 * new RingMetrics().bindTo(registry);
 * }</pre>
 *
 * <p>There are meters of the process as a whole, which stay, and of each channel, backend, server,
 * session and poller, which come and go with it within a moment. docs/metrics.md lists them. One is
 * bound to one registry. Thread-safe.
 */
@SuppressWarnings("exports") // an application that binds meters requires Micrometer itself
public final class RingMetrics implements MeterBinder, AutoCloseable {
  private final boolean each;
  private final Runnable listener = this::update;

  // Guarded by this.
  private MeterRegistry registry;
  private final List<Meter> totals = new ArrayList<>();
  private final Map<Subject, List<Meter>> meters = new HashMap<>();

  /** All meters. */
  public RingMetrics() {
    this(true);
  }

  /**
   * Creates the binder.
   *
   * @param each false to leave the meters of each channel, backend, server, session and poller out,
   *     where clients come and go by the thousand.
   */
  public RingMetrics(boolean each) {
    this.each = each;
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    synchronized (this) {
      if (this.registry != null) {
        throw new IllegalStateException("Already bound");
      }
      this.registry = registry;
      for (final Counter counter : Counter.values()) {
        totals.add(registerTotal(counter));
      }
    }
    if (each) {
      Counters.addListener(listener);
      update();
    }
  }

  private Meter registerTotal(Counter counter) {
    final String name = counter.processMeter();
    return counter.type() == Counter.Type.TOTAL
        ? FunctionCounter.builder(name, counter, Counters::processTotal)
            .baseUnit(counter.unit())
            .register(registry)
        : Gauge.builder(name, counter, Counters::processTotal)
            .baseUnit(counter.unit())
            .strongReference(true)
            .register(registry);
  }

  private Meter register(Subject subject, Counter counter) {
    final String name = counter.meter();
    final Tags tags =
        Tags.of("id", Long.toString(subject.serial()), subject.kind().label(), subject.label());
    return counter.type() == Counter.Type.TOTAL
        ? FunctionCounter.builder(name, subject, of -> of.value(counter))
            .tags(tags)
            .baseUnit(counter.unit())
            .register(registry)
        : Gauge.builder(name, subject, of -> of.value(counter))
            .tags(tags)
            .baseUnit(counter.unit())
            .strongReference(true)
            .register(registry);
  }

  /** Registers what has come, and removes what has gone. */
  private synchronized void update() {
    if (registry == null) {
      return; // closed meanwhile
    }
    final Set<Subject> gone = new HashSet<>(meters.keySet());
    for (final Counters counters : Counters.ofThisProcess()) {
      for (final Subject subject : counters.subjects()) {
        if (!gone.remove(subject)) {
          final Kind kind = subject.kind();
          meters.put(
              subject,
              kind.counters().stream().map(counter -> register(subject, counter)).toList());
        }
      }
    }
    for (final Subject subject : gone) {
      meters.remove(subject).forEach(registry::remove);
    }
  }

  /** Removes all meters. */
  @Override
  public void close() {
    Counters.removeListener(listener);
    synchronized (this) {
      if (registry != null) {
        totals.forEach(registry::remove);
        meters.values().forEach(of -> of.forEach(registry::remove));
        totals.clear();
        meters.clear();
        registry = null;
      }
    }
  }
}
