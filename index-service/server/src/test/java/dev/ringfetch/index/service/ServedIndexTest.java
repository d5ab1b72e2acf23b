package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.Entry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The server's reads and writes of one index, without a call around them. */
class ServedIndexTest {
  private static final ByteString KEY = ByteString.copyFromUtf8("key");
  private static final ByteString ONE = ByteString.copyFromUtf8("one");
  private static final ByteString TWO = ByteString.copyFromUtf8("two");

  private final BlockingIndex index = new BlockingIndex();

  @Test
  void absentKeyHasNoEntry() {
    assertNull(index.get(KEY));
    assertFalse(index.delete(KEY));
  }

  @Test
  void putCreatesThenReplaces() {
    final BlockingIndex.PutResult first = index.put(KEY, ONE);
    assertTrue(first.created());
    assertNotEquals(0, first.version());
    assertEquals(entry(ONE, first.version()), index.get(KEY));

    final BlockingIndex.PutResult second = index.put(KEY, TWO);
    assertFalse(second.created());
    assertTrue(second.version() > first.version());
    assertEquals(entry(TWO, second.version()), index.get(KEY));
  }

  @Test
  void deleteRemoves() {
    index.put(KEY, ONE);
    assertTrue(index.delete(KEY));
    assertNull(index.get(KEY));
    assertFalse(index.delete(KEY));
  }

  @Test
  void versionsGrowAcrossDeletes() {
    long last = 0;
    for (int i = 0; i < 100; i++) {
      final BlockingIndex.PutResult put = index.put(KEY, ONE);
      assertTrue(put.created());
      assertTrue(put.version() > last);
      last = put.version();
      index.delete(KEY);
    }
  }

  @Test
  void emptyValueIsNotAbsence() {
    index.put(KEY, ByteString.EMPTY);
    assertNotNull(index.get(KEY));
    assertFalse(index.compareAndSet(KEY, 0, ONE).applied());
  }

  @Test
  void expectingZeroInsertsOnlyIfAbsent() {
    final BlockingIndex.CompareResult insert = index.compareAndSet(KEY, 0, ONE);
    assertTrue(insert.applied());
    assertEquals(ONE, insert.entry().getValue());
    assertEquals(insert.entry(), index.get(KEY));

    final BlockingIndex.CompareResult again = index.compareAndSet(KEY, 0, TWO);
    assertFalse(again.applied());
    assertEquals(insert.entry(), again.entry());
    assertEquals(insert.entry(), index.get(KEY));
  }

  @Test
  void expectedVersionDecides() {
    final long first = index.put(KEY, ONE).version();
    final BlockingIndex.CompareResult won = index.compareAndSet(KEY, first, TWO);
    assertTrue(won.applied());
    assertTrue(won.entry().getVersion() > first);

    final BlockingIndex.CompareResult late = index.compareAndSet(KEY, first, ONE);
    assertFalse(late.applied());
    assertEquals(won.entry(), late.entry());
  }

  @Test
  void versionOfDeletedEntryIsNotExpectedAgain() {
    final long first = index.put(KEY, ONE).version();
    index.delete(KEY);
    final BlockingIndex.CompareResult whileAbsent = index.compareAndSet(KEY, first, TWO);
    assertFalse(whileAbsent.applied());
    assertNull(whileAbsent.entry());
    assertNull(index.get(KEY));

    index.put(KEY, ONE);
    assertFalse(index.compareAndSet(KEY, first, TWO).applied());
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, Long.MIN_VALUE, Long.MAX_VALUE})
  void noNumberMatchesEveryVersion(long expected) {
    assertFalse(index.compareAndSet(KEY, expected, TWO).applied());
    index.put(KEY, ONE);
    assertFalse(index.compareAndSet(KEY, expected, TWO).applied());
    assertEquals(ONE, index.get(KEY).getValue());
  }

  @Test
  void keysAreEqualByContent() {
    index.put(KEY, ONE);
    final ByteString part = ByteString.copyFromUtf8("a key").substring(2);
    final ByteString joined = ByteString.copyFromUtf8("k").concat(ByteString.copyFromUtf8("ey"));
    assertEquals(ONE, index.get(part).getValue());
    assertEquals(ONE, index.get(joined).getValue());
    assertNull(index.get(KEY.substring(1)));
  }

  @Test
  void keysAreIndependent() {
    for (int i = 0; i < 10_000; i++) {
      index.put(number(i), number(-i));
    }
    for (int i = 0; i < 10_000; i += 2) {
      assertTrue(index.delete(number(i)));
    }
    for (int i = 0; i < 10_000; i++) {
      final Entry found = index.get(number(i));
      if (i % 2 == 0) {
        assertNull(found);
      } else {
        assertEquals(number(-i), found.getValue());
      }
    }
  }

  private static ByteString number(int number) {
    return ByteString.copyFromUtf8(Integer.toString(number));
  }

  private static Entry entry(ByteString value, long version) {
    return Entry.newBuilder().setKey(KEY).setValue(value).setVersion(version).build();
  }
}
