package dev.ringfetch.index.replication;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.coordinator.LocalCoordinator;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.journal.SnapshotRecords;
import dev.ringfetch.index.journal.SnapshotSource;
import dev.ringfetch.index.log.GroupRecords;
import dev.ringfetch.index.log.GroupRecovery;
import dev.ringfetch.index.log.GroupSnapshot;
import dev.ringfetch.index.log.GroupStore;
import dev.ringfetch.index.log.NodeRecovery;
import dev.ringfetch.index.log.RecordLog;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.MemberMessage;
import dev.ringfetch.index.v1.Node;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Snapshots of a node that has two groups in one journal. */
final class ReplicaSnapshotsTest implements UnconnectedPeers {
  /** What a group has: LSNs of the records that are applied, and of those behind them. */
  private record Content(List<Long> applied, List<Long> log) {}

  private static final Content FIRST = new Content(List.of(11L), List.of(12L));
  private static final Content SECOND = new Content(List.of(21L, 22L), List.of(23L));

  private final List<byte[]> journal = new ArrayList<>();
  private final Map<Long, Entries> stores = new TreeMap<>();
  private final List<Throwable> errors = new ArrayList<>();
  private long throwing; // group whose walk throws
  private Replicas replicas;
  private ReplicaSnapshots source;

  @BeforeEach
  void write() throws IOException {
    // As groups share a journal: one beside the other.
    control(1, RecordDescriptor.GROUP_BEGIN, state(1).toByteString());
    control(2, RecordDescriptor.GROUP_BEGIN, state(2).toByteString());
    control(1, RecordDescriptor.GROUP_EPOCH, RecordDescriptor.value(0));
    put(1, 11);
    control(2, RecordDescriptor.GROUP_EPOCH, RecordDescriptor.value(0));
    put(2, 21);
    put(1, 12);
    put(2, 22);
    put(2, 23);
    control(2, RecordDescriptor.GROUP_COMMIT, RecordDescriptor.value(2));
    control(1, RecordDescriptor.GROUP_COMMIT, RecordDescriptor.value(1));
    final NodeRecovery recovery = new NodeRecovery(this::store, errors::add);
    for (final byte[] record : journal) {
      recovery.onRecord(view(record), () -> "");
    }
    final Coordinator coordinator = new LocalCoordinator.Truth().connect();
    replicas =
        new Replicas(
            new NodeContext()
                .self(Node.newBuilder().setId(1).setIncarnation(1).setAddress("a:1").build())
                .coordinator(coordinator)
                .peers(this)
                .stores(this::store)
                .errors(errors::add)
                .disks(group -> new Part()));
    recovery.takeGroups().forEach(replicas::recover);
    source = new ReplicaSnapshots(replicas, () -> {}, () -> {});
  }

  @AfterEach
  void end() {
    replicas.close();
  }

  private static GroupState state(long group) {
    return GroupState.newBuilder()
        .setGroup(group)
        .setIndex("index " + group)
        .setDefinition(new IndexDefinition(IndexKind.HASH, Durability.DISK, 1, 1, group).encoded())
        .build();
  }

  private void control(long group, int type, ByteString value) {
    journal.add(GroupRecords.control(group, type, 5, value));
  }

  private void put(long group, long lsn) {
    journal.add(record(group, 5, lsn));
  }

  private static byte[] record(long group, long epoch, long lsn) {
    final byte[] record = new byte[RecordDescriptor.aligned(RecordDescriptor.KEY_OFFSET)];
    new JournalRecord()
        .begin(record, 0, RecordDescriptor.PUT, ByteString.EMPTY, ByteString.EMPTY)
        .partition(group, 0)
        .place(epoch, lsn)
        .end();
    return record;
  }

  private static JournalRecord view(byte[] bytes) {
    return new JournalRecord().at(bytes, 0);
  }

  private GroupStore store(GroupState state) {
    final Entries created = new Entries(state.getGroup());
    stores.put(state.getGroup(), created);
    return created;
  }

  private Replica replica(long group) {
    return replicas.onDisk().stream().filter(each -> each.group() == group).findFirst().get();
  }

  /** A snapshot; runs something once it has a group as a whole. */
  private List<byte[]> snapshot(Runnable between) throws IOException {
    final List<byte[]> taken = new ArrayList<>();
    final SnapshotRecords sink =
        new SnapshotRecords(1) {
          @Override
          protected void add(byte[] array, int length) {
            taken.add(ByteString.copyFrom(array, 0, length).toByteArray());
          }

          @Override
          public boolean isFull() {
            return false;
          }
        };
    source.begin();
    boolean isBetween = true;
    SnapshotSource.Progress progress = source.add(sink);
    for (int i = 0; i < 100 && progress != SnapshotSource.Progress.DONE; i++) {
      final int size = taken.size();
      if (isBetween
          && size > 0
          && view(taken.get(size - 1)).type() == RecordDescriptor.GROUP_COMMIT) {
        isBetween = false;
        between.run();
      }
      progress = source.add(sink);
    }
    assertEquals(SnapshotSource.Progress.DONE, progress);
    assertTrue(source.isDurable());
    return taken;
  }

  /** What a start finds with a snapshot, and the journal from a record on. */
  private Map<Long, Content> start(List<byte[]> snapshot, int begin) throws IOException {
    stores.clear();
    final NodeRecovery recovery = new NodeRecovery(this::store, errors::add);
    recovery.onSnapshot(Map.of());
    for (final byte[] record : snapshot) {
      recovery.onSnapshotRecord(view(record), () -> "");
    }
    for (final byte[] record : journal.subList(begin, journal.size())) {
      recovery.onRecord(view(record), () -> "");
    }
    recovery.onEnd();
    final Map<Long, Content> found = new TreeMap<>();
    for (final GroupRecovery group : recovery.takeGroups()) {
      assertTrue(group.hasLog());
      assertEquals(5, group.gate());
      final RecordLog.Cursor cursor = group.takeLog().new Cursor();
      cursor.seek(group.applied());
      final List<Long> log = new ArrayList<>();
      while (cursor.hasNext()) {
        log.add(cursor.next().lsn());
      }
      found.put(group.group(), new Content(stores.get(group.group()).lsns, log));
    }
    assertEquals(List.of(), errors);
    return found;
  }

  @Test
  void aStartHasBothGroupsFromWhereverTheJournalBegins() throws IOException {
    final int end = journal.size();
    final List<byte[]> taken = snapshot(() -> {});
    assertEquals(end + 2, journal.size()); // the marks
    for (int begin = 0; begin <= end; begin++) {
      assertEquals(Map.of(1L, FIRST, 2L, SECOND), start(taken, begin), "begin=" + begin);
    }
  }

  @Test
  void aStartFromTheOlderOfTwoPassesOverTheMarksOfTheNewer() throws IOException {
    final int end = journal.size();
    final List<byte[]> older = snapshot(() -> {});
    final int between = journal.size();
    final List<byte[]> newer = snapshot(() -> {});
    assertEquals(end + 4, journal.size());
    for (int begin = 0; begin <= end; begin++) {
      assertEquals(Map.of(1L, FIRST, 2L, SECOND), start(older, begin), "begin=" + begin);
    }
    for (int begin = 0; begin <= between; begin++) {
      assertEquals(Map.of(1L, FIRST, 2L, SECOND), start(newer, begin), "begin=" + begin);
    }
  }

  @Test
  void aGroupThatIsDroppedBeforeItsTurnIsNotThere() throws IOException {
    final int end = journal.size();
    final List<byte[]> taken = snapshot(() -> replica(2).drop());
    assertEquals(Map.of(1L, FIRST), start(taken, end));
    assertEquals(Map.of(1L, FIRST), start(taken, 0));
  }

  @Test
  void aGroupThatIsDroppedAfterItsTurnIsNotThere() throws IOException {
    final int end = journal.size();
    final List<byte[]> taken = snapshot(() -> replica(1).drop());
    assertEquals(Map.of(2L, SECOND), start(taken, end));
    assertEquals(Map.of(2L, SECOND), start(taken, 0));
  }

  /** The other one goes on, and the next snapshot has both. */
  @Test
  void aCopyThatThrowsFailsTheSnapshotAlone() throws IOException {
    throwing = 2;
    final IOException failure = assertThrows(IOException.class, () -> snapshot(() -> {}));
    assertTrue(failure.getMessage().contains("no such entry"), failure::getMessage);
    assertTrue(failure.getMessage().contains("group=2"), failure::getMessage);
    assertEquals(1, errors.size());
    errors.clear();
    throwing = 0;
    assertEquals(ReplicaState.MEMBER, replica(2).status().state());
    final int end = journal.size();
    assertEquals(Map.of(1L, FIRST, 2L, SECOND), start(snapshot(() -> {}), end));
  }

  /** The part of the journal that has a group's records. */
  private final class Part extends PatientDisk {
    @Override
    void take(byte[] bytes, int offset, int length) {
      journal.add(ByteString.copyFrom(bytes, offset, length).toByteArray());
    }
  }

  /** The entries of a group: the LSNs of records. */
  private final class Entries implements MemberStore {
    private final long group;
    private final List<Long> lsns = new ArrayList<>();

    Entries(long group) {
      this.group = group;
    }

    @Override
    public void clear(GroupState state) {
      lsns.clear();
    }

    @Override
    public void apply(JournalRecord record) {
      lsns.add(record.lsn());
    }

    @Override
    public void restore(JournalRecord record) {
      lsns.add(record.lsn());
    }

    @Override
    public void follow() {
      lsns.clear();
    }

    @Override
    public GroupSnapshot snapshot(Runnable wake) {
      final ArrayDeque<ByteString> pieces = new ArrayDeque<>();
      lsns.forEach(lsn -> pieces.add(ByteString.copyFrom(record(group, 0, lsn))));
      return new SuppliedSnapshot(
          () -> {
            if (throwing == group) {
              throw new IllegalStateException("no such entry");
            }
            return pieces.poll();
          });
    }
  }

  // Connections, of which there are none.

  @Override
  public void disconnect(long node) {
    // The node ends.
  }

  @Override
  public void answer(long leader, MemberMessage message) {
    // Nobody hears it.
  }
}
