package dev.ringfetch.opentelemetry;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Counters;
import dev.ringfetch.counters.Subject;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.metrics.BatchCallback;
import io.opentelemetry.api.metrics.Meter;
import io.opentelemetry.api.metrics.ObservableLongMeasurement;
import io.opentelemetry.api.metrics.ObservableMeasurement;
import java.util.EnumMap;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The instruments of what all channels and servers of this process count, in all of their
 * directories:
 *
 * <pre>{@code
 * RingInstruments rings = new RingInstruments(openTelemetry);
 * }</pre>
 *
 * <p>There are instruments of the process as a whole, and of each channel, backend, server, session
 * and poller that there is when a reader collects. docs/metrics.md lists them. Thread-safe.
 */
@SuppressWarnings("exports") // an application that binds instruments requires OpenTelemetry itself
public final class RingInstruments implements AutoCloseable {
  private static final String SCOPE = "dev.ringfetch";
  private static final AttributeKey<String> ID = AttributeKey.stringKey("id");

  private final Map<Counter, ObservableLongMeasurement> ofProcess = new EnumMap<>(Counter.class);
  private final Map<Counter, ObservableLongMeasurement> ofEach = new EnumMap<>(Counter.class);
  private final BatchCallback callback;

  /** Registers all instruments. */
  public RingInstruments(OpenTelemetry telemetry) {
    this(telemetry, true);
  }

  /**
   * Registers the instruments.
   *
   * @param each false to leave out those of each channel, backend, server, session and poller,
   *     where clients come and go by the thousand.
   */
  public RingInstruments(OpenTelemetry telemetry, boolean each) {
    final Meter meter = telemetry.getMeter(SCOPE);
    final Counter[] counters = Counter.values();
    for (final Counter counter : counters) {
      ofProcess.put(counter, observer(meter, counter, counter.processMeter()));
      if (each) {
        ofEach.put(counter, observer(meter, counter, counter.meter()));
      }
    }
    callback =
        meter.batchCallback(
            this::record,
            ofProcess.get(counters[0]),
            Stream.concat(ofProcess.values().stream().skip(1), ofEach.values().stream())
                .toArray(ObservableMeasurement[]::new));
  }

  private static ObservableLongMeasurement observer(Meter meter, Counter counter, String name) {
    return counter.type() == Counter.Type.TOTAL
        ? meter.counterBuilder(name).setUnit(unit(counter)).buildObserver()
        : meter.upDownCounterBuilder(name).setUnit(unit(counter)).buildObserver();
  }

  /** The unit in the code of UCUM, which OpenTelemetry uses. */
  private static String unit(Counter counter) {
    return switch (counter.unit()) {
      case "bytes" -> "By";
      case "nanoseconds" -> "ns";
      default -> "{" + counter.unit() + "}";
    };
  }

  private void record() {
    ofProcess.forEach((counter, of) -> of.record(Counters.processTotal(counter)));
    if (!ofEach.isEmpty()) {
      for (final Counters counters : Counters.ofThisProcess()) {
        counters.subjects().forEach(this::record);
      }
    }
  }

  private void record(Subject subject) {
    final Attributes attributes =
        Attributes.of(
            ID,
            Long.toString(subject.serial()),
            AttributeKey.stringKey(subject.kind().label()),
            subject.label());
    for (final Counter counter : subject.kind().counters()) {
      ofEach.get(counter).record(subject.value(counter), attributes);
    }
  }

  /** Removes all instruments. */
  @Override
  public void close() {
    callback.close();
  }
}
