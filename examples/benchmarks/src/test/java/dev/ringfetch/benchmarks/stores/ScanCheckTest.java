package dev.ringfetch.benchmarks.stores;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** What the check of scans lets pass, and what it finds. */
final class ScanCheckTest {
  private static final int ENTRIES = 10_000;

  /** Numbers in the order of their keys. */
  private final List<Long> inOrder =
      LongStream.range(0, ENTRIES)
          .boxed()
          .sorted(Comparator.comparing(ScanCheckTest::key, Arrays::compareUnsigned))
          .toList();

  private final ScanCheck check = new ScanCheck();

  private static byte[] key(long number) {
    final byte[] key = new byte[Entries.KEY_LENGTH];
    Entries.putKey(number, key);
    return key;
  }

  private static byte[] value(long number) {
    final byte[] value = new byte[Entries.VALUE_LENGTH];
    Entries.putValue(number, 7, value);
    return value;
  }

  private void take(long key, long value) {
    check.take(key(key), 0, Entries.KEY_LENGTH, value(value), 0, Entries.VALUE_LENGTH);
  }

  private void begin(int place) {
    assertEquals(
        0, Arrays.compare(key(inOrder.get(place)), check.begin(inOrder.get(place)).clone()));
  }

  @Test
  void entriesInOrderAreCounted() {
    begin(100);
    assertEquals(0, check.end());
    for (int i = 100; i < 200; i++) {
      take(inOrder.get(i), inOrder.get(i));
    }
    assertEquals(100, check.end());
  }

  @Test
  void wrongEntriesAreFound() {
    begin(100);
    take(inOrder.get(101), inOrder.get(101)); // not the first one
    assertEquals(Store.Session.WRONG, check.end());
    begin(100);
    take(inOrder.get(100), inOrder.get(101)); // the value of another key
    assertEquals(Store.Session.WRONG, check.end());
    begin(100);
    take(inOrder.get(100), inOrder.get(100));
    take(inOrder.get(100), inOrder.get(100)); // twice
    assertEquals(Store.Session.WRONG, check.end());
    begin(100);
    check.take(key(inOrder.get(100)), 0, 15, value(inOrder.get(100)), 0, Entries.VALUE_LENGTH);
    assertEquals(Store.Session.WRONG, check.end());
    begin(100);
    take(inOrder.get(100), inOrder.get(100)); // and all is forgotten
    assertEquals(1, check.end());
  }

  @Test
  void fewEntriesAreEnoughOnlyNearTheEnd() {
    assertTrue(Entries.isEnough(100, inOrder.get(0), ENTRIES, 100));
    assertFalse(Entries.isEnough(99, inOrder.get(0), ENTRIES, 100));
    assertFalse(Entries.isEnough(99, inOrder.get(ENTRIES / 2), ENTRIES, 100));
    assertTrue(Entries.isEnough(50, inOrder.get(ENTRIES - 50), ENTRIES, 100));
    assertFalse(Entries.isEnough(0, inOrder.get(ENTRIES - 50), ENTRIES, 100));
    assertFalse(Entries.isEnough(101, inOrder.get(ENTRIES - 50), ENTRIES, 100));
    assertFalse(Entries.isEnough(Store.Session.WRONG, inOrder.get(ENTRIES - 1), ENTRIES, 100));
  }
}
