package dev.ringfetch.index.store;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import java.util.Random;
import java.util.function.IntConsumer;
import java.util.function.ToIntFunction;

/**
 * The deadlines of a simulated owner's entries, by the numbers of their keys: a few ticks ahead, so
 * that entries end all the time.
 */
final class EndingEntries {
  private final Expiry expiry;
  private final Random random;
  private final long[] deadlines;
  private long clock = 1_000;

  EndingEntries(Expiry expiry, Random random, int keys) {
    this.expiry = expiry;
    this.random = random;
    deadlines = new long[keys];
    expiry.advance(clock);
  }

  /** Chooses the deadline of an entry that is put; 0 of some. */
  long choose(int number) {
    deadlines[number] = random.nextInt(4) == 0 ? 0 : clock + 1 + random.nextInt(6);
    return deadlines[number];
  }

  /** Notes that an entry was removed. */
  void removed(int number) {
    deadlines[number] = 0;
  }

  boolean hasEnded(int number) {
    return deadlines[number] != 0 && deadlines[number] <= clock;
  }

  /** Sets the clock forward; tells the numbers of the entries that end by that. */
  void tick(IntConsumer ended) {
    final long before = clock;
    clock += 1 + random.nextInt(2);
    expiry.advance(clock);
    for (int i = 0; i < deadlines.length; i++) {
      if (hasEnded(i) && deadlines[i] > before) {
        ended.accept(i);
      }
    }
  }

  /** Removes an entry that has ended, as an owner does, if there is one. */
  void remove(EntryStore store, ToIntFunction<ByteString> number, IntConsumer removed) {
    if (expiry.first() > clock) {
      return;
    }
    final ByteString key = expiry.firstKey();
    expiry.removeFirst();
    if (key != null) {
      final int of = number.applyAsInt(key);
      assertTrue(hasEnded(of), () -> "removed too early: number=" + of);
      assertNotNull(store.entry(key));
      assertTrue(store.delete(key));
      removed(of);
      removed.accept(of);
    }
  }
}
