package dev.ringfetch.session.bulk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ArrayPoolTest {
  private static final int MIB = 1024 * 1024;

  private final ArrayPool arrays = new ArrayPool();

  @Test
  void arrayThatWasGivenIsTakenOnce() {
    byte[] array = new byte[10_000];
    arrays.give(array);
    assertSame(array, arrays.take(10_000));
    assertNotSame(array, arrays.take(10_000));
  }

  @Test
  void arrayIsNeitherTooShortNorMuchTooLong() {
    byte[] array = new byte[10_000];
    arrays.give(array);
    assertEquals(10_001, arrays.take(10_001).length);
    assertEquals(4_000, arrays.take(4_000).length);
    assertSame(array, arrays.take(5_000));
  }

  @Test
  void whatWasUsedLastIsTakenFirst() {
    byte[] first = new byte[10_000];
    byte[] second = new byte[10_000];
    arrays.give(first);
    arrays.give(second);
    assertSame(second, arrays.take(10_000));
    assertSame(first, arrays.take(10_000));
  }

  @Test
  void noMoreIsKeptThanTheLimit() {
    List<byte[]> given = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      given.add(new byte[ArrayPool.MAX_LENGTH / 4]);
      arrays.give(given.get(i));
    }
    for (int i = 4; i > 0; i--) {
      assertSame(given.get(i), arrays.take(ArrayPool.MAX_LENGTH / 4));
    }
    assertNotSame(given.get(0), arrays.take(ArrayPool.MAX_LENGTH / 4), "the oldest had to go");
  }

  @Test
  void noMoreArraysAreKeptThanMayBeLookedThrough() {
    byte[] first = new byte[10_000];
    arrays.give(first);
    for (int i = 0; i < ArrayPool.MAX_ARRAYS; i++) {
      arrays.give(new byte[100]);
    }
    assertNotSame(first, arrays.take(10_000), "the oldest had to go");
  }

  @Test
  void oneArrayMayBeAllThatIsKept() {
    byte[] array = new byte[ArrayPool.MAX_LENGTH];
    arrays.give(new byte[MIB]);
    arrays.give(array);
    assertSame(array, arrays.take(ArrayPool.MAX_LENGTH));
    arrays.give(array);
    arrays.give(new byte[MIB]);
    assertNotSame(array, arrays.take(ArrayPool.MAX_LENGTH), "it had to go");
  }

  @Test
  void whatIsLongerThanTheLimitDrivesNothingOut() {
    byte[] kept = new byte[MIB];
    arrays.give(kept);
    arrays.give(new byte[ArrayPool.MAX_LENGTH + 1]);
    assertSame(kept, arrays.take(MIB));
    assertEquals(ArrayPool.MAX_LENGTH + 1, arrays.take(ArrayPool.MAX_LENGTH + 1).length);
  }

  @Test
  void noArrayIsInTwoHands() {
    long seed = Long.getLong("ringfetch.seed", 1);
    Random random = new Random(seed);
    Set<byte[]> inUse = Collections.newSetFromMap(new IdentityHashMap<>());
    List<byte[]> hands = new ArrayList<>();
    Set<byte[]> ever = Collections.newSetFromMap(new IdentityHashMap<>());
    int reused = 0;
    for (int step = 0; step < 5_000; step++) {
      if (hands.size() < 20 && random.nextBoolean()) {
        int wanted = 1 + random.nextInt(64 * 1024);
        byte[] taken = arrays.take(wanted);
        assertTrue(inUse.add(taken), "seed=" + seed);
        assertTrue(taken.length >= wanted && taken.length / 2 <= wanted, "seed=" + seed);
        reused += ever.add(taken) ? 0 : 1;
        hands.add(taken);
      } else if (!hands.isEmpty()) {
        byte[] given = hands.remove(random.nextInt(hands.size()));
        inUse.remove(given);
        arrays.give(given);
      }
    }
    assertTrue(reused > 100, "reused=" + reused);
  }
}
