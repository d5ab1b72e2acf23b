package dev.ringfetch.ring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.QueuePair;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is read of a peer's ring, and what is taken out of it. */
class RingFetcherTest extends FetchedRing {
  @Test
  void windowBeginsAtTheHead() {
    assertPosted(RING, 256);
    assertFalse(fetcher.poll(), "nothing has come");
    assertTrue(fetcher.isPending());
    execute();
    assertTrue(fetcher.poll());
    assertFalse(fetcher.poll(), "it has come before");
    advance(3);
    assertPosted(RING + 3 * SLOT, 256);
  }

  @Test
  void missIsAMiss() {
    assertEquals(256, fetch());
    assertFalse(fetcher.hasFrame());
    assertEquals(0, take());
    assertFalse(fetcher.hasLine());
    assertEquals(START, poller.position());
  }

  @Test
  void nothingBeforeTheFirstPost() {
    assertFalse(fetcher.isPending());
    assertFalse(fetcher.hasFrame());
    assertFalse(fetcher.hasLine());
    assertFalse(fetcher.poll());
    assertEquals(0, take());
    assertEquals(256, fetch());
  }

  /** Nothing at the head, that is: behind what it has brought it may have found nothing, too. */
  @Test
  void readThatFoundNothingIsToldFromOneThatDoesNotSay() {
    assertFalse(fetcher.foundNothing(), "none was posted");
    fetch();
    assertTrue(fetcher.foundNothing());
    write(1);
    fetch();
    assertFalse(fetcher.foundNothing(), "a frame");
    assertEquals(1, take());
    assertTrue(fetcher.foundNothing(), "and nothing behind it");
    for (int i = 0; i < 4; i++) {
      write(1);
    }
    assertEquals(256, fetch());
    assertEquals(4, take());
    assertFalse(fetcher.foundNothing(), "it goes no further");
    assertEquals(QueuePair.POSTED, fetcher.post(false));
    assertFalse(fetcher.foundNothing(), "it is under way");
  }

  @Test
  void manyFramesInAWindow() {
    write(1);
    write(2);
    write(1);
    write(1);
    fetch();
    assertTrue(fetcher.hasFrame());
    assertEquals(3, take());
    assertEquals(List.of(32, 96, 32), lengths);
    assertFalse(fetcher.hasFrame());
    assertEquals(0, take());
    assertPosted(RING + 4 * SLOT, 512);
  }

  @Test
  void nothingIsTakenWhileAReadIsUnderWay() {
    write(1);
    write(1);
    fetch();
    assertEquals(1, fetcher.take(this::keep, 1));
    assertEquals(QueuePair.POSTED, fetcher.post(false));
    assertFalse(fetcher.hasFrame());
    assertEquals(0, take());
    assertThrows(IllegalStateException.class, () -> fetcher.post(false));
    assertEquals(1, posted.size());
    execute();
    assertFalse(fetcher.hasFrame(), "it may have come in part");
    assertEquals(0, take());
    assertTrue(fetcher.poll());
    assertEquals(1, take());
  }

  @Test
  void framesBeyondTheLimitStay() {
    for (int i = 0; i < 4; i++) {
      write(1);
    }
    fetch();
    assertEquals(1, fetcher.take(this::keep, 1));
    assertTrue(fetcher.hasFrame());
    assertEquals(0, fetcher.take(this::keep, 0));
    assertEquals(2, fetcher.take(this::keep, 2));
    assertEquals(1, take());
    assertEquals(4, lengths.size());
  }

  @ParameterizedTest
  @ValueSource(
      ints = {-1, -64, Integer.MIN_VALUE, Integer.MAX_VALUE, SLOTS * SLOT - 31, SLOTS * SLOT})
  void hostileLengthIsAViolation(int length) {
    word0(length);
    fetch();
    assertTrue(fetcher.hasFrame());
    assertEquals(RingPoller.PROTOCOL_VIOLATION, take());
  }

  @Test
  void frameBeyondTheEndOfTheRingIsAViolation() {
    advance(SLOTS - 2);
    word0(FrameDescriptor.maxPayload(2) + 1);
    fetch();
    assertEquals(RingPoller.PROTOCOL_VIOLATION, take());
  }

  /** The scratch holds the longest frame that was agreed on: a longer one is never asked for. */
  @Test
  void frameLongerThanAgreedIsAViolation() {
    int longest = MAX_FRAME / SLOT;
    assertEquals(ControlDescriptor.CONTROL_LENGTH + longest * SLOT, scratchLength);
    word0(FrameDescriptor.maxPayload(longest));
    fetch();
    assertEquals(0, take());
    assertEquals(longest * SLOT, fetch());
    word0(FrameDescriptor.maxPayload(longest) + 1);
    fetch();
    assertEquals(RingPoller.PROTOCOL_VIOLATION, take());
  }

  @ParameterizedTest
  @ValueSource(ints = {QueuePair.SEND_QUEUE_FULL, QueuePair.CLOSED})
  void whatASendQueueRefusesIsNotUnderWay(int refused) {
    write(1);
    write(1);
    fetch();
    assertEquals(1, fetcher.take(this::keep, 1));
    refusals.add(refused);
    assertEquals(refused, fetcher.post(false));
    assertFalse(fetcher.isPending());
    assertFalse(fetcher.poll());
    assertEquals(1, take(), "what was fetched before is still there");
    refusals.addAll(List.of(refused));
    assertEquals(refused, fetcher.post(true));
    refusals.addAll(List.of(QueuePair.POSTED, refused));
    assertEquals(refused, fetcher.post(true));
    assertFalse(fetcher.isPending());
    execute(); // of the line alone
    assertFalse(fetcher.poll());
    assertFalse(fetcher.hasLine());
    write(1);
    fetch();
    assertEquals(1, take());
  }

  @Test
  void readThatWasFlushedBringsNothing() {
    write(1);
    fetcher.post(true);
    for (Read read : posted) {
      complete(read, QueuePair.FLUSHED);
    }
    assertFalse(fetcher.poll());
    assertFalse(fetcher.isPending());
    assertFalse(fetcher.hasFrame());
    assertFalse(fetcher.hasLine());
    assertEquals(0, take());
  }

  @Test
  void lineComesWithTheWindow() {
    theirLine.consumed(77);
    theirLine.sleeping(true);
    write(1);
    assertEquals(QueuePair.POSTED, fetcher.post(true));
    assertEquals(2, posted.size());
    Read line = posted.peekFirst();
    assertEquals(LINE, line.remoteOffset());
    assertEquals(ControlDescriptor.CONTROL_LENGTH, line.length());
    assertEquals(QueuePair.UNSIGNALED, line.id(), "one completion a post");
    assertFalse(fetcher.hasLine());
    execute();
    assertTrue(fetcher.poll());
    assertTrue(fetcher.hasLine());
    assertEquals(77, fetcher.lineConsumed());
    assertTrue(fetcher.lineSleeping());
    assertFalse(fetcher.lineBlocked());
    assertEquals(1, take());

    theirLine.sleeping(false);
    theirLine.blocked(true);
    fetcher.post(true);
    execute();
    fetcher.poll();
    assertFalse(fetcher.lineSleeping());
    assertTrue(fetcher.lineBlocked());

    fetch();
    assertFalse(fetcher.hasLine());
  }

  /** Frames may be placed as well as fetched: each is taken once, wherever it is met first. */
  @Test
  void framesThatWereTakenElsewhereMeanwhileAreSkipped() {
    write(1);
    write(1);
    write(2);
    fetcher.post(false);
    execute();
    place();
    assertEquals(2, poller.poll(this::keep, 2));
    assertTrue(fetcher.poll());
    assertTrue(fetcher.hasFrame());
    assertEquals(1, take());
    assertEquals(List.of(32, 32, 96), lengths);

    write(3);
    fetcher.post(false);
    execute();
    place();
    assertEquals(1, poller.poll(this::keep, LIMIT));
    assertTrue(fetcher.poll());
    assertFalse(fetcher.hasFrame());
    assertEquals(0, take());
    advance(200);
    assertFalse(fetcher.hasFrame());
    assertEquals(0, take());
  }

  @Test
  void completionsOfOthersAreNotTheWindows() {
    write(1);
    fetcher.post(false);
    completions.add(() -> handler.onCompletion(99, QueuePair.SUCCESS, 8));
    assertFalse(fetcher.poll());
    assertTrue(fetcher.isPending());
    execute();
    assertTrue(fetcher.poll());
    assertEquals(1, take());
  }
}
