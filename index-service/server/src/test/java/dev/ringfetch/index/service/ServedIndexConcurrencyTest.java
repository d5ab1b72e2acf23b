package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.Entry;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ServedIndexConcurrencyTest {
  private static final int WRITERS = 3;
  private static final ByteString KEY = ByteString.copyFromUtf8("contended");

  private final BlockingIndex index = new BlockingIndex();

  @Test
  void countersAddUp() throws Exception {
    // More keys than there are partitions: some keys share one.
    final int keys = 100;
    final int rounds = 500;
    final List<Callable<Void>> tasks = new ArrayList<>();
    for (int t = 0; t < WRITERS; t++) {
      tasks.add(
          () -> {
            for (int round = 0; round < rounds; round++) {
              for (int key = 0; key < keys; key++) {
                increment(number(key));
              }
            }
            return null;
          });
    }
    Crowd.run(tasks);
    for (int key = 0; key < keys; key++) {
      assertEquals(number(WRITERS * rounds), index.get(number(key)).getValue());
    }
  }

  private void increment(ByteString key) {
    Entry seen = index.get(key);
    while (true) {
      final int count = seen == null ? 0 : Integer.parseInt(seen.getValue().toStringUtf8());
      final BlockingIndex.CompareResult result =
          index.compareAndSet(key, seen == null ? 0 : seen.getVersion(), number(count + 1));
      if (result.applied()) {
        return;
      }
      seen = result.entry();
    }
  }

  @Test
  void versionsGrowAcrossDeletesUnderContention() throws Exception {
    final int writes = 100_000;
    final AtomicInteger writing = new AtomicInteger(WRITERS);
    final List<Callable<List<Long>>> tasks = new ArrayList<>();
    for (int t = 0; t < WRITERS; t++) {
      final Random random = new Random(Long.getLong("ringfetch.seed", 1) + t);
      tasks.add(
          () -> {
            try {
              return write(writes, random);
            } finally {
              writing.decrementAndGet();
            }
          });
    }
    tasks.add(
        () -> {
          watch(writing);
          return List.of();
        });
    final Set<Long> versions = new HashSet<>();
    for (final List<Long> ofOne : Crowd.run(tasks)) {
      for (final Long version : ofOne) {
        assertTrue(versions.add(version), "two writes of one version: " + version);
      }
    }
  }

  /** Inserts, replaces and deletes; returns the versions of its writes, which must grow. */
  private List<Long> write(int count, Random random) {
    final List<Long> written = new ArrayList<>();
    long last = 0;
    for (int i = 0; i < count; i++) {
      final int what = random.nextInt(3);
      final long version;
      if (what == 0) {
        index.delete(KEY);
        continue;
      } else if (what == 1) {
        version = index.put(KEY, KEY).version();
      } else {
        final BlockingIndex.CompareResult result = index.compareAndSet(KEY, 0, KEY);
        if (!result.applied()) {
          continue;
        }
        version = result.entry().getVersion();
      }
      assertTrue(version > last, "version went from " + last + " to " + version);
      last = version;
      written.add(version);
    }
    return written;
  }

  /**
   * Reads until the writers are done: what it sees never gets older, and a version is one entry.
   */
  private void watch(AtomicInteger writing) {
    Entry last = Entry.getDefaultInstance();
    while (writing.get() > 0) {
      final Entry seen = index.get(KEY);
      if (seen == null) {
        continue;
      }
      assertTrue(
          seen.getVersion() >= last.getVersion(),
          "version went from " + last.getVersion() + " to " + seen.getVersion());
      if (seen.getVersion() == last.getVersion()) {
        assertEquals(last, seen);
      }
      last = seen;
    }
  }

  private static ByteString number(int number) {
    return ByteString.copyFromUtf8(Integer.toString(number));
  }
}
