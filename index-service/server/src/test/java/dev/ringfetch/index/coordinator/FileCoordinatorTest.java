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
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.IndexKind;
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
  private static final long NODE = 1;

  private final SimulatedDisk disk = new SimulatedDisk();
  private final Random random = new Random(1);
  private LocalCoordinator.Truth truth;

  @Override
  protected Coordinator connect(LongSupplier ids) throws IOException {
    if (truth == null) {
      truth = LocalCoordinator.Truth.open(disk, NODE, 0, ids);
    }
    return truth.connect();
  }

  /** A process on a disk, with all that its coordinator has told it. */
  private static final class Life {
    private final LocalCoordinator.Truth truth;
    private final long cluster;
    private final Party party;
    private final Map<Long, GroupState> groups = new TreeMap<>();
    private final List<Long> dropped = new ArrayList<>();

    Life(Disk disk, long known) throws IOException {
      truth = LocalCoordinator.Truth.open(disk, NODE, known, new Random(7)::nextLong);
      truth.continueFrom(NODE, Map.of(), Map.of(), false);
      final LocalCoordinator coordinator = truth.connect();
      final List<Long> clusters = new ArrayList<>();
      party = new Party(coordinator, new Random(7));
      coordinator.announce(
          node(NODE, 1),
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

  @Test
  void theOnlyNodeLeadsWithoutRoomForItsEpochs() throws Exception {
    final Life first = new Life(disk, 0);
    final GroupState serving = first.poll(first.party.establish(first.poll(create(first, "one"))));
    final Life second = new Life(disk, first.cluster);
    disk.full(true);
    final GroupState won = second.poll(second.party.win(serving, 1));
    second.poll(second.party.establish(won));
    final Answered later = create(second, "two");
    second.poll();
    assertEquals(Result.UNKNOWN, later.result()); // the next process would not know of it
    final List<Throwable> failures = new ArrayList<>();
    second.truth.flush(failures::add);
    assertEquals(1, failures.size());
    assertEquals(Map.of(serving.getGroup(), serving), new Life(disk, first.cluster).groups);
    disk.full(false);
    second.truth.flush(failures::add);
    assertEquals(1, failures.size());
    disk.powerCut(random);
    new Life(disk, first.cluster).checkAfter(second, "flushed");
  }

  private static Answered create(Life process, String index) {
    return process.party.create(index, 1);
  }

  private static IOException refusal(SimulatedDisk disk, long cluster) {
    return assertThrows(
        IOException.class,
        () ->
            LocalCoordinator.Truth.open(disk, NODE, cluster, () -> 2)
                .continueFrom(NODE, Map.of(), Map.of(), false));
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
  void aNodeOfALargerClusterIsRefused() {
    final SimulatedDisk empty = new SimulatedDisk();
    final String message = refusal(empty, 0x1234).getMessage();
    assertTrue(message.contains("node of cluster=0000000000001234"), message);
    assertEquals(List.of(), empty.names());
  }

  @Test
  void aFileThatIsMissingIsNotMadeAnewButForACopy() throws Exception {
    final SimulatedDisk empty = new SimulatedDisk();
    final String message = refusal(empty, NODE).getMessage();
    assertTrue(message.contains("missing; put the newest one back"), message);
    assertTrue(
        message.endsWith(
            "--adopt-copy (adoptCopy(true) in a program), which keeps the"
                + " journal's indexes, with new incarnations: file=simulated/coordinator"),
        message);
    assertEquals(List.of(), empty.names());
    LocalCoordinator.Truth.open(empty, NODE, NODE, () -> 2)
        .continueFrom(NODE, Map.of(), Map.of(), true);
    assertEquals(NODE, new Life(empty, NODE).cluster);
  }

  /** Else a start that is refused for another reason would leave it behind. */
  @Test
  void theFileIsNotWrittenBeforeTheJournalIsRead() throws Exception {
    final SimulatedDisk empty = new SimulatedDisk();
    final LocalCoordinator.Truth opened = LocalCoordinator.Truth.open(empty, NODE, 0, () -> 2);
    assertEquals(List.of(), empty.names());
    opened.continueFrom(NODE, Map.of(), Map.of(), false);
    assertEquals(List.of(FILE), empty.names());
  }

  private static GroupState onDisk(String index, Durability durability, long nonce) {
    return GroupState.newBuilder()
        .setIndex(index)
        .setDefinition(new IndexDefinition(IndexKind.HASH, durability, 1, 1, 1).encoded())
        .setWon(Configuration.newBuilder().setLeader(NODE).setNonce(nonce))
        .build();
  }

  @Test
  void aFileOfAnotherTimeThanTheJournalIsRefused() throws Exception {
    final LocalCoordinator.Truth first =
        LocalCoordinator.Truth.open(disk, NODE, 0, random::nextLong);
    first.continueFrom(NODE, Map.of(), Map.of(), false);
    final byte[] old = disk.content(FILE).clone();
    final LocalCoordinator coordinator = first.connect();
    final Party party = new Party(coordinator, random);
    final List<GroupState> states = new ArrayList<>();
    final Random ids = new Random(3);
    for (final Durability level : List.of(Durability.DISK, Durability.MEMORY)) {
      coordinator.create(
          onDisk("of " + level, level, ids.nextLong() | 1), (result, state) -> states.add(state));
      party.poll();
    }
    coordinator.establish(states.get(0), (result, state) -> states.set(0, state));
    party.poll();
    final Map<GroupState, Long> journal = Map.of(states.get(0), 7L);
    reopen(NODE).continueFrom(NODE, journal, Map.of(), false); // of level memory nothing is there

    coordinator.drop(states.get(0), (result, state) -> {});
    party.poll(); // the journal's record of that may be lost
    reopen(NODE).continueFrom(NODE, journal, Map.of(), false);

    disk.content(FILE, old);
    final String older =
        assertThrows(
                IOException.class, () -> reopen(NODE).continueFrom(NODE, journal, Map.of(), false))
            .getMessage();
    assertTrue(older.contains("older than the journal"), older);
    assertTrue(older.contains("--adopt-copy"), older);
    assertTrue(older.contains("index=of DISK group="), older);
    reopen(NODE).continueFrom(NODE, journal, Map.of(), true);
    reopen(NODE).continueFrom(NODE, journal, Map.of(), false);
  }

  private LocalCoordinator.Truth reopen(long cluster) throws IOException {
    return LocalCoordinator.Truth.open(disk, NODE, cluster, random::nextLong);
  }
}
