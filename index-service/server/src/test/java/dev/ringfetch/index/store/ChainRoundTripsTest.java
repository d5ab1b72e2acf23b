package dev.ringfetch.index.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.Found;
import dev.ringfetch.index.layout.HashReader;
import dev.ringfetch.index.layout.KeyReader;
import dev.ringfetch.index.layout.ReadResult;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Chains of entries over cards of published rates: by READs one after the other, by one call that
 * follows at the server, and by a call for each entry. The time of reading at the server is that of
 * this machine; it is not asserted.
 */
class ChainRoundTripsTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 81);
  private static final int ENTRIES = 60_000;
  private static final int CHAINS = 2_000;
  private static final int ROUNDS = 20;

  /** A call over a ConnectX-3 whose answer the client fetches, as RFP measured it. */
  private static final double CALL_US = 5.78;

  private final Random random = new Random(SEED);

  private static ByteString key(int number) {
    return ByteString.copyFrom(ByteBuffer.allocate(Long.BYTES).putLong(number).flip());
  }

  /** Reads chains; returns how many nanoseconds one took. */
  private double follow(KeyReader reader, int hops) {
    final Found found = new Found();
    final long startNs = System.nanoTime();
    for (int i = 0; i < CHAINS; i++) {
      ByteString next = key(random.nextInt(ENTRIES));
      for (int hop = 0; hop < hops; hop++) {
        assertEquals(ReadResult.FOUND, reader.get(next, found));
        next = found.value().substring(0, Long.BYTES);
      }
    }
    return (double) (System.nanoTime() - startNs) / CHAINS;
  }

  /** The same of the quickest of some rounds. */
  private double local(KeyReader reader, int hops) {
    return IntStream.range(0, ROUNDS)
        .mapToDouble(round -> follow(reader, hops))
        .min()
        .orElseThrow();
  }

  @Test
  void oneCallIsFasterThanReadsOfMemoryFromFewHopsOn() {
    System.out.println("ringfetch.seed=" + SEED);
    final StoreMemory memory = Memories.serving(1 << 20, 64 << 20);
    final HashIndex index = new HashIndex(memory, 16, 5);
    index.complete();
    final ByteString rest = ByteString.copyFrom(new byte[64 - Long.BYTES]);
    for (int i = 0; i < ENTRIES; i++) {
      final ByteString value = key(random.nextInt(ENTRIES)).concat(rest);
      final PartitionStore store = index.partition(index.partitionOf(key(i)));
      assertEquals(0, store.reserve(Long.BYTES, value.size()));
      store.put(key(i), value, i + 1);
      store.grow();
    }
    final CountedReads counted = new CountedReads(memory.newReads());
    final HashReader remote = new HashReader(counted, index.location());
    final HashReader local = index.newReader();
    local(local, 10); // compiled
    for (final int hops : new int[] {2, 4, 10}) {
      counted.reset();
      follow(remote, hops);
      final double trips = counted.batches() / CHAINS;
      final double onesided = counted.us() / CHAINS;
      final double call = CALL_US + local(local, hops) / 1000;
      System.out.printf(
          "RESULT hops=%d round_trips=%.1f one_sided_us=%.1f call_us=%.1f calls_us=%.1f"
              + " one_sided_by_call=%.2f calls_by_call=%.2f%n",
          hops, trips, onesided, call, hops * CALL_US, onesided / call, hops * CALL_US / call);
      assertTrue(trips >= hops && trips < 2.2 * hops, "round trips=" + trips);
    }
  }
}
