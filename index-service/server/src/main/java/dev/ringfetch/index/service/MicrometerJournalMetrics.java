package dev.ringfetch.index.service;

import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;

/**
 * The measurements of a journal as meters of Micrometer:
 *
 * <ul>
 *   <li>timer {@value #SYNC}; summaries {@value #BATCH_RECORDS} and {@value #BATCH_BYTES}, of what
 *       one sync makes durable;
 *   <li>gauges {@value #WAITING}, {@value #FAILED}, {@value #SNAPSHOT_AGE}, {@value #TO_READ};
 *   <li>timer {@value #RECOVERY}, recorded once, and gauge {@value #RECOVERED}.
 * </ul>
 *
 * <p>An application without this class needs no Micrometer on its class path. Of one server; safe
 * for use by many threads.
 */
@SuppressWarnings("exports") // an application that binds meters requires Micrometer itself
public final class MicrometerJournalMetrics implements JournalMetrics {
  /** Name of the timer of syncs. */
  public static final String SYNC = "ringfetch.index.journal.sync";

  /** Name of the summary of records that a sync makes durable. */
  public static final String BATCH_RECORDS = "ringfetch.index.journal.batch.records";

  /** Name of the summary of bytes that a sync makes durable. */
  public static final String BATCH_BYTES = "ringfetch.index.journal.batch.bytes";

  /** Name of the gauge of the seconds that the oldest record has waited for its sync. */
  public static final String WAITING = "ringfetch.index.journal.waiting";

  /** Name of the gauge that is 1 if nothing is written any more. */
  public static final String FAILED = "ringfetch.index.journal.failed";

  /** Name of the gauge of the bytes of journal behind the newest snapshot. */
  public static final String TO_READ = "ringfetch.index.journal.unsnapshotted";

  /** Name of the gauge of the newest snapshot's age in seconds. */
  public static final String SNAPSHOT_AGE = "ringfetch.index.snapshot.age";

  /** Name of the timer of the recovery. */
  public static final String RECOVERY = "ringfetch.index.recovery";

  /** Name of the gauge of the records that the recovery read. */
  public static final String RECOVERED = "ringfetch.index.recovery.records";

  private final MeterRegistry registry;
  private final Timer sync;
  private final DistributionSummary batchRecords;
  private final DistributionSummary batchBytes;

  /** Measures into a registry. */
  public MicrometerJournalMetrics(MeterRegistry registry) {
    this.registry = registry;
    sync = registry.timer(SYNC);
    batchRecords = DistributionSummary.builder(BATCH_RECORDS).register(registry);
    batchBytes = DistributionSummary.builder(BATCH_BYTES).baseUnit("bytes").register(registry);
  }

  @Override
  public void onSync(long durationNs, long records, long bytes) {
    sync.record(durationNs, TimeUnit.NANOSECONDS);
    batchRecords.record((double) records);
    batchBytes.record((double) bytes);
  }

  @Override
  public void onOpen(Recovered recovery, Levels levels) {
    registry.timer(RECOVERY).record(recovery.durationNs(), TimeUnit.NANOSECONDS);
    gauge(RECOVERED, () -> (double) recovery.records(), "records");
    gauge(WAITING, levels.waitingSeconds(), "seconds");
    gauge(SNAPSHOT_AGE, levels.snapshotSeconds(), "seconds");
    gauge(TO_READ, levels.unsnapshottedBytes(), "bytes");
    gauge(FAILED, levels.failed(), null);
  }

  private void gauge(String name, DoubleSupplier level, String unit) {
    Gauge.builder(name, level::getAsDouble).baseUnit(unit).strongReference(true).register(registry);
  }
}
