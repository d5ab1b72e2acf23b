package dev.ringfetch.ring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.QueuePair;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How much is read at a time. */
class FetchWindowTest extends FetchedRing {
  @Test
  void frameThatTheWindowCutsIsTheFirstOfTheNext() {
    write(3);
    write(10);
    assertEquals(256, fetch());
    assertEquals(1, take());
    assertTrue(fetcher.hasFrame());
    assertEquals(0, take());
    assertEquals(640, fetch());
    assertEquals(1, take());
    assertEquals(List.of(160, 608), lengths);
  }

  @Test
  void windowIsAsLongAsTheFrameAtTheHead() {
    write(128);
    assertEquals(256, fetch());
    assertEquals(0, take());
    assertTrue(fetcher.hasFrame());
    assertEquals(128 * SLOT, fetch());
    assertEquals(1, take());
    assertEquals(List.of(FrameDescriptor.maxPayload(128)), lengths);
    assertFalse(fetcher.hasFrame(), "the scratch ends here");
  }

  /** It is neither a miss nor a window that was too short. */
  @Test
  void tornFrameLeavesTheWindowAsItIs() {
    for (int expected : new int[] {256, 512}) {
      write(expected / SLOT);
      int last = RING + (int) (poller.position() & (SLOTS - 1)) * SLOT + expected - 2 * Long.BYTES;
      theirs.putLong(last, ~theirs.getLong(last));
      assertEquals(expected, fetch());
      assertEquals(0, take());
      theirs.putLong(last, ~theirs.getLong(last));
      assertEquals(expected, fetch());
      assertEquals(1, take());
    }
    assertEquals(1024, fetch());
  }

  @Test
  void tornFrameIsNoMiss() {
    write(4);
    fetch();
    assertEquals(1, take());
    write(1);
    int crc = RING + 4 * SLOT + FrameDescriptor.CRC32C_OFFSET;
    theirs.putInt(crc, ~theirs.getInt(crc));
    assertEquals(512, fetch());
    assertEquals(0, take());
    assertEquals(512, fetch());
  }

  /** What is torn may be the first of many: it does not say how much the read has brought. */
  @Test
  void tornFrameBehindAnotherLeavesTheWindowAsItIs() {
    write(4);
    fetch();
    assertEquals(1, take());
    write(1);
    write(1);
    final int crc = RING + 5 * SLOT + FrameDescriptor.CRC32C_OFFSET;
    theirs.putInt(crc, ~theirs.getInt(crc));
    assertEquals(512, fetch());
    assertEquals(1, take());
    assertEquals(512, fetch());
  }

  /** What the length says stays known while the rest of the frame is on its way. */
  @Test
  void tornFrameIsFetchedAgainAsLongAsItIs() {
    write(100);
    int last = RING + 99 * SLOT;
    theirs.putLong(last, ~theirs.getLong(last));
    fetch();
    assertEquals(0, take());
    assertEquals(100 * SLOT, fetch());
    assertTrue(fetcher.hasFrame());
    assertEquals(0, take());
    assertEquals(1, poller.torn());
    theirs.putLong(last, ~theirs.getLong(last));
    assertEquals(100 * SLOT, fetch());
    assertEquals(1, take());
  }

  @Test
  void windowGrowsWhileItComesBackFull() {
    List<Integer> windows = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      while (writer.position() - poller.position() < 64) {
        write(1);
      }
      windows.add(fetch());
      take();
    }
    assertEquals(List.of(256, 512, 1024, 2048, 4096, 4096), windows);
    while (poller.position() != writer.position()) {
      fetch();
      take();
    }
    for (int miss = 0; miss <= RingFetcher.MAX_MISSES; miss++) {
      assertTrue(fetch() > 256);
      assertEquals(0, take());
    }
    assertEquals(256, fetch());
  }

  /** With the full ones before it, as frames that fill a window may be the first of many. */
  @Test
  void windowIsAsLongAsWhatTheLastHasBrought() {
    List<Integer> windows = new ArrayList<>();
    for (int slots : new int[] {17, 17, 17, 16, 9, 8, 8, 1, 1, 1}) {
      write(slots);
      do {
        windows.add(fetch());
      } while (take() == 0);
    }
    assertEquals(
        List.of(256, 17 * SLOT, 1024, 2048, 2048, 2048, 1024, 1024, 512, 1024, 1024, 256), windows);
  }

  /** With looks that miss between batches, and without. */
  @ParameterizedTest
  @ValueSource(ints = {0, RingFetcher.MAX_MISSES})
  void asManyAtOnceAsBeforeAreOneRead(int misses) {
    for (int batch = 0; batch < 8; batch++) {
      for (int i = 0; i < 16; i++) {
        write(1);
      }
      int reads = 0;
      for (int taken = 0; taken < 16; reads++) {
        fetch();
        taken += take();
      }
      assertEquals(batch == 0 ? 3 : 1, reads, "batch " + batch);
      for (int miss = 0; miss < misses; miss++) {
        fetch();
        assertEquals(0, take());
      }
    }
  }

  @Test
  void batchIsForgottenAfterMoreMisses() {
    for (int batch = 0; batch < 3; batch++) {
      for (int i = 0; i < 16; i++) {
        write(1);
      }
      final List<Integer> windows = new ArrayList<>();
      for (int taken = 0; taken < 16; ) {
        windows.add(fetch());
        taken += take();
      }
      assertEquals(List.of(256, 512, 1024), windows);
      for (int miss = 0; miss <= RingFetcher.MAX_MISSES; miss++) {
        fetch();
        assertEquals(0, take());
      }
    }
  }

  @Test
  void whatComesAfterAMissIsAnotherBatch() {
    write(4);
    assertEquals(256, fetch());
    assertEquals(1, take());
    assertEquals(512, fetch());
    assertEquals(0, take());
    write(4);
    assertEquals(512, fetch());
    assertEquals(1, take());
    assertEquals(256, fetch(), "as long as what came after the miss");
  }

  @Test
  void longFrameIsNoBatch() {
    final List<Integer> windows = new ArrayList<>();
    for (int slots : new int[] {100, 1, 1, 100, 1, 1}) {
      write(slots);
      do {
        windows.add(fetch());
      } while (take() == 0);
    }
    assertEquals(List.of(256, 100 * SLOT, 1024, 256, 256, 100 * SLOT, 1024, 256), windows);
  }

  /** Misses may be many: a waiting caller must not read much. */
  @ParameterizedTest
  @ValueSource(ints = {0, RingFetcher.MAX_MISSES})
  void answersOfOneLengthAreOneReadEachBesidesMisses(int misses) {
    for (int i = 0; i < 8; i++) {
      for (int miss = 0; miss < misses; miss++) {
        fetch();
        assertEquals(0, take());
        assertFalse(fetcher.hasFrame());
      }
      write(20);
      fetch();
      if (i > 1) {
        assertEquals(1, take(), "read in one");
      } else {
        while (take() == 0) {
          fetch();
        }
      }
    }
  }

  @Test
  void windowEndsWithTheRing() {
    advance(SLOTS - 3);
    write(1);
    write(2);
    write(1);
    assertPosted(RING + (SLOTS - 3) * SLOT, 3 * SLOT);
    execute();
    assertTrue(fetcher.poll());
    assertEquals(2, take());
    assertFalse(fetcher.hasFrame());
    assertEquals(QueuePair.POSTED, fetcher.post(false));
    assertEquals(RING, posted.peek().remoteOffset());
    execute();
    assertTrue(fetcher.poll());
    assertEquals(1, take());
    assertEquals(List.of(32, 96, 32), lengths);
  }

  @Test
  void paddingAtTheEndOfTheRingIsTaken() {
    advance(SLOTS - 10);
    write(12); // behind padding of 10
    assertEquals(256, fetch());
    assertEquals(0, take());
    assertEquals(10 * SLOT, fetch());
    assertEquals(1, take());
    assertEquals(List.of(), lengths);
    fetch();
    assertEquals(1, take());
    assertEquals(List.of(FrameDescriptor.maxPayload(12)), lengths);
  }

  @Test
  void scratchIsNoLongerThanTheRing() throws IOException {
    new RingFetcher(reading, poller, RING, 2 * SLOT, LINE, MAX_FRAME);
    assertEquals(ControlDescriptor.CONTROL_LENGTH + 2 * SLOT, scratchLength);
    new RingFetcher(reading, poller, RING, 1 << 20, LINE, SLOT);
    assertEquals(ControlDescriptor.CONTROL_LENGTH + RingFetcher.MAX_WINDOW, scratchLength);
  }

  /** Long frames are few, and what follows one is not as long. */
  @Test
  void windowBehindALongFrameIsNoLongerThanOthers() {
    write(100);
    fetch();
    assertEquals(0, take());
    place();
    assertEquals(1, poller.poll(this::keep, LIMIT), "taken elsewhere");
    final int many = RingFetcher.MAX_WINDOW / SLOT + 1;
    for (int i = 0; i < many; i++) {
      write(1);
    }
    assertEquals(100 * SLOT, fetch(), "as was needed");
    assertEquals(many, take());
    assertEquals(RingFetcher.MAX_WINDOW, fetch());
  }

  @Test
  void windowTakesInWhatIsKnownOfTheFrameAtTheHead() {
    fetcher.need(10 * SLOT);
    fetcher.need(5 * SLOT);
    assertEquals(10 * SLOT, fetch(), "the longer counts");
    assertEquals(256, fetch(), "once");
    fetcher.need(SLOT);
    assertEquals(256, fetch());
    final int longest = scratchLength - ControlDescriptor.CONTROL_LENGTH;
    fetcher.need(longest + SLOT);
    assertEquals(256, fetch(), "longer than may be");
    fetcher.need(longest);
    assertEquals(longest, fetch());
  }
}
