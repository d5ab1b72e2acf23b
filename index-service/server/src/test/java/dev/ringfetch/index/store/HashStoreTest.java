package dev.ringfetch.index.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.Entry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HashStoreTest {
  private static final ByteString KEY = ByteString.copyFromUtf8("key");
  private static final ByteString ONE = ByteString.copyFromUtf8("one");
  private static final ByteString TWO = ByteString.copyFromUtf8("two");

  private final HashStore store = new HashStore();

  @Test
  void absentKeyHasNoEntry() {
    assertNull(store.get(KEY));
    assertFalse(store.delete(KEY));
  }

  @Test
  void putCreatesThenReplaces() {
    final HashStore.PutResult first = store.put(KEY, ONE);
    assertTrue(first.created());
    assertNotEquals(0, first.version());
    assertEquals(entry(ONE, first.version()), store.get(KEY));

    final HashStore.PutResult second = store.put(KEY, TWO);
    assertFalse(second.created());
    assertTrue(second.version() > first.version());
    assertEquals(entry(TWO, second.version()), store.get(KEY));
  }

  @Test
  void deleteRemoves() {
    store.put(KEY, ONE);
    assertTrue(store.delete(KEY));
    assertNull(store.get(KEY));
    assertFalse(store.delete(KEY));
  }

  @Test
  void versionsGrowAcrossDeletes() {
    long last = 0;
    for (int i = 0; i < 100; i++) {
      final HashStore.PutResult put = store.put(KEY, ONE);
      assertTrue(put.created());
      assertTrue(put.version() > last);
      last = put.version();
      store.delete(KEY);
    }
  }

  @Test
  void emptyValueIsNotAbsence() {
    store.put(KEY, ByteString.EMPTY);
    assertNotNull(store.get(KEY));
    assertFalse(store.compareAndSet(KEY, 0, ONE).applied());
  }

  @Test
  void expectingZeroInsertsOnlyIfAbsent() {
    final HashStore.CompareResult insert = store.compareAndSet(KEY, 0, ONE);
    assertTrue(insert.applied());
    assertEquals(ONE, insert.entry().getValue());
    assertSame(insert.entry(), store.get(KEY));

    final HashStore.CompareResult again = store.compareAndSet(KEY, 0, TWO);
    assertFalse(again.applied());
    assertSame(insert.entry(), again.entry());
    assertSame(insert.entry(), store.get(KEY));
  }

  @Test
  void expectedVersionDecides() {
    final long first = store.put(KEY, ONE).version();
    final HashStore.CompareResult won = store.compareAndSet(KEY, first, TWO);
    assertTrue(won.applied());
    assertTrue(won.entry().getVersion() > first);

    final HashStore.CompareResult late = store.compareAndSet(KEY, first, ONE);
    assertFalse(late.applied());
    assertSame(won.entry(), late.entry());
  }

  @Test
  void versionOfDeletedEntryIsNotExpectedAgain() {
    final long first = store.put(KEY, ONE).version();
    store.delete(KEY);
    final HashStore.CompareResult whileAbsent = store.compareAndSet(KEY, first, TWO);
    assertFalse(whileAbsent.applied());
    assertNull(whileAbsent.entry());
    assertNull(store.get(KEY));

    store.put(KEY, ONE);
    assertFalse(store.compareAndSet(KEY, first, TWO).applied());
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, Long.MIN_VALUE, Long.MAX_VALUE})
  void noNumberMatchesEveryVersion(long expected) {
    assertFalse(store.compareAndSet(KEY, expected, TWO).applied());
    store.put(KEY, ONE);
    assertFalse(store.compareAndSet(KEY, expected, TWO).applied());
    assertEquals(ONE, store.get(KEY).getValue());
  }

  @Test
  void nothingIsCopied() {
    store.put(KEY, ONE);
    assertSame(KEY, store.get(KEY).getKey());
    assertSame(ONE, store.get(KEY).getValue());
  }

  @Test
  void replacedEntryKeepsTheFirstKeyObject() {
    store.put(KEY, ONE);
    store.put(ByteString.copyFromUtf8("key"), TWO);
    assertSame(KEY, store.get(KEY).getKey());
  }

  @Test
  void keysAreEqualByContent() {
    store.put(KEY, ONE);
    final ByteString part = ByteString.copyFromUtf8("a key").substring(2);
    final ByteString joined = ByteString.copyFromUtf8("k").concat(ByteString.copyFromUtf8("ey"));
    assertEquals(ONE, store.get(part).getValue());
    assertEquals(ONE, store.get(joined).getValue());
    assertNull(store.get(KEY.substring(1)));
  }

  @Test
  void keysAreIndependent() {
    for (int i = 0; i < 10_000; i++) {
      store.put(number(i), number(-i));
    }
    for (int i = 0; i < 10_000; i += 2) {
      assertTrue(store.delete(number(i)));
    }
    for (int i = 0; i < 10_000; i++) {
      final Entry found = store.get(number(i));
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
