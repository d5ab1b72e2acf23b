package dev.ringfetch.benchmarks.stores;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.examples.process.Answer;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

final class CrewTest {
  private static final int ENTRIES = 100;
  private static final int MILLIS = 20;

  private final AtomicLong reads = new AtomicLong();
  private final AtomicLong writes = new AtomicLong();
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
            public void put(long number, long stamp) {
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

  @Test
  void eachThreadMixesReadsAndUpdates() throws InterruptedException {
    try (Crew crew = new Crew(store, ENTRIES, 1)) {
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
    try (Crew crew = new Crew(store, ENTRIES, 1)) {
      final Answer round = crew.run(Mix.get, 1, false, MILLIS);
      assertEquals(0.04, (double) round.count("wrong") / round.count("calls"), 0.02);
    }
  }

  @Test
  void workAtARateGoesOnUntilItIsEnded() throws InterruptedException {
    try (Crew crew = new Crew(store, ENTRIES, 1)) {
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
    try (Crew crew = new Crew(store, ENTRIES, 1)) {
      assertEquals(
          obstacle,
          assertThrows(IllegalStateException.class, () -> crew.run(Mix.get, 1, true, MILLIS))
              .getMessage());
    }
  }
}
