package dev.ringfetch.index.direct;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.GateDescriptor;
import dev.ringfetch.index.layout.Reads;
import java.io.IOException;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class PostedReadsTest {
  private static final int SHIFT = 16;
  private static final long SEED = Long.getLong("ringfetch.seed", 1);

  private final CardDomain domain = new CardDomain();
  private final byte[] memory = new byte[1 << SHIFT];
  private PostedReads reads;

  @BeforeEach
  void open() throws IOException {
    new Random(SEED).nextBytes(memory);
    domain.segment.putBytes(0, memory, 0, memory.length);
    reads = open(TimeUnit.SECONDS.toNanos(10));
  }

  /** Segment 3 is attached, by the number 0; no other is. */
  private PostedReads open(long limitNs) throws IOException {
    return new PostedReads(domain, number -> number == 3 ? 0 : -1, SHIFT, limitNs);
  }

  private static long address(int offset) {
    return (3L << SHIFT) + offset;
  }

  private byte[] result(int number, int length) {
    final byte[] bytes = new byte[length];
    reads.region(number).getBytes(reads.offset(number), bytes, 0, length);
    return bytes;
  }

  @Test
  void batchIsOneDoorbellAndOneCompletion() {
    domain.gate.putLong(GateDescriptor.WORD_OFFSET, 42);
    reads.begin();
    assertEquals(0, reads.add(Reads.GATE, Long.BYTES));
    assertEquals(1, reads.add(address(4), 12));
    assertEquals(2, reads.add(address(128), 128));
    assertEquals(Reads.DONE, reads.execute());
    assertEquals(42, reads.region(0).getLongAcquire(reads.offset(0)));
    for (int i = 1; i < 3; i++) {
      final int from = i == 1 ? 4 : 128;
      final byte[] result = result(i, i == 1 ? 12 : 128);
      for (int b = 0; b < result.length; b++) {
        assertEquals(memory[from + b], result[b]);
      }
    }
    assertEquals(3, domain.reads);
    assertEquals(1, domain.doorbells);
    assertEquals(1, domain.completions);
    assertFalse(reads.ordered());
    assertEquals(SHIFT, reads.segmentShift());
  }

  @Test
  void anyBatchHasItsResults() {
    final Random random = new Random(SEED);
    for (int round = 0; round < 200; round++) {
      // More READs than the queue has room for, and more bytes than the first memory.
      final int count = 1 + random.nextInt(100);
      final int[] offsets = new int[count];
      final int[] lengths = new int[count];
      reads.begin();
      for (int i = 0; i < count; i++) {
        offsets[i] = random.nextInt(memory.length / 4) * 4;
        lengths[i] = 1 + random.nextInt(Math.min(2000, memory.length - offsets[i]));
        assertEquals(i, reads.add(address(offsets[i]), lengths[i]));
      }
      assertEquals(Reads.DONE, reads.execute());
      for (int i = 0; i < count; i++) {
        final byte[] expected = new byte[lengths[i]];
        System.arraycopy(memory, offsets[i], expected, 0, lengths[i]);
        assertArrayEquals(expected, result(i, lengths[i]), "seed=" + SEED + " round=" + round);
        assertEquals(offsets[i] % 8, reads.offset(i) % 8);
      }
    }
    assertEquals(200, domain.completions);
  }

  @Test
  void addressThatLeadsNowherePostsNothing() {
    final long[][] wrong = {
      {address(0) - 8, 8},
      {address(memory.length), 8},
      {address(memory.length - 8), 16},
      {-8, 8},
      {Long.MAX_VALUE & -8, 8},
    };
    for (long[] range : wrong) {
      reads.begin();
      reads.add(address(0), 8);
      reads.add(range[0], (int) range[1]);
      assertEquals(Reads.UNKNOWN_ADDRESS, reads.execute());
    }
    reads.begin();
    for (int i = 0; i < 1 << 10; i++) {
      reads.add(address(0), 1 << 14);
    }
    assertEquals(Reads.UNKNOWN_ADDRESS, reads.execute(), "more than results may take");
    assertEquals(0, domain.reads);
    reads.begin();
    assertEquals(Reads.DONE, reads.execute());
    reads.add(address(0), 8);
    assertEquals(Reads.DONE, reads.execute());
  }

  @Test
  void brokenConnectionLosesTheMemory() {
    for (int left = 0; left < 3; left++) {
      domain.left = left;
      reads.begin();
      reads.add(address(0), 8);
      reads.add(address(8), 8);
      reads.add(address(16), 8);
      assertEquals(Reads.LOST, reads.execute());
    }
  }

  @Test
  void silenceIsGivenUpAfterTheLimit() throws IOException {
    domain.silent = true;
    for (int count : new int[] {1, 2 * CardDomain.DEPTH}) {
      domain.closed = false;
      reads = open(TimeUnit.MILLISECONDS.toNanos(20));
      reads.begin();
      for (int i = 0; i < count; i++) {
        reads.add(address(0), 8);
      }
      final long startNs = System.nanoTime();
      assertEquals(Reads.LOST, reads.execute());
      assertTrue(System.nanoTime() - startNs >= TimeUnit.MILLISECONDS.toNanos(20));
      assertTrue(domain.closed);
    }
  }

  /** Each batch is in time, and all of them together are not. */
  @Test
  void readOfManyBatchesIsGivenUpInTime() {
    domain.batchNs = TimeUnit.MILLISECONDS.toNanos(5);
    final long startNs = System.nanoTime();
    reads.until(startNs + TimeUnit.MILLISECONDS.toNanos(60));
    int batches = 0;
    do {
      reads.begin();
      reads.add(address(0), 8);
      batches++;
    } while (reads.execute() == Reads.DONE && batches < 100);
    final long tookNs = System.nanoTime() - startNs;
    assertTrue(batches <= 7, "batches=" + batches);
    assertTrue(tookNs >= TimeUnit.MILLISECONDS.toNanos(30), "tookNs=" + tookNs);
    assertTrue(domain.closed);
  }
}
