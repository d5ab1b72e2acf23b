package dev.ringfetch.ring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.HeapFabric;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.hunt.Rounds;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever a writer puts into a ring comes out at the poller, in order, once, whole. */
class RingPropertyTest {
  private static final int SLOT = FrameDescriptor.SLOT_LENGTH;
  private static final long STALL_NS = TimeUnit.SECONDS.toNanos(30);

  /** Both ends of one ring; frames tell by their number what must be in them. */
  private static final class Ends {
    final int slots;
    final String what;
    final RingWriter writer;
    final RingPoller poller;
    final ControlFlyweight line;
    final byte[] source = new byte[64 * SLOT];
    final byte[] copy = new byte[64 * SLOT];
    long received;

    Ends(long seed, int slots) {
      this.slots = slots;
      what = "seed=" + seed + " slots=" + slots;
      Random random = new Random(seed);
      HeapFabric fabric = new HeapFabric(ArenaDescriptor.REQUEST_RING_OFFSET + slots * SLOT);
      long epoch = random.nextLong();
      long start = random.nextInt(4) == 0 ? -random.nextInt(1000) : random.nextLong();
      line = new ControlFlyweight(fabric.client(), 0);
      line.consumed(start);
      int offset = ArenaDescriptor.REQUEST_RING_OFFSET;
      writer = new RingWriter(fabric.client(), offset, slots * SLOT, epoch, start, line);
      poller = new RingPoller(fabric.server(), offset, slots * SLOT, epoch, start, line);
    }

    static int length(long number, int slots) {
      long mixed = mix(number);
      int longest = FrameDescriptor.maxPayload(slots);
      return switch ((int) (mixed >>> 62)) {
        case 0 -> (int) ((mixed >>> 8) % Math.min(longest + 1, 33));
        case 1 -> longest - (int) ((mixed >>> 8) % Math.min(longest + 1, 70));
        default -> (int) ((mixed >>> 8) % (longest + 1));
      };
    }

    static long mix(long number) {
      long mixed = (number + 1) * 0x9E3779B97F4A7C15L;
      return mixed ^ (mixed >>> 29);
    }

    /** Fills a payload: every byte depends on the frame, so a stale one shows. */
    static void fill(byte[] bytes, long number, int length) {
      long state = mix(number);
      for (int i = 0; i < length; i++) {
        state = state * 6364136223846793005L + 1442695040888963407L;
        bytes[i] = (byte) (state >>> 56);
      }
    }

    int write(long number) {
      int length = length(number, slots);
      fill(source, number, length);
      long mixed = mix(number);
      return writer.write(
          (int) mixed,
          (int) (mixed >>> 32) & 0xFFFF & ~FrameDescriptor.PAD,
          (int) (mixed >>> 16) & 0xFFFF,
          (int) number,
          source,
          0,
          length);
    }

    boolean onFrame(
        int streamId, int flags, int code, int ack, MemoryRegion memory, int offset, int length) {
      long number = received++;
      long mixed = mix(number);
      assertEquals(length(number, slots), length, () -> what + " frame=" + number);
      assertEquals((int) mixed, streamId, what);
      assertEquals((int) (mixed >>> 32) & 0xFFFF & ~FrameDescriptor.PAD, flags, what);
      assertEquals((int) (mixed >>> 16) & 0xFFFF, code, what);
      assertEquals((int) number, ack, what);
      memory.getBytes(offset, copy, 0, length);
      byte[] expected = new byte[length];
      fill(expected, number, length);
      assertTrue(
          Arrays.equals(expected, 0, length, copy, 0, length), () -> what + " frame=" + number);
      return true;
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 4, 8, 16, 32, 64})
  void framesComeOutAsTheyWentIn(int slots) {
    long seed = Long.getLong("ringfetch.seed", 1);
    Random random = new Random(seed);
    Ends ends = new Ends(seed, slots);
    long sent = 0;
    final int frames = Rounds.once(40_000, 10_000);
    while (ends.received < frames) {
      for (int burst = random.nextInt(5); burst > 0; burst--) {
        int written = ends.write(sent);
        assertNotEquals(RingWriter.PROTOCOL_VIOLATION, written, ends.what);
        if (written == RingWriter.WRITTEN) {
          sent++;
        }
      }
      int polled = ends.poller.poll(ends::onFrame, random.nextInt(4));
      assertNotEquals(RingPoller.PROTOCOL_VIOLATION, polled, ends.what);
      if (random.nextInt(3) == 0) {
        ends.poller.tellConsumed();
      } else if (random.nextInt(3) == 0) {
        assertTrue(ends.writer.onAck((int) ends.poller.position()), ends.what);
      }
    }
    ends.poller.poll(ends::onFrame, Integer.MAX_VALUE);
    assertEquals(sent, ends.received, ends.what);
    assertEquals(ends.writer.position(), ends.poller.position(), ends.what);
  }

  /** Credit is exact: a full ring takes a frame as soon as its slots are told, and not before. */
  @Test
  void creditIsExactToTheSlot() {
    long seed = Long.getLong("ringfetch.seed", 1);
    Random random = new Random(seed);
    for (int slots : new int[] {2, 4, 16}) {
      Ends ends = new Ends(seed, slots);
      long told = ends.writer.position();
      for (long number = 0; number < Rounds.once(20_000, 5_000); number++) {
        while (true) {
          long before = ends.writer.position();
          int needed = FrameDescriptor.slots(Ends.length(number, slots));
          int untilEnd = slots - (int) (before & (slots - 1));
          int all = needed <= untilEnd ? needed : untilEnd + needed;
          boolean fits = before + all - told <= slots;
          int written = ends.write(number);
          assertEquals(
              fits ? RingWriter.WRITTEN : RingWriter.INSUFFICIENT_CREDIT, written, ends.what);
          if (fits) {
            break;
          }
          ends.poller.poll(ends::onFrame, 1);
          if (random.nextBoolean() || ends.poller.position() == ends.writer.position()) {
            ends.poller.tellConsumed();
            told = ends.poller.position();
          }
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 8, 64})
  @Timeout(240)
  @SuppressWarnings("ThreadPriorityCheck") // two cores: a full ring is the other thread's turn
  void framesCrossFromThreadToThread(int slots) throws Exception {
    long seed = Long.getLong("ringfetch.seed", 1);
    Ends ends = new Ends(seed, slots);
    long frames = 500L * slots; // each time that a ring is full costs a slice of a busy machine
    CompletableFuture<Void> writing =
        CompletableFuture.runAsync(
            () -> {
              for (long number = 0; number < frames && !Thread.currentThread().isInterrupted(); ) {
                int written = ends.write(number);
                assertNotEquals(RingWriter.PROTOCOL_VIOLATION, written, ends.what);
                if (written == RingWriter.WRITTEN) {
                  number++;
                } else {
                  Thread.yield();
                }
              }
            });
    int idle = 0;
    long progressNs = System.nanoTime();
    while (ends.received < frames && !writing.isCompletedExceptionally()) {
      int polled = ends.poller.poll(ends::onFrame, 16);
      assertNotEquals(RingPoller.PROTOCOL_VIOLATION, polled, ends.what);
      ends.poller.tellConsumed();
      if (polled != 0) {
        progressNs = System.nanoTime();
      } else {
        Thread.yield();
        if (++idle % 1024 == 0) {
          assertTrue(System.nanoTime() - progressNs < STALL_NS, ends.what);
        }
      }
    }
    writing.get(10, TimeUnit.SECONDS);
    assertEquals(frames, ends.received, ends.what);
  }
}
