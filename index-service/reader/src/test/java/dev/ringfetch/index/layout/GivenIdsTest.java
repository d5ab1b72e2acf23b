package dev.ringfetch.index.layout;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** The set of given ids tells ids apart, within the heap that docs/spatial.md names. */
class GivenIdsTest {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  @Test
  void tellsIdsOfAllLengthsApart() {
    final GivenIds given = new GivenIds();
    final byte[] zeros = new byte[BlockDescriptor.MAX_KEY_LENGTH];
    final byte[] behind = new byte[3 + BlockDescriptor.MAX_KEY_LENGTH];
    for (int length = 1; length <= zeros.length; length++) {
      assertTrue(given.add(zeros, 0, length));
      final byte[] id = Arrays.copyOf(zeros, length);
      assertTrue(given.contains(id));
      id[length - 1] = 1;
      assertFalse(given.contains(id));
      assertTrue(given.add(id, 0, length));
      System.arraycopy(id, 0, behind, 3, length); // the same, elsewhere
      assertFalse(given.add(behind, 3, length));
    }
    given.clear();
    assertTrue(given.add(zeros, 0, 9));
  }

  @Test
  void takes13To25BytesForAnId() {
    final ByteBuffer id = ByteBuffer.allocate(16);
    long least = Long.MAX_VALUE;
    long most = 0;
    for (int ids = 100_000; ids < 220_000; ids += 9_999) {
      final GivenIds given = new GivenIds();
      final long before = THREADS.getCurrentThreadAllocatedBytes();
      given.expect(ids);
      final long expected = THREADS.getCurrentThreadAllocatedBytes() - before;
      for (int i = 0; i < ids; i++) {
        id.putInt(3, i);
        assertTrue(given.add(id.array(), 0, 16));
      }
      final long all = THREADS.getCurrentThreadAllocatedBytes() - before;
      assertTrue(all < 2 * expected, "has grown: expected=" + expected + " all=" + all);
      least = Math.min(least, expected / ids);
      most = Math.max(most, 1 + expected / ids);
    }
    assertTrue(
        least >= 12 && least < 15 && most > 20 && most <= 25, "least=" + least + " most=" + most);
  }
}
