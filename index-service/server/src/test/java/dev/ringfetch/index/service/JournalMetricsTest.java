package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.v1.DescribeServerResponse;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.IndexKind;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a journal measures, as meters and as the description of a server. */
@Timeout(60)
class JournalMetricsTest {
  private static final int WRITES = 20;

  @TempDir Path data;

  private IndexMemory memory(JournalMetrics metrics) throws IOException {
    return IndexMemory.ofProcess(
        new IndexMemoryContext().budget(64L << 20).dataDirectory(data).journalMetrics(metrics));
  }

  private static void write(ServedIndex index) throws InterruptedException {
    for (int i = 0; i < WRITES; i++) {
      final CountDownLatch answered = new CountDownLatch(1);
      final ByteString key = ByteString.copyFromUtf8("key" + i);
      assertEquals(
          0,
          index
              .partition(key)
              .submit(new Write(write -> answered.countDown()).put(key, ByteString.EMPTY)));
      answered.await();
    }
  }

  @Test
  void syncsBatchesAndRecoveryAreMeasured() throws Exception {
    final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    try (Indexes indexes = new Indexes(memory(new MicrometerJournalMetrics(registry)))) {
      final DescribeServerResponse none = indexes.memory().describe();
      assertEquals(data.toRealPath().toString(), none.getDataDirectory());
      final ServedIndex index =
          IndexRequests.create(indexes, "a", IndexKind.ORDERED, Durability.DISK);
      final long begun = indexes.memory().describe().getJournal().getRecords();
      write(index);
      final long syncs = registry.get(MicrometerJournalMetrics.SYNC).timer().count();
      assertTrue(syncs >= WRITES, "syncs=" + syncs);
      assertEquals(
          (double) begun + WRITES,
          registry.get(MicrometerJournalMetrics.BATCH_RECORDS).summary().totalAmount());
      assertTrue(registry.get(MicrometerJournalMetrics.BATCH_BYTES).summary().mean() >= 112);
      assertEquals(0, registry.get(MicrometerJournalMetrics.FAILED).gauge().value());
      assertEquals(0, registry.get(MicrometerJournalMetrics.WAITING).gauge().value());
      assertTrue(registry.get(MicrometerJournalMetrics.TO_READ).gauge().value() > 0);
      assertTrue(Double.isNaN(registry.get(MicrometerJournalMetrics.SNAPSHOT_AGE).gauge().value()));
      final DescribeServerResponse some = indexes.memory().describe();
      assertEquals(syncs, some.getJournal().getSyncs());
      assertEquals(begun + WRITES, some.getJournal().getRecords());
      assertEquals("", some.getWritingEnded());
    }
    final SimpleMeterRegistry next = new SimpleMeterRegistry();
    try (Indexes indexes = new Indexes(memory(new MicrometerJournalMetrics(next)))) {
      assertEquals(WRITES, indexes.find("a").count());
      assertEquals(1, next.get(MicrometerJournalMetrics.RECOVERY).timer().count());
      assertTrue(next.get(MicrometerJournalMetrics.RECOVERED).gauge().value() > WRITES);
      assertTrue(indexes.memory().describe().getJournal().getRecoveredRecords() > WRITES);
    }
  }
}
