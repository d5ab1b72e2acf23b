package dev.ringfetch.index.peers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.onesided.LogMemoryDescriptor;
import java.io.IOException;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Log memory behind a card that carries requests out late. */
final class PostedRemoteLogTest {
  private static final int RING = 1024;
  private static final long EPOCH = 7;

  private final SlowCard card = new SlowCard(LogMemoryDescriptor.RING_OFFSET + RING, true);

  private PostedRemoteLog attach() throws IOException {
    card.memory.putLong(LogMemoryDescriptor.MAGIC_OFFSET, LogMemoryDescriptor.MAGIC);
    card.gate.move(EPOCH);
    final PostedRemoteLog log = PostedRemoteLog.attach("slow", card, new byte[0]);
    card.slow();
    return log;
  }

  private long word(int offset) {
    return card.memory.getLong(offset);
  }

  @Test
  void allGoesWithTheLookUnderOneDoorbell() throws IOException {
    final PostedRemoteLog log = attach();
    assertEquals(RING, log.length());
    final int before = card.doorbells();
    log.begin(40);
    log.write(64, new byte[] {1, 2, 3, 4}, 1, 2);
    log.publish(66, 39);
    assertEquals(before, card.doorbells());
    log.look(true);
    assertEquals(before + 1, card.doorbells());
    assertTrue(log.isLooking());
    card.work(3);
    assertTrue(log.isLooking());
    assertEquals(40, word(LogMemoryDescriptor.BEGIN_OFFSET));
    assertEquals(39, word(LogMemoryDescriptor.COMMIT_OFFSET));
    assertEquals(66, word(LogMemoryDescriptor.END_OFFSET));
    assertEquals(0x302, word(LogMemoryDescriptor.RING_OFFSET + 64));
    card.memory.putLong(LogMemoryDescriptor.CONSUMED_OFFSET, 5);
    card.work(1);
    assertTrue(log.isLooking());
    card.work(1);
    assertFalse(log.isLooking());
    assertFalse(log.hasEnded());
    assertEquals(EPOCH, log.gate());
    assertEquals(5, log.consumed());
  }

  /** As much would be allocated here. */
  @Test
  void moreMemoryThanAReplicaHasIsRefused() {
    card.claimed = LogMemoryDescriptor.LENGTH_LIMIT - (LogMemoryDescriptor.RING_OFFSET + RING) + 64;
    final IOException refusal = assertThrows(IOException.class, this::attach);
    assertTrue(
        refusal.getMessage().contains("limit=" + LogMemoryDescriptor.LENGTH_LIMIT),
        refusal::getMessage);
  }

  @Test
  void gateIsThatOfTheMomentOfTheLook() throws IOException {
    final PostedRemoteLog log = attach();
    log.look(false);
    card.gate.close();
    card.work(1);
    assertFalse(log.isLooking());
    assertEquals(-EPOCH, log.gate());
  }

  @Test
  void lookThatFailsEndsTheConnection() throws IOException {
    final PostedRemoteLog log = attach();
    log.look(true);
    card.work(2);
    assertFalse(log.isLooking());
    log.look(true);
    card.revoke();
    log.isLooking();
    assertTrue(log.hasEnded());
    log.close();
    assertTrue(card.isClosed());
  }

  @Test
  void aFailureIsTheEndBeforeTheConnectionsEndIsKnown() throws IOException {
    final PostedRemoteLog log = attach();
    log.look(true);
    card.fail();
    assertFalse(card.isRevoked());
    assertFalse(log.isLooking());
    assertTrue(log.hasEnded());
  }

  @Test
  void recordsWaitWhileManyRequestsAreUnderWay() throws IOException {
    final PostedRemoteLog log = attach();
    int written = 0;
    while (log.mayWrite() && written < RING) {
      log.write(written, new byte[] {1}, 0, 1);
      log.publish(++written, 0);
    }
    assertFalse(log.hasEnded());
    assertTrue(written < SlowCard.DEPTH, "written=" + written);
    log.look(true);
    card.work(10);
    assertTrue(log.isLooking());
    assertFalse(log.mayWrite());
    card.work(SlowCard.DEPTH);
    assertFalse(log.isLooking());
    assertTrue(log.mayWrite());
    assertEquals(written, word(LogMemoryDescriptor.END_OFFSET));
  }

  /**
   * The card takes from this side's memory what is there when it carries a request out, in any
   * amounts: each word and record is that of its request.
   */
  @Test
  void whatIsUnderWayIsNotWrittenOver() throws IOException {
    final long seed = Long.getLong("ringfetch.seed", 1);
    final Random random = new Random(seed);
    final PostedRemoteLog log = attach();
    long written = 0;
    long consumed = 0;
    long taken = 0;
    int looks = 0;
    for (int i = 0; i < 20_000; i++) {
      if (random.nextBoolean() && log.mayWrite()) {
        final int room = (int) (RING - (written - consumed));
        final int at = (int) (written % RING);
        final int count = Math.min(RING - at, random.nextInt(room + 1));
        final byte[] bytes = new byte[count];
        for (int j = 0; j < count; j++) {
          bytes[j] = of(written + j);
        }
        log.write(at, bytes, 0, count);
        written += count;
        log.publish(written, -written);
      }
      if (!log.isLooking()) {
        consumed = Math.max(consumed, log.consumed());
        final boolean isAsked = random.nextInt(3) == 0;
        log.look(isAsked);
        looks++;
      }
      for (int j = random.nextInt(6); j > 0; j--) {
        card.work(1);
        taken = take(taken, seed);
      }
    }
    assertFalse(log.hasEnded());
    assertTrue(looks > 1_000, "looks=" + looks);
    assertTrue(taken > 100L * RING, "taken=" + taken);
    assertTrue(card.most() < SlowCard.DEPTH, "most=" + card.most());
  }

  private static byte of(long position) {
    return (byte) ((position * 0x9E3779B97F4A7C15L) >>> 56);
  }

  /** Takes what the end word says, as a member does; returns how much was taken in all. */
  private long take(long taken, long seed) {
    final long end = word(LogMemoryDescriptor.END_OFFSET);
    assertEquals(-end, word(LogMemoryDescriptor.COMMIT_OFFSET), "seed=" + seed);
    assertTrue(end >= taken && end <= taken + RING, "end=" + end + " seed=" + seed);
    final byte[] one = new byte[1];
    for (long at = taken; at < end; at++) {
      card.memory.getBytes(LogMemoryDescriptor.RING_OFFSET + (int) (at % RING), one, 0, 1);
      assertEquals(of(at), one[0], "at=" + at + " seed=" + seed);
    }
    card.memory.putLong(LogMemoryDescriptor.CONSUMED_OFFSET, end);
    return end;
  }

  @Test
  void otherMemoryIsRefused() {
    assertThrows(IOException.class, () -> PostedRemoteLog.attach("slow", card, new byte[0]));
    final SlowCard shortMemory = new SlowCard(LogMemoryDescriptor.RING_OFFSET, true);
    assertThrows(IOException.class, () -> PostedRemoteLog.attach("slow", shortMemory, new byte[0]));
    final SlowCard unordered = new SlowCard(LogMemoryDescriptor.RING_OFFSET + RING, false);
    assertThrows(IOException.class, () -> PostedRemoteLog.attach("slow", unordered, new byte[0]));
  }
}
