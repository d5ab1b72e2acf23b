package dev.ringfetch.benchmarks.stores;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class EntriesTest {
  private final byte[] key = new byte[Entries.KEY_LENGTH];
  private final byte[] value = new byte[Entries.VALUE_LENGTH + 2];

  @Test
  void keysDifferAndAreHexDigits() {
    final Set<String> keys = new HashSet<>();
    for (int number = 0; number < 10_000; number++) {
      Entries.putKey(number, key);
      final String text = new String(key, StandardCharsets.US_ASCII);
      assertTrue(text.matches("[0-9a-f]{16}"), text);
      keys.add(text);
    }
    assertEquals(10_000, keys.size());
  }

  /** The first outputs of SplitMix64 with seed 0 are known. */
  @Test
  void theFirstKeyIsThatOfTheGenerator() {
    Entries.putKey(0, key);
    assertEquals("e220a8397b1dcdaf", new String(key, StandardCharsets.US_ASCII));
  }

  @Test
  void aValueBelongsToItsKeyAlone() {
    final byte[] bytes = new byte[Entries.VALUE_LENGTH];
    Entries.putValue(7, 99, bytes);
    System.arraycopy(bytes, 0, value, 1, bytes.length);
    assertTrue(Entries.isValue(7, value, 1, Entries.VALUE_LENGTH));
    assertFalse(Entries.isValue(8, value, 1, Entries.VALUE_LENGTH));
    assertFalse(Entries.isValue(7, value, 1, Entries.VALUE_LENGTH - 1));
    for (int i = 1; i <= Entries.VALUE_LENGTH; i++) {
      value[i] ^= 1;
      assertFalse(Entries.isValue(7, value, 1, Entries.VALUE_LENGTH), "byte " + i);
      value[i] ^= 1;
    }
  }
}
