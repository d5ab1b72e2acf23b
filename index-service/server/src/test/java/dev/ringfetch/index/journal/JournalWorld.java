package dev.ringfetch.index.journal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.disk.SimulatedDisk;
import dev.ringfetch.index.journal.JournalLife.Seen;
import dev.ringfetch.index.partition.CommitLog;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.v1.Durability;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Random lives of a journal on a simulated disk: servers that are killed, lose their power, end in
 * order, meet failing calls and full disks. Each next server finds of each partition what it found
 * before, and then the records of the last server up to some point, which is behind all that was
 * committed and synced.
 */
public final class JournalWorld {
  private static final int SHORT = 2_000; // bytes of a value
  private static final int BURST = 60;
  private static final int LIVES = 8;
  private static final int PARTITIONS = 3;

  /** What happened, for a test to see that it has happened. */
  public static final class Coverage {
    public int cuts;
    public int kills;
    public int ends;
    public int failures;
    public int fulls;
    public int shortages;
    public int lost;
    public int unopened;
  }

  private static final class Part {
    Durability durability;
    PartitionLog log;
    final List<Seen> expected = new ArrayList<>();

    /** Records of {@code expected} that no crash may take. */
    int safe;

    long last;
    boolean waits;
  }

  private final Random random;
  private final Coverage coverage;
  private final SimulatedDisk disk = new SimulatedDisk();
  private final List<Part> parts = new ArrayList<>();
  private long nowNs;

  /** Creates a world whose events are counted there. */
  public JournalWorld(long seed, Coverage coverage) {
    this.coverage = coverage;
    random = new Random(seed);
    for (int i = 0; i < PARTITIONS; i++) {
      final Part part = new Part();
      part.durability = i == 0 ? Durability.INTERVAL : Durability.DISK;
      parts.add(part);
    }
  }

  /** The disk. */
  public SimulatedDisk disk() {
    return disk;
  }

  /** Lets all servers live. */
  public void run() throws IOException {
    for (int life = 1; life <= LIVES; life++) {
      live(life);
    }
  }

  private void live(int epoch) throws IOException {
    if (random.nextInt(4) == 0) {
      disk.failAfter(random.nextInt(30), SimulatedDisk.Fault.IO_ERROR);
    }
    final JournalLife life;
    try {
      life = new JournalLife(disk, epoch);
    } catch (JournalDamagedException e) {
      throw new AssertionError("refused what a crash has left", e);
    } catch (IOException e) { // a server that ended while it recovered
      coverage.unopened++;
      end(null);
      return;
    }
    life.nowNs = nowNs;
    for (int i = 0; i < PARTITIONS; i++) {
      begin(life, i);
    }
    final int steps = random.nextInt(60);
    final int longest = random.nextInt(5) == 0 ? 400_000 : SHORT;
    for (int i = 0; i < steps; i++) {
      step(life, longest);
    }
    awaitRoom(life);
    nowNs = life.nowNs;
    end(life);
  }

  private void begin(JournalLife life, int number) {
    final Part part = parts.get(number);
    final List<Seen> found = life.recovered(number);
    assertTrue(found.size() >= part.safe, "found=" + found.size() + " safe=" + part.safe);
    assertTrue(found.size() <= part.expected.size());
    coverage.lost += part.expected.size() - found.size();
    assertEquals(part.expected.subList(0, found.size()), found);
    part.expected.subList(found.size(), part.expected.size()).clear();
    part.safe = found.size(); // recovered, and synced again
    part.log = new PartitionLog(life.journal, number, 0, part.durability, part.last);
    // At once: what fails behind the answer takes nothing back.
    part.log.onCommit(
        () -> {
          noteCommits(part);
          part.waits &= !part.log.hasRoom();
        });
  }

  private void step(JournalLife life, int longest) {
    switch (random.nextInt(12)) {
      case 0 -> life.nowNs += random.nextInt(20_000_000);
      case 1 -> {
        final boolean full = random.nextBoolean();
        disk.full(full);
        coverage.fulls += full ? 1 : 0;
      }
      case 2 -> {
        if (random.nextInt(4) == 0) {
          disk.failAfter(random.nextInt(10), SimulatedDisk.Fault.IO_ERROR);
        }
      }
      case 3, 4, 5, 6 -> {
        life.journal.work(life.nowNs);
        noteCommits();
      }
      default -> {
        // Now and then more than both segments have room for, before the next one can be ready.
        final int count = longest > SHORT && random.nextInt(8) == 0 ? BURST : 1;
        for (int i = 0; i < count; i++) {
          append(life, parts.get(random.nextInt(PARTITIONS)), longest);
        }
      }
    }
  }

  private void append(JournalLife life, Part part, int longest) {
    final byte[] value = new byte[random.nextInt(longest)];
    random.nextBytes(value);
    final Write write =
        new Write(answered -> {})
            .put(ByteString.copyFromUtf8("k" + random.nextInt(100)), ByteString.copyFrom(value));
    final long lsn = part.log.append(write);
    if (lsn > 0) {
      assertTrue(lsn > part.last);
      part.last = lsn;
      part.expected.add(
          new Seen(RecordDescriptor.PUT, life.epoch, lsn, write.key(), write.value()));
    } else if (lsn == CommitLog.LATER) {
      coverage.shortages++;
      part.waits = !part.log.hasRoom();
      assertTrue(part.waits);
    } else {
      assertTrue(lsn == CommitLog.FULL || lsn == CommitLog.FAILED, "lsn=" + lsn);
      assertEquals(lsn == CommitLog.FAILED, life.journal.isFailed());
      assertTrue(lsn == CommitLog.FAILED || life.journal.obstacle() != null);
    }
  }

  /** What waits for room is told of it without another append, or why there is none. */
  private void awaitRoom(JournalLife life) {
    for (int left = 100; left > 0 && parts.stream().anyMatch(part -> part.waits); left--) {
      life.journal.work(life.nowNs);
    }
    for (final Part part : parts) {
      assertFalse(part.waits && !life.journal.isFailed());
      part.waits = false;
    }
  }

  private void noteCommits() {
    parts.forEach(JournalWorld::noteCommits);
  }

  private static void noteCommits(Part part) {
    final long committed = part.log.committed();
    if (part.durability == Durability.DISK && committed > 0) {
      int safe = 0;
      while (safe < part.expected.size() && part.expected.get(safe).lsn() <= committed) {
        safe++;
      }
      assertTrue(safe >= part.safe);
      part.safe = safe;
    }
  }

  private void end(JournalLife life) throws IOException {
    if (life != null && life.journal.isFailed()) {
      coverage.failures++;
    }
    final int how = random.nextInt(3);
    if (how == 0 && life != null && !life.journal.isFailed()) {
      disk.full(false);
      disk.failAfter(-1, SimulatedDisk.Fault.IO_ERROR);
      life.journal.close();
      parts.forEach(part -> part.safe = part.expected.size());
      coverage.ends++;
      disk.powerCut(random);
    } else if (how == 1) {
      coverage.kills++;
      disk.kill();
    } else {
      coverage.cuts++;
      disk.powerCut(random);
    }
  }
}
