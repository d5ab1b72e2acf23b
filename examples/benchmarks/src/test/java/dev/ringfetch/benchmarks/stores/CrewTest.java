package dev.ringfetch.benchmarks.stores;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.examples.process.Answer;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

final class CrewTest {
  private static final int ENTRIES = 100;
  private static final int MILLIS = 20;
  private static final long ENOUGH = 2_000; // calls for a share within two hundredths
  private static final long FIRST_INSERT = 1L << 40;

  private final AtomicLong reads = new AtomicLong();
  private final AtomicLong writes = new AtomicLong();
  private final AtomicLong scans = new AtomicLong();
  private final Set<Long> written = ConcurrentHashMap.newKeySet();
  private int missing;
  private long wrongNumber = -1;
  private String obstacle = "";

  private final Store store =
      new Store() {
        @Override
        public Session open() {
          return new Session() {
            @Override
            public boolean get(long number) {
              reads.incrementAndGet();
              return number != wrongNumber;
            }

            @Override
            public int scan(long number, int limit) {
              scans.incrementAndGet();
              assertTrue(limit > 0 && limit <= Mix.LONGEST_SCAN, "limit=" + limit);
              return limit - missing;
            }

            @Override
            public void put(long number, long stamp) {
              written.add(number);
              writes.incrementAndGet();
            }

            @Override
            public void putAll(long first, long end) {
              writes.addAndGet(end - first);
            }
          };
        }

        @Override
        public void clear() {}

        @Override
        public long usedBytes() {
          return 0;
        }

        @Override
        public String obstacle() {
          return obstacle;
        }

        @Override
        public void close() {}
      };

  /** Workload E: one of twenty is an insert, of a number of its own. */
  @Test
  void scansAndInserts() throws InterruptedException {
    try (Crew crew = new Crew(store, ENTRIES, 1, FIRST_INSERT)) {
      long calls = 0;
      while (calls < ENOUGH) {
        final Answer round = crew.run(Mix.e, 2, true, MILLIS);
        calls += round.count("calls");
        assertEquals(0, round.count("wrong"));
      }
      assertEquals(calls, scans.get() + writes.get());
      assertEquals(0.05, (double) writes.get() / calls, 0.02);
      assertEquals(0, reads.get());
      assertEquals(writes.get(), written.size());
      assertTrue(written.stream().allMatch(number -> number >= FIRST_INSERT));
    }
  }

  @Test
  void scansWithTooFewEntriesAreWrong() throws InterruptedException {
    missing = Mix.LONGEST_SCAN; // nothing is left of any
    try (Crew crew = new Crew(store, ENTRIES, 1, FIRST_INSERT)) {
      final Answer round = crew.run(Mix.scan, 1, true, MILLIS);
      assertEquals(round.count("calls"), round.count("wrong"));
    }
  }

  @Test
  void eachThreadMixesReadsAndUpdates() throws InterruptedException {
    try (Crew crew = new Crew(store, ENTRIES, 1, FIRST_INSERT)) {
      final Answer b = crew.run(Mix.b, 3, true, MILLIS);
      assertEquals(b.count("calls"), reads.get() + writes.get());
      assertEquals(0.95, (double) reads.get() / b.count("calls"), 0.02);
      assertTrue(b.figure("p50") > 0 && b.figure("perSecond") > 0, b::toString);
      assertEquals(0, b.count("wrong"));
      writes.set(0);
      final var unused = crew.run(Mix.get, 1, false, MILLIS);
      assertEquals(0, writes.get());
    }
  }

  @Test
  void wrongValuesAreCounted() throws InterruptedException {
    wrongNumber = ScrambledZipf.hash(0) % ENTRIES; // which is drawn often
    try (Crew crew = new Crew(store, ENTRIES, 1, FIRST_INSERT)) {
      final Answer round = crew.run(Mix.get, 1, false, MILLIS);
      assertEquals(0.04, (double) round.count("wrong") / round.count("calls"), 0.02);
    }
  }

  @Test
  void workAtARateGoesOnUntilItIsEnded() throws InterruptedException {
    try (Crew crew = new Crew(store, ENTRIES, 1, FIRST_INSERT)) {
      final var unused = crew.begin(Mix.put, ENTRIES, 10_000);
      assertThrows(IllegalStateException.class, () -> crew.run(Mix.get, 1, false, MILLIS));
      while (writes.get() < 200) {
        Thread.onSpinWait();
      }
      final Answer ended = crew.end();
      assertEquals(writes.get(), ended.count("calls"));
      assertTrue(ended.figure("perSecond") <= 10_500, ended::toString);
    }
  }

  @Test
  void whatMakesFiguresWorthlessFailsTheRound() {
    obstacle = "reads by calls: 3";
    try (Crew crew = new Crew(store, ENTRIES, 1, FIRST_INSERT)) {
      assertEquals(
          obstacle,
          assertThrows(IllegalStateException.class, () -> crew.run(Mix.get, 1, true, MILLIS))
              .getMessage());
    }
  }
}
