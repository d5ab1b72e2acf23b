package dev.ringfetch.index.coordinator;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.coordinator.Coordinator.Result;
import dev.ringfetch.index.coordinator.Party.Answered;
import dev.ringfetch.index.disk.CrashingDisk;
import dev.ringfetch.index.disk.Disk;
import dev.ringfetch.index.disk.SimulatedDisk;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Node;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;

/** The coordinator in a file. */
final class FileCoordinatorTest extends CoordinatorContract {
  private static final String FILE = "coordinator";

  private final SimulatedDisk disk = new SimulatedDisk();
  private final Random random = new Random(1);
  private LocalCoordinator.Truth truth;

  @Override
  protected Coordinator connect(LongSupplier ids) throws IOException {
    if (truth == null) {
      truth = LocalCoordinator.Truth.open(disk, 0, ids);
    }
    return truth.connect();
  }

  /** A process on a disk, with all that its coordinator has told it. */
  private static final class Life {
    private final long cluster;
    private final Party party;
    private final Map<Long, GroupState> groups = new TreeMap<>();
    private final List<Long> dropped = new ArrayList<>();

    Life(Disk disk, long known) throws IOException {
      final LocalCoordinator coordinator =
          LocalCoordinator.Truth.open(disk, known, new Random(7)::nextLong).connect();
      final List<Long> clusters = new ArrayList<>();
      party = new Party(coordinator, new Random(7));
      coordinator.announce(
          node(1, 1),
          new Coordinator.Admission() {
            @Override
            public boolean onCluster(long id) {
              return clusters.add(id);
            }

            @Override
            public void onTaken(Node other) {
              throw new AssertionError(other.toString());
            }
          });
      cluster = clusters.get(0);
      poll();
    }

    private GroupState poll(Answered... answered) {
      party.poll();
      groups.clear();
      groups.putAll(party.groups());
      dropped.clear();
      dropped.addAll(party.droppedLast());
      for (final Answered each : answered) {
        assertEquals(Result.DONE, each.result());
      }
      return answered.length == 0 ? null : answered[0].state();
    }

    /** Changes groups in each way. */
    void change(String index) {
      final GroupState created = poll(party.create(index, 1), party.create(index + "2", 1));
      final GroupState serving = poll(party.establish(created));
      final GroupState won = poll(party.win(serving, 1));
      final GroupState next = poll(party.replace(won, 1));
      poll(party.establish(next), party.create(index + "3", 1));
      poll(party.drop(next.toBuilder().setVersion(next.getVersion() + 1).build()));
    }

    /** Nothing that an earlier process was told has gone back. */
    void checkAfter(Life earlier, String when) {
      assertEquals(earlier.cluster, cluster, when);
      assertTrue(dropped.containsAll(earlier.dropped), when);
      earlier.groups.forEach(
          (id, before) -> {
            final GroupState now = groups.get(id);
            if (now == null) {
              assertTrue(dropped.contains(id), when + " lacks " + before);
            } else {
              assertTrue(now.getVersion() >= before.getVersion(), when);
              assertTrue(now.getVersion() > before.getVersion() || now.equals(before), when);
            }
          });
    }
  }

  @Test
  void aCrashAtAnyStepLosesNothingThatWasAnswered() throws Exception {
    boolean crashed = true;
    for (int step = 0; crashed; step++) {
      final String when = "step=" + step;
      final SimulatedDisk stored = new SimulatedDisk();
      final CrashingDisk crashing = new CrashingDisk(stored);
      final Life first = new Life(crashing, 0);
      first.change("before");
      crashing.crashAfter(step);
      try {
        first.change("index");
        crashed = false;
      } catch (CrashingDisk.Crash e) {
        crashed = true;
      }
      stored.powerCut(new Random(step));
      final Life second = new Life(stored, first.cluster);
      second.checkAfter(first, when);
      second.change("after");
      stored.powerCut(new Random(step));
      new Life(stored, first.cluster).checkAfter(second, when);
    }
  }

  @Test
  void aClusterWhoseFirstStartCrashedBeginsAnew() throws Exception {
    boolean crashed = true;
    for (int step = 0; crashed; step++) {
      final SimulatedDisk stored = new SimulatedDisk();
      final CrashingDisk crashing = new CrashingDisk(stored);
      crashing.crashAfter(step);
      long cluster = 0;
      try {
        cluster = new Life(crashing, 0).cluster;
        crashed = false;
      } catch (CrashingDisk.Crash e) {
        crashed = true;
      }
      stored.powerCut(new Random(step));
      final Life second = new Life(stored, cluster); // the directory knows what it was told
      assertTrue(cluster == 0 || cluster == second.cluster, "step=" + step);
    }
  }

  @Test
  void aChangeThatTheDiskRefusesIsUndoneAndUnknown() throws Exception {
    final SimulatedDisk stored = new SimulatedDisk();
    final Life process = new Life(stored, 0);
    final Party party = process.party;
    final GroupState created = process.poll(party.create("one", 1));
    int failures = 0;
    for (int step = 0; failures == step; step++) {
      stored.failAfter(step, SimulatedDisk.Fault.IO_ERROR);
      final Answered establish = party.establish(created);
      final Answered create = party.create("two", 1);
      party.poll();
      if (establish.result() == Result.UNKNOWN) {
        failures++;
        assertEquals(Result.UNKNOWN, create.result());
        assertNull(create.state());
        assertEquals(Map.of(created.getGroup(), created), party.groups());
      }
    }
    assertTrue(failures > 4, "failures=" + failures);
    assertEquals(2, party.groups().size());
    process.poll();
    stored.powerCut(random);
    new Life(stored, process.cluster).checkAfter(process, "after failures");
  }

  @Test
  void changesOfOneStepAreStoredAtOnce() throws Exception {
    final Life process = new Life(disk, 0);
    final int before = disk.syncs();
    process.poll(process.party.create("one", 1), process.party.create("two", 1));
    assertEquals(before + 1, disk.syncs());
    process.poll();
    assertEquals(before + 1, disk.syncs());
  }

  private static IOException refusal(SimulatedDisk disk, long cluster) {
    return assertThrows(
        IOException.class, () -> LocalCoordinator.Truth.open(disk, cluster, () -> 2));
  }

  @Test
  void aDamagedFileIsRefused() throws Exception {
    new Life(disk, 0).change("index");
    final byte[] content = disk.content(FILE).clone();
    for (int at = 0; at < content.length; at++) {
      final byte[] damaged = content.clone();
      damaged[at] ^= 1;
      disk.content(FILE, damaged);
      final String flipped = refusal(disk, 0).getMessage();
      assertTrue(flipped.endsWith(" file=simulated/coordinator"), flipped);
      disk.content(FILE, Arrays.copyOf(content, at));
      assertTrue(refusal(disk, 0).getMessage().contains("length="), "cut at=" + at);
    }
    disk.content(FILE, "of another program".getBytes(US_ASCII));
    assertTrue(refusal(disk, 0).getMessage().contains("not the file of a coordinator"));
    disk.content(
        FILE,
        new String(content, US_ASCII)
            .replace("coordinator 1 ", "coordinator 2 ")
            .getBytes(US_ASCII));
    assertTrue(refusal(disk, 0).getMessage().contains("version=2"));
  }

  @Test
  void aFileThatIsMissingIsNotMadeAnew() {
    final SimulatedDisk empty = new SimulatedDisk();
    final String message = refusal(empty, 0x1234).getMessage();
    assertTrue(message.contains("cluster=0000000000001234"), message);
    assertEquals(List.of(), empty.names());
  }
}
