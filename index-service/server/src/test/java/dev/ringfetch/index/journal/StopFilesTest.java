package dev.ringfetch.index.journal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.disk.SimulatedDisk;
import dev.ringfetch.index.log.GroupLog;
import dev.ringfetch.index.log.GroupRecords;
import dev.ringfetch.index.log.GroupRecovery;
import dev.ringfetch.index.log.GroupSnapshot;
import dev.ringfetch.index.log.GroupStore;
import dev.ringfetch.index.log.GroupStoreException;
import dev.ringfetch.index.log.NodeRecovery;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.Member;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The files of orderly ends, on a disk that loses its power, or what it has. */
final class StopFilesTest implements GroupStore {
  private static final long GROUP = 5;
  private static final long ORIGIN = 7;
  private static final Member PROCESS = Member.newBuilder().setNode(7).setIncarnation(42).build();

  private SimulatedDisk disk = new SimulatedDisk();
  private final List<Throwable> errors = new ArrayList<>();
  private Map<Long, String> unread;
  private GroupStoreException failure;
  private int applied;
  private boolean fails;

  private static byte[] record(int type, ByteString value) {
    return GroupRecords.control(GROUP, type, 3, value);
  }

  /** All but the last record: a log of many records, more than a batch has. */
  private static byte[] content() {
    final ByteArrayOutputStream content = new ByteArrayOutputStream();
    final ByteString definition =
        new IndexDefinition(IndexKind.HASH, Durability.MEMORY, 1, 1, 9).encoded();
    content.writeBytes(
        record(
            RecordDescriptor.GROUP_BEGIN,
            GroupState.newBuilder()
                .setGroup(GROUP)
                .setIndex("in memory")
                .setDefinition(definition)
                .build()
                .toByteString()));
    content.writeBytes(record(RecordDescriptor.GROUP_EPOCH, RecordDescriptor.value(0)));
    for (int i = 0; i < 20; i++) {
      content.writeBytes(record(RecordDescriptor.PUT, ByteString.copyFrom(new byte[300_000])));
    }
    content.writeBytes(record(RecordDescriptor.GROUP_COMMIT, RecordDescriptor.value(20)));
    return content.toByteArray();
  }

  private static byte[] last() {
    return record(
        RecordDescriptor.GROUP_STOP,
        Configuration.newBuilder().addMembers(PROCESS).build().toByteString());
  }

  private StopFiles files() {
    return new StopFiles(disk, ORIGIN);
  }

  private void write() throws IOException {
    try (StopRecords.Writer writer = files().create(GROUP)) {
      writer.add(content());
      writer.add(last());
      writer.finish();
    }
  }

  @BeforeEach
  void create() throws IOException {
    read();
  }

  /** Reads all as a start does, with an empty journal. */
  Collection<GroupRecovery> read() throws IOException {
    final NodeRecovery recovery = new NodeRecovery(group -> this, errors::add);
    Journal.open(
            disk,
            new JournalContext().owner(ORIGIN, 1).segmentLength(SegmentWriter.LENGTH_MIN),
            recovery)
        .abandon();
    unread = recovery.unread();
    failure = recovery.failure();
    return recovery.takeGroups();
  }

  private List<String> names() {
    return disk.names().stream().filter(name -> name.startsWith("stop-")).toList();
  }

  @Test
  void aFileSurvivesALossOfPowerAndItsRemovalToo() throws IOException {
    final Random random = new Random(29);
    for (int i = 0; i < 20; i++) {
      write();
      disk.powerCut(random);
      applied = 0;
      final Collection<GroupRecovery> found = read();
      assertEquals(List.of(GROUP), found.stream().map(GroupRecovery::group).toList());
      assertEquals(List.of(PROCESS), found.iterator().next().processes());
      assertEquals(20, applied);
      assertEquals(Set.of(GROUP), files().groups());
      files().delete(Set.of(GROUP));
      disk.powerCut(random);
      assertEquals(List.of(), List.copyOf(read()));
    }
    assertEquals(List.of(), errors);
  }

  @Test
  void aFileThatIsNotFinishedIsNotThere() throws IOException {
    final Random random = new Random(29);
    for (int i = 0; i < 20; i++) {
      final StopRecords.Writer writer = files().create(GROUP);
      writer.add(content());
      writer.add(last());
      disk.powerCut(random);
      assertEquals(List.of(), List.copyOf(read()));
      assertEquals(List.of(), names()); // which may be as long as the index
    }
    final StopRecords.Writer writer = files().create(GROUP); // in the place of what is left
    writer.add(content());
    writer.close();
    assertEquals(List.of(), names());
    assertEquals(List.of(), errors);
  }

  /** The snapshots of the journal know nothing of it: whatever the process lacks is not taken. */
  @Test
  void aFileWithoutTheMarkOfAWholeProcessCountsForNothing() throws IOException {
    try (StopRecords.Writer writer = files().create(GROUP)) {
      writer.add(content());
      writer.finish();
    }
    assertEquals(List.of(), List.copyOf(read()));
  }

  @Test
  void aDamagedFileCountsForNothingAndIsNamed() throws IOException {
    write();
    final String name = names().get(0);
    final byte[] whole = disk.content(name);
    final Random random = new Random(29);
    for (int i = 0; i < 40; i++) {
      byte[] content = whole.clone();
      if (i % 4 == 0) {
        content = Arrays.copyOf(content, random.nextInt(content.length));
      } else {
        content[random.nextInt(content.length)] ^= 1;
      }
      disk.content(name, content);
      assertEquals(List.of(), List.copyOf(read()));
      assertEquals(Set.of(GROUP), unread.keySet());
      assertTrue(unread.get(GROUP).contains("file=simulated/" + name), unread::toString);
      assertTrue(failure.getMessage().contains("delete it to give the index up"), "" + failure);
      assertEquals(1, errors.size());
      errors.clear();
    }
    disk.content(name, whole);
    assertEquals(1, read().size());
    assertEquals(Map.of(), unread);
  }

  /** It began with the records. */
  @Test
  void aFileOfTheLayoutBeforeIsNamedAsSuch() throws IOException {
    final ByteArrayOutputStream before = new ByteArrayOutputStream();
    before.writeBytes(content());
    before.writeBytes(last());
    disk.content(SnapshotDescriptor.stopName(GROUP), before.toByteArray());
    assertEquals(List.of(), List.copyOf(read()));
    assertTrue(
        unread.get(GROUP).startsWith("of an earlier version of this program"), unread::toString);
    assertTrue(unread.get(GROUP).endsWith("file=simulated/" + names().get(0)), unread::toString);
    assertTrue(failure.getMessage().contains("delete it to give the index up"), "" + failure);
  }

  @Test
  void aFileOfAnotherNameCountsForNothing() throws IOException {
    write();
    final byte[] whole = disk.content(names().get(0));
    disk.delete(names().get(0));
    for (final String name : List.of("stop-5", "stop-+000000000000005", "stop-00000000000000005")) {
      disk.content(name, whole);
    }
    assertEquals(List.of(), List.copyOf(read()));
    assertEquals(Map.of(), unread);
    assertEquals(Set.of(), files().groups());
    assertEquals(3, names().size());
  }

  @Test
  void aFileOfAnotherDirectoryOrGroupCountsForNothing() throws IOException {
    write();
    final byte[] whole = disk.content(names().get(0));
    disk.content(SnapshotDescriptor.stopName(GROUP + 1), whole);
    assertEquals(1, read().size());
    assertEquals(Set.of(GROUP + 1), unread.keySet());
    disk = new SimulatedDisk();
    try (StopRecords.Writer writer = new StopFiles(disk, ORIGIN + 1).create(GROUP)) {
      writer.add(content());
      writer.add(last());
      writer.finish();
    }
    final String name = names().get(0);
    final byte[] other = disk.content(name);
    disk = new SimulatedDisk();
    create();
    disk.content(name, other);
    assertEquals(List.of(), List.copyOf(read()));
    assertTrue(unread.get(GROUP).contains("of another directory"), unread::toString);
  }

  @Override
  public void clear(GroupState group) throws GroupStoreException {
    if (fails) {
      throw new GroupStoreException("the store fails");
    }
  }

  @Test
  void aFileThatAStoreCannotHaveIsLeftOut() throws IOException {
    write();
    fails = true;
    assertEquals(List.of(), List.copyOf(read()));
    assertEquals(Set.of(GROUP), unread.keySet());
    assertEquals(1, errors.size());
    assertEquals(Set.of(GROUP), files().groups());
  }

  @Override
  public void apply(JournalRecord record) {
    applied++;
  }

  @Override
  public void restore(JournalRecord record) {}

  @Override
  public void lead(GroupLog log, GroupState group) {
    throw new AssertionError();
  }

  @Override
  public void reconfigured(GroupState group) {
    throw new AssertionError();
  }

  @Override
  public void endWrites() {
    throw new AssertionError();
  }

  @Override
  public void follow() {}

  @Override
  public GroupSnapshot snapshot(Runnable wake) {
    throw new AssertionError();
  }
}
