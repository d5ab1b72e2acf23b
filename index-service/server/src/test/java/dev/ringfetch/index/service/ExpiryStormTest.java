package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.IndexKind;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * 100,000 entries that end at once, beside puts: they are absent at once and removed soon, and a
 * put waits for some of the removals, not for all. Prints how long all that takes; how many
 * removals one cycle does is proved elsewhere.
 */
@Tag("slow")
@Timeout(60)
class ExpiryStormTest {
  private static final int ENTRIES = 100_000;
  private static final int PUTS = 3_000;
  private static final long PUT_EVERY_NS = 200_000;

  private static ByteString key(int number) {
    return ByteString.copyFromUtf8(String.format("key %08d", number));
  }

  @ParameterizedTest
  @EnumSource(
      value = IndexKind.class,
      names = {"HASH", "ORDERED"})
  void putsGoOn(IndexKind kind) throws Exception {
    final Indexes indexes = new Indexes(IndexMemory.ofProcess(256L << 20));
    try {
      final ServedIndex index = IndexRequests.create(indexes, "storm", kind, Durability.MEMORY);
      final ByteString value = ByteString.copyFrom(new byte[32]);
      final long endMs = System.currentTimeMillis() + 1_500;
      final CountDownLatch loaded = new CountDownLatch(ENTRIES);
      for (int i = 0; i < ENTRIES; i++) {
        final Write put =
            new Write(write -> loaded.countDown())
                .put(key(i), value)
                .ttl(Math.max(1, endMs - System.currentTimeMillis()));
        while (index.partition(put.key()).submit(put) == Write.QUEUE_FULL) {
          Thread.sleep(1); // where other programs have the processors
        }
      }
      assertTrue(loaded.await(30, TimeUnit.SECONDS));
      final long fromMs = Math.max(endMs, System.currentTimeMillis()); // as it should be
      while (System.currentTimeMillis() < endMs - 20) {
        Thread.sleep(1);
      }
      final long[] ns = new long[PUTS];
      long absentMs = 0;
      long removedMs = 0;
      long nextNs = System.nanoTime();
      for (int i = 0; i < PUTS; i++) {
        nextNs += PUT_EVERY_NS;
        while (System.nanoTime() - nextNs < 0) {
          LockSupport.parkNanos(50_000);
        }
        ns[i] = put(index, key(ENTRIES + i % 1_000), value);
        final long nowMs = System.currentTimeMillis();
        if (absentMs == 0 && index.reader().read(key(ENTRIES - 1)) == ReadResult.ABSENT) {
          absentMs = nowMs;
        }
        if (removedMs == 0 && index.count() <= 1_000 && absentMs != 0) {
          removedMs = nowMs;
        }
      }
      while (index.count() > 1_000) { // the test's timeout ends it
        Thread.sleep(1);
      }
      removedMs = removedMs == 0 ? System.currentTimeMillis() : removedMs;
      Arrays.sort(ns);
      System.out.printf(
          "%s: absent after %d ms, removed after %d ms; puts in us: p50=%d p99=%d p99.9=%d"
              + " max=%d%n",
          kind,
          absentMs - fromMs,
          removedMs - fromMs,
          ns[PUTS / 2] / 1_000,
          ns[PUTS * 99 / 100] / 1_000,
          ns[PUTS * 999 / 1_000] / 1_000,
          ns[PUTS - 1] / 1_000);
      assertTrue(absentMs != 0);
      assertTrue(ns[PUTS * 9 / 10] < TimeUnit.MILLISECONDS.toNanos(20), "p90=" + ns[PUTS * 9 / 10]);
    } finally {
      indexes.close();
    }
  }

  private static long put(ServedIndex index, ByteString key, ByteString value) throws Exception {
    final CountDownLatch answered = new CountDownLatch(1);
    final long[] endNs = {0};
    final Write write =
        new Write(
                done -> {
                  endNs[0] = System.nanoTime();
                  answered.countDown();
                })
            .put(key, value);
    final long beginNs = System.nanoTime();
    assertEquals(0, index.partition(key).submit(write));
    answered.await();
    assertEquals(Write.DONE, write.outcome());
    return endNs[0] - beginNs;
  }
}
