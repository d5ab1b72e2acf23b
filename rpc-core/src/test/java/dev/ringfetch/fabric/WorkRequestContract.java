package dev.ringfetch.fabric;

import static dev.ringfetch.fabric.DomainSteps.SIZE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ringfetch.hunt.Rounds;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Work requests between local memory and the segments of a domain. */
public abstract class WorkRequestContract extends FabricContract {
  private final long seed = Long.getLong("ringfetch.seed", 1);
  private DomainSteps steps;

  @BeforeEach
  void makeSteps() {
    steps = new DomainSteps(harness);
  }

  private RemoteDomain connect(Rights rights, int length) throws IOException {
    Domain domain = steps.open(rights);
    RemoteDomain remote = steps.connect(domain).remote();
    remote.attach(domain.grow(length).descriptor());
    return remote;
  }

  @Test
  void anyRangeIsTransferredAndNothingBesideIt() throws IOException {
    Domain domain = steps.open(Rights.WRITE);
    DomainSegment segment = domain.grow(SIZE);
    RemoteDomain remote = steps.connect(domain).remote();
    remote.attach(segment.descriptor());
    MemoryRegion local = remote.scratch(SIZE);
    MemoryRegion back = remote.scratch(SIZE);
    Random random = new Random(seed);
    byte[] expected = new byte[SIZE];
    for (int round = 0; round < 60; round++) {
      byte[] bytes = new byte[random.nextInt(round % 2 == 0 ? 100 : SIZE / 2)];
      random.nextBytes(bytes);
      int aligned = round % 3 == 0 ? ~7 : ~0;
      int from = random.nextInt(SIZE - bytes.length + 1) & aligned;
      int to = random.nextInt(SIZE - bytes.length + 1) & aligned;
      local.putBytes(from, bytes, 0, bytes.length);
      System.arraycopy(bytes, 0, expected, to, bytes.length);
      assertEquals(
          bytes.length,
          steps.complete(remote, remote.write(0, to, local, from, bytes.length, round)));
      harness.drive(() -> equal(segment.region(), expected));
      byte[] before = all(back);
      int at = random.nextInt(SIZE - bytes.length + 1) & aligned;
      steps.complete(remote, remote.read(0, to, back, at, bytes.length, round));
      System.arraycopy(bytes, 0, before, at, bytes.length);
      assertArrayEquals(before, all(back), "seed=" + seed + " round=" + round);
    }
  }

  private static boolean equal(MemoryRegion region, byte[] expected) {
    return Arrays.equals(all(region), expected);
  }

  private static byte[] all(MemoryRegion region) {
    byte[] bytes = new byte[region.length()];
    region.getBytes(0, bytes, 0, bytes.length);
    return bytes;
  }

  @Test
  void rangesThatAreNotThereAreRefused() throws IOException {
    RemoteDomain remote = connect(Rights.ATOMIC, SIZE);
    MemoryRegion local = remote.scratch(64);
    long[][] ranges = {
      {-8, 8, 0},
      {SIZE, 8, 0},
      {SIZE - 8, 16, 0},
      {Long.MAX_VALUE, 8, 0},
      {Long.MIN_VALUE, 8, 0},
      {0, -1, 0},
      {0, 65, 0},
      {0, 8, 60},
      {0, 8, -8},
      {1L << 32, 8, 0},
      {Integer.MIN_VALUE, 8, 0},
    };
    for (long[] range : ranges) {
      String what = "range=" + Arrays.toString(range);
      assertThrows(
          IllegalArgumentException.class,
          () -> remote.read(0, range[0], local, (int) range[2], (int) range[1], 1),
          what);
      assertThrows(
          IllegalArgumentException.class,
          () -> remote.write(0, range[0], local, (int) range[2], (int) range[1], 1),
          what);
    }
    for (long offset : new long[] {-8, 4, SIZE, SIZE - 4, 1L << 32}) {
      assertThrows(IllegalArgumentException.class, () -> remote.compareAndSwap(0, offset, 0, 1, 1));
      assertThrows(IllegalArgumentException.class, () -> remote.fetchAndAdd(0, offset, 1, 1));
    }
    for (int segment : new int[] {1, -2, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
      assertThrows(IllegalArgumentException.class, () -> remote.read(segment, 0, local, 0, 8, 1));
    }
    assertEquals(0, remote.completions().poll((id, status, value) -> {}, 10));
    assertEquals(0, steps.readWord(remote, 0, 0));
  }

  /**
   * Lengths of segments that have more than 2 GiB together, the first ones as long as each other, a
   * power of two.
   */
  protected int[] longSegments() {
    return new int[] {1 << 30, 1 << 30, 1 << 30};
  }

  @Test
  void segmentsReachBeyondTwoGibibytes() throws IOException {
    final int[] lengths = longSegments();
    final int length = lengths[0];
    final long memory = Arrays.stream(lengths).asLongStream().sum();
    assertTrue(memory > 1L << 31);
    Domain domain =
        harness.server.openDomain(
            new DomainContext().rights(Rights.WRITE).sparse(true).memoryLimit(memory));
    RemoteDomain remote = steps.connect(domain).remote();
    for (int i = 0; i < lengths.length; i++) {
      assertEquals(i, remote.attach(domain.grow(lengths[i]).descriptor()));
    }
    assertThrows(IOException.class, () -> domain.grow(64));
    for (long address : new long[] {8, (1L << 31) - 8, 1L << 31, memory - 8}) {
      final int segment = (int) (address / length);
      steps.writeWord(remote, segment, address % length, ~address);
      assertEquals(~address, steps.readWord(remote, segment, address % length));
    }
    assertEquals(~8L, steps.readWord(remote, 0, 8));
  }

  @Test
  void requestsUnderOneDoorbellCompleteInOrder() throws IOException {
    RemoteDomain remote = connect(Rights.ATOMIC, SIZE);
    MemoryRegion local = remote.scratch(1024);
    remote.cork();
    for (int i = 0; i < 16; i++) {
      assertEquals(QueuePair.POSTED, remote.write(0, 64, local, 0, 64, QueuePair.UNSIGNALED));
      assertEquals(QueuePair.POSTED, remote.write(0, 128, local, 0, 8 * (i + 1), 4L * i));
      assertEquals(QueuePair.POSTED, remote.fetchAndAdd(0, 0, 3, 4L * i + 1));
      assertEquals(QueuePair.POSTED, remote.compareAndSwap(0, 8, i, i + 1, 4L * i + 2));
      assertEquals(QueuePair.POSTED, remote.read(0, 0, local, 512, 128, 4L * i + 3));
    }
    remote.uncork();
    List<long[]> completions = steps.completions(remote, 64);
    for (int i = 0; i < 64; i++) {
      long[] expected = {8L * (i / 4 + 1), 3L * (i / 4), i / 4, 128};
      assertArrayEquals(
          new long[] {i, QueuePair.SUCCESS, expected[i % 4]}, completions.get(i), "i=" + i);
    }
    assertEquals(0, remote.completions().poll((id, status, value) -> {}, 10));
    remote.uncork(); // nothing was corked
    assertEquals(48, steps.readWord(remote, 0, 0));
  }

  @Test
  void fullSendQueueIsTold() throws IOException {
    RemoteDomain remote = connect(Rights.READ, SIZE);
    MemoryRegion local = remote.scratch(64);
    int posted = 0;
    int result;
    while ((result = remote.read(0, 0, local, 0, 8, posted)) == QueuePair.POSTED) {
      posted++;
      assertTrue(posted < 1_000_000);
    }
    assertEquals(QueuePair.SEND_QUEUE_FULL, result);
    List<long[]> completions = steps.completions(remote, posted);
    assertEquals(posted - 1, completions.get(posted - 1)[0]);
    assertEquals(0, steps.readWord(remote, 0, 0));
  }

  @Test
  void readReturnsWhatWasWrittenBeforeIt() throws IOException {
    RemoteDomain remote = connect(Rights.WRITE, SIZE);
    assumeTrue(remote.capabilities().readAfterWrite());
    MemoryRegion local = remote.scratch(2048);
    MemoryRegion back = remote.scratch(2048);
    Random random = new Random(seed);
    for (int round = 0; round < 200; round++) {
      byte[] bytes = new byte[8 * (1 + random.nextInt(128))];
      random.nextBytes(bytes);
      local.putBytes(0, bytes, 0, bytes.length);
      int offset = 8 * random.nextInt(64);
      remote.cork();
      remote.write(0, offset, local, 0, bytes.length, QueuePair.UNSIGNALED);
      assertEquals(QueuePair.POSTED, remote.read(0, offset, back, 0, bytes.length, round));
      remote.uncork();
      assertEquals(round, steps.completions(remote, 1).get(0)[0]);
      byte[] read = new byte[bytes.length];
      back.getBytes(0, read, 0, read.length);
      assertArrayEquals(bytes, read, "seed=" + seed + " round=" + round);
    }
  }

  /** The owner stores to one word, then to another; the peer reads them the other way round. */
  @Test
  void readIsNotOlderThanReadsBeforeIt() throws Exception {
    Domain domain = steps.open(Rights.READ);
    DomainSegment segment = domain.grow(SIZE);
    RemoteDomain remote = steps.connect(domain).remote();
    remote.attach(segment.descriptor());
    assumeTrue(remote.capabilities().readAfterRead());
    AtomicBoolean done = new AtomicBoolean();
    Thread owner =
        new Thread(
            () -> {
              for (long i = 1; !done.get(); i++) {
                segment.region().putLongRelease(0, i);
                segment.region().putLongRelease(4096, i);
              }
            });
    owner.start();
    try {
      MemoryRegion local = remote.scratch(128);
      for (int round = 0; round < 300; round++) {
        remote.cork();
        remote.read(0, 4096, local, 0, 8, QueuePair.UNSIGNALED);
        assertEquals(QueuePair.POSTED, remote.read(0, 0, local, 64, 8, round));
        remote.uncork();
        steps.completions(remote, 1);
        long later = local.getLong(0);
        long earlier = local.getLong(64);
        assertTrue(earlier >= later, "earlier=" + earlier + " later=" + later);
      }
    } finally {
      done.set(true);
      owner.join();
    }
  }

  /** How often {@link #writerOrOwnerSeesTheOther} looks. */
  protected int rounds() {
    return Rounds.once(1000, 300);
  }

  /**
   * The peer writes, then reads the gate; the owner moves the gate, then looks for what was
   * written. One of the two sees the other: the fence of logs rests on it.
   */
  @Test
  void writerOrOwnerSeesTheOther() throws Exception {
    Domain domain = steps.open(Rights.WRITE);
    DomainSegment segment = domain.grow(SIZE);
    RemoteDomain remote = steps.connect(domain).remote();
    remote.attach(segment.descriptor());
    assumeTrue(remote.capabilities().readAfterWrite());
    int rounds = rounds();
    MemoryRegion local = remote.scratch(64);
    AtomicInteger turn = new AtomicInteger();
    long[] found = new long[rounds];
    Thread owner =
        new Thread(
            () -> {
              for (int round = 0; round < rounds; round++) {
                awaitTurn(turn, 2 * round + 1);
                domain.gate().move(round + 1);
                found[round] = segment.region().getLongAcquire(0);
                turn.set(2 * round + 2);
              }
            });
    owner.setDaemon(true); // it waits for good where this side fails
    owner.start();
    for (int round = 0; round < rounds; round++) {
      local.putLong(0, round + 1);
      turn.set(2 * round + 1);
      remote.cork();
      remote.write(0, 0, local, 0, 8, QueuePair.UNSIGNALED);
      remote.read(RemoteDomain.GATE, GateDescriptor.WORD_OFFSET, local, 8, 8, round);
      remote.uncork();
      steps.completions(remote, 1);
      awaitTurn(turn, 2 * round + 2);
      assertTrue(
          found[round] == round + 1 || local.getLong(8) == round + 1,
          "round=" + round + " found=" + found[round] + " gate=" + local.getLong(8));
    }
    owner.join();
  }

  private static void awaitTurn(AtomicInteger turn, int awaited) {
    while (turn.get() < awaited) {
      Thread.onSpinWait();
    }
  }
}
