package dev.ringfetch.index.replication;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.coordinator.CoordinatorWithoutAdoptions;
import dev.ringfetch.index.coordinator.LocalCoordinator;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.journal.SnapshotRecords;
import dev.ringfetch.index.journal.StopRecords;
import dev.ringfetch.index.log.GroupRecords;
import dev.ringfetch.index.log.GroupRecovery;
import dev.ringfetch.index.log.GroupStoreException;
import dev.ringfetch.index.log.NodeRecovery;
import dev.ringfetch.index.v1.Adopt;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.LeaderMessage;
import dev.ringfetch.index.v1.MemberMessage;
import dev.ringfetch.index.v1.Node;
import dev.ringfetch.index.v1.SnapshotBegin;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;

/** The replicas of a node that leads nothing, and whom it takes for a leader. */
final class ReplicasTest {
  private static final Node SELF = node(1);
  private static final Node LEADER = node(2);
  private static final Node OTHER = node(3);

  /** A group of which there is something on a disk. */
  private static final GroupState LOST =
      GroupState.newBuilder()
          .setGroup(77)
          .setIndex("lost")
          .setDefinition(new IndexDefinition(IndexKind.HASH, Durability.DISK, 1, 1, 1).encoded())
          .build();

  private final LocalCoordinator.Truth truth = new LocalCoordinator.Truth();
  private final LocalCoordinator admin = truth.connect();
  private final List<MemberMessage> answers = new ArrayList<>();
  private final List<Integer> written = new ArrayList<>(); // types of records
  private Runnable whileCreated = () -> {};
  private final Replicas replicas =
      new Replicas(
          new NodeContext()
              .self(SELF)
              .coordinator(truth.connect())
              .peers(new Answers())
              .stores(
                  group -> {
                    whileCreated.run();
                    return new EmptyStore();
                  }));

  private static Node node(long id) {
    return Node.newBuilder().setId(id).setIncarnation(10 + id).setAddress("node" + id).build();
  }

  /** Takes what is answered. */
  private final class Answers implements IdlePeers {
    @Override
    public boolean send(long node, LeaderMessage message) {
      return false;
    }

    @Override
    public void answer(long leader, MemberMessage message) {
      answers.add(message);
    }
  }

  private GroupState group(Node leader, Node... others) {
    return group("index", leader, others);
  }

  private GroupState group(String name, Node leader, Node... others) {
    final Configuration.Builder won =
        Configuration.newBuilder()
            .setLeader(leader.getId())
            .setNonce(7)
            .addMembers(Configurations.member(leader));
    for (final Node other : others) {
      won.addMembers(Configurations.member(other));
    }
    final List<GroupState> created = new ArrayList<>();
    admin.create(
        GroupState.newBuilder()
            .setIndex(name)
            .setReplicas(3)
            .setWon(won)
            .setDefinition(
                new IndexDefinition(IndexKind.HASH, Durability.MEMORY, 1, 1, 1).encoded())
            .build(),
        (result, state) -> created.add(state));
    poll();
    return created.get(0);
  }

  private void poll() {
    admin.poll(new Ignored());
    replicas.work();
  }

  private long answer(Node leader, LeaderMessage message) {
    replicas.onMessage(leader.getId(), message).run();
    return answers.get(answers.size() - 1).getGate();
  }

  private static LeaderMessage adopt(GroupState group, long epoch) {
    return LeaderMessage.newBuilder()
        .setGroup(group.getGroup())
        .setEpoch(epoch)
        .setAdopt(Adopt.getDefaultInstance())
        .build();
  }

  @Test
  void obeysTheLeaderOfAnEpochAlone() {
    final GroupState group = group(LEADER, SELF, OTHER);
    final long epoch = group.getWon().getEpoch();
    assertEquals(0, answer(OTHER, adopt(group, epoch)));
    assertEquals(epoch, answer(LEADER, adopt(group, epoch)));
    assertEquals(0, answer(OTHER, adopt(group, epoch)));
    // One that this node has not heard of from the coordinator, which may be away.
    assertEquals(epoch + 1, answer(OTHER, adopt(group, epoch + 1)));
  }

  @Test
  void nodesAreThoseThatAreAnnouncedAndMembers() {
    assertFalse(replicas.isNode(LEADER));
    group(LEADER);
    assertTrue(replicas.isNode(LEADER));
    assertFalse(replicas.isNode(OTHER));
    admin.announce(OTHER);
    poll();
    assertTrue(replicas.isNode(OTHER));
    assertFalse(replicas.isNode(OTHER.toBuilder().setIncarnation(1).build()));
  }

  private static LeaderMessage snapshot(GroupState group) {
    return LeaderMessage.newBuilder()
        .setGroup(group.getGroup())
        .setEpoch(group.getWon().getEpoch())
        .setSnapshotBegin(SnapshotBegin.newBuilder().setGroup(group))
        .build();
  }

  @Test
  void aSnapshotCreatesAReplica() {
    final GroupState group = group(LEADER);
    replicas.onMessage(LEADER.getId(), snapshot(group)).run();
    assertNotNull(replicas.find(group.getGroup()));
  }

  @Test
  void aNodeThatEndsJoinsNothing() {
    final GroupState known = group(LEADER);
    replicas.onMessage(LEADER.getId(), snapshot(known)).run();
    final Replica replica = replicas.find(known.getGroup());
    assertEquals(ReplicaState.JOINING, replica.status().state());
    assertEquals(1, replicas.endInOrder().size());
    final LeaderMessage next =
        snapshot(known).toBuilder().setEpoch(known.getWon().getEpoch() + 1).build();
    replicas.onMessage(LEADER.getId(), next).run();
    assertEquals(known.getWon().getEpoch(), replica.status().gate());
    assertEquals(0, answers.get(answers.size() - 1).getGate());
    final GroupState other = group("other", LEADER);
    replicas.onMessage(LEADER.getId(), snapshot(other)).run();
    assertNull(replicas.find(other.getGroup()));
    assertEquals(0, answers.get(answers.size() - 1).getGate());
    final GroupState own = group("own", LEADER, SELF);
    assertNull(replicas.find(own.getGroup()));
  }

  @Test
  void aSnapshotOfAnotherThanTheLeaderCreatesNone() {
    final GroupState group = group(LEADER, OTHER);
    replicas.onMessage(OTHER.getId(), snapshot(group)).run();
    assertNull(replicas.find(group.getGroup()));
    admin.establish(group, (result, state) -> {});
    poll();
    replicas.onMessage(OTHER.getId(), snapshot(group)).run();
    assertNull(replicas.find(group.getGroup()));
  }

  @Test
  void noReplicaIsLeftOfAGroupThatWasDroppedMeanwhile() {
    final GroupState group = group(LEADER);
    whileCreated =
        () -> {
          admin.drop(group, (result, state) -> {});
          poll();
        };
    replicas.onMessage(LEADER.getId(), snapshot(group)).run();
    assertNull(replicas.find(group.getGroup()));
  }

  /** The types of the records that a disk takes. */
  private final class Written extends PatientDisk {
    @Override
    void take(byte[] bytes, int offset, int length) {
      written.add(new JournalRecord().at(bytes, offset).type());
    }
  }

  /** A coordinator that says what a test wants. */
  private static final class ToldCoordinator implements CoordinatorWithoutAdoptions {
    private List<GroupState> groups = List.of();
    private List<Long> dropped = List.of();
    private List<Node> nodes = List.of(LEADER);
    private long gone; // 0: none

    @Override
    public int poll(Listener listener) {
      listener.onConnected(true);
      groups.forEach(listener::onGroup);
      listener.onNodes(nodes);
      if (gone != 0) {
        listener.onDropped(gone);
      }
      listener.onDroppedGroups(dropped);
      return 1;
    }

    @Override
    public void announce(Node self, Admission admission) {}

    @Override
    public void withdraw() {}

    @Override
    public void create(GroupState first, Answer answer) {}

    @Override
    public void win(GroupState seen, Configuration proposed, Answer answer) {}

    @Override
    public void establish(GroupState seen, Answer answer) {}

    @Override
    public void recover(GroupState seen, GroupState recovered, Answer answer) {}

    @Override
    public void drop(GroupState seen, Answer answer) {}

    @Override
    public void replace(GroupState seen, GroupState first, Answer answer) {}

    @Override
    public void sync(Answer answer) {}

    @Override
    public void wakeUp(Runnable wakeUp) {}

    @Override
    public void close() {}
  }

  /** A node that has these records of group 77, which the coordinator does not know. */
  private Replicas restarted(byte[]... records) throws IOException {
    return restarted(truth.connect(), records);
  }

  private Replicas restarted(Coordinator coordinator, byte[]... records) throws IOException {
    final NodeContext context =
        new NodeContext()
            .self(SELF)
            .coordinator(coordinator)
            .peers(new Answers())
            .stores(group -> new EmptyStore())
            .disks(group -> new Written());
    final NodeRecovery recovery = new NodeRecovery(group -> new EmptyStore(), failure -> {});
    for (final byte[] record : records) {
      recovery.onRecord(new JournalRecord().at(record, 0), () -> "");
    }
    final Replicas restarted = new Replicas(context);
    recovery.takeGroups().forEach(restarted::recover);
    return restarted;
  }

  private static byte[] beginOfLost() {
    return GroupRecords.control(77, RecordDescriptor.GROUP_BEGIN, 5, LOST.toByteString());
  }

  private static byte[] epochOfLost() {
    return GroupRecords.control(77, RecordDescriptor.GROUP_EPOCH, 5, RecordDescriptor.value(4));
  }

  @Test
  void whatTheCoordinatorDoesNotKnowStaysInSnapshotsOfTheDisk() throws IOException {
    try (Replicas restarted = restarted(beginOfLost(), epochOfLost())) {
      assertNotNull(restarted.find(77));
      restarted.work();
      assertNull(restarted.find(77));
      assertEquals(List.of(77L), restarted.onDisk().stream().map(Replica::group).toList());
    }
  }

  /** What a process has left of it that ended in order: the disk's journal has nothing. */
  @Test
  void whatWasInMemoryAloneIsInNoSnapshotOfTheDisk() throws IOException {
    final GroupState state =
        LOST.toBuilder()
            .setDefinition(
                new IndexDefinition(IndexKind.HASH, Durability.MEMORY, 1, 1, 1).encoded())
            .build();
    final byte[] begin =
        GroupRecords.control(77, RecordDescriptor.GROUP_BEGIN, 5, state.toByteString());
    try (Replicas restarted = restarted(begin, epochOfLost())) {
      restarted.work();
      assertNull(restarted.find(77));
      assertEquals(List.of(), restarted.onDisk());
    }
  }

  /** Records of stops by their groups. */
  private static final class KeptStops implements StopRecords {
    private final Set<Long> groups = new TreeSet<>();
    private int failures;

    @Override
    public Writer create(long group) {
      throw new AssertionError();
    }

    @Override
    public Set<Long> groups() {
      return Set.copyOf(groups);
    }

    @Override
    public void delete(Set<Long> gone) throws IOException {
      if (failures-- > 0) {
        throw new IOException("the disk does not answer");
      }
      groups.removeAll(gone);
    }
  }

  private static GroupState established(long group, Node... members) {
    final Configuration.Builder established =
        Configuration.newBuilder().setEpoch(9).setLeader(LEADER.getId());
    for (final Node member : members) {
      established.addMembers(Configurations.member(member));
    }
    return LOST.toBuilder().setGroup(group).setEstablished(established).build();
  }

  private Replicas withRecords(KeptStops stops, ToldCoordinator coordinator, List<Long> nowNs) {
    return withRecords(stops, coordinator, nowNs, Runnable::run);
  }

  private Replicas withRecords(
      KeptStops stops, ToldCoordinator coordinator, List<Long> nowNs, Executor background) {
    return new Replicas(
        new NodeContext()
            .self(SELF)
            .coordinator(coordinator)
            .peers(new Answers())
            .stores(group -> new EmptyStore())
            .clock(() -> nowNs.get(nowNs.size() - 1))
            .background(background)
            .stops(stops));
  }

  /** As of files that are damaged. */
  @Test
  void recordsGoThatNoReplicaGoesOnWithOnceTheyCountNowhere() {
    final KeptStops stops = new KeptStops();
    stops.groups.addAll(List.of(1L, 2L, 3L, 4L, 5L));
    final Node later = Node.newBuilder().setId(55).setIncarnation(1).build();
    stops.failures = 1;
    final ToldCoordinator coordinator = new ToldCoordinator();
    coordinator.groups =
        List.of(
            established(1, LEADER),
            established(2, SELF, LEADER),
            established(3, SELF.toBuilder().setIncarnation(1).build(), LEADER),
            established(5, later));
    final List<Long> nowNs = new ArrayList<>(List.of(0L));
    try (Replicas restarted = withRecords(stops, coordinator, nowNs)) {
      restarted.work();
      restarted.work(); // too early
      assertEquals(Set.of(1L, 2L, 3L, 4L, 5L), stops.groups);
      nowNs.add(1_000_000_001L);
      restarted.work();
      assertEquals(Set.of(3L, 4L, 5L), stops.groups); // 3: that process may be the record's
      coordinator.gone = 3;
      restarted.work();
      assertEquals(Set.of(4L, 5L), stops.groups); // 5: no other node may have that index
      coordinator.nodes = List.of(LEADER, later);
      restarted.work();
      restarted.work();
      assertEquals(Set.of(4L), stops.groups); // of which the coordinator knows nothing
    }
  }

  /** The thread that works brings the time to all replicas. */
  @Test
  void theThreadThatWorksWaitsForNoRemoval() {
    final KeptStops stops = new KeptStops();
    stops.groups.addAll(List.of(1L, 2L));
    stops.failures = 1;
    final ToldCoordinator coordinator = new ToldCoordinator();
    coordinator.groups = List.of(established(1, LEADER));
    final List<Long> nowNs = new ArrayList<>(List.of(0L));
    final ArrayDeque<Runnable> onDisk = new ArrayDeque<>();
    try (Replicas restarted = withRecords(stops, coordinator, nowNs, onDisk::add)) {
      restarted.work();
      coordinator.groups = List.of(established(2, LEADER));
      restarted.work();
      assertEquals(1, onDisk.size()); // one at a time
      onDisk.remove().run();
      restarted.work();
      assertEquals(0, onDisk.size()); // it has failed just now
      nowNs.add(1_000_000_001L);
      restarted.work();
      assertEquals(Set.of(1L, 2L), stops.groups);
      onDisk.remove().run();
      restarted.work();
      restarted.work();
      assertEquals(Set.of(), stops.groups);
      assertEquals(0, onDisk.size());
    }
  }

  @Test
  void aRecordGoesWithTheGroupThatWasPutAsideAndDropped() {
    final GroupState state =
        LOST.toBuilder()
            .setDefinition(
                new IndexDefinition(IndexKind.HASH, Durability.MEMORY, 1, 1, 1).encoded())
            .build();
    final KeptStops stops = new KeptStops();
    stops.groups.add(77L);
    final ToldCoordinator coordinator = new ToldCoordinator();
    try (Replicas restarted = withRecords(stops, coordinator, List.of(0L))) {
      final GroupRecovery recovery = new GroupRecovery(77, group -> new EmptyStore(), 1 << 20);
      recovery.onRecord(
          new JournalRecord()
              .at(
                  GroupRecords.control(77, RecordDescriptor.GROUP_BEGIN, 5, state.toByteString()),
                  0));
      restarted.recover(recovery);
      restarted.work();
      assertEquals(Set.of(77L), stops.groups); // the coordinator may be the wrong one
      coordinator.dropped = List.of(77L);
      restarted.work();
      assertEquals(Set.of(), stops.groups);
    } catch (GroupStoreException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void recordsOfThisProcessStay() {
    final KeptStops stops = new KeptStops();
    stops.groups.addAll(List.of(2L, 3L));
    final ToldCoordinator coordinator = new ToldCoordinator();
    final ArrayDeque<Runnable> onDisk = new ArrayDeque<>();
    try (Replicas restarted = withRecords(stops, coordinator, List.of(0L), onDisk::add)) {
      restarted.endInOrder();
      coordinator.groups = List.of(established(2, SELF, LEADER));
      restarted.work();
      assertFalse(restarted.claimStopRecord(2)); // it goes this moment
      assertTrue(restarted.claimStopRecord(3));
      coordinator.groups = List.of(established(3, SELF, LEADER));
      onDisk.remove().run();
      assertTrue(restarted.claimStopRecord(2));
      restarted.work();
      restarted.work();
      assertEquals(Set.of(3L), stops.groups);
      assertEquals(0, onDisk.size());
    }
  }

  /** What a node has of group 77 on its disk, once the coordinator has said what was dropped. */
  private List<Long> left(long last, boolean isToldLate) throws IOException {
    final ToldCoordinator coordinator = new ToldCoordinator();
    if (!isToldLate) {
      coordinator.dropped = List.of(last);
    }
    try (Replicas restarted = restarted(coordinator, beginOfLost(), epochOfLost())) {
      final Replica replica = restarted.find(77);
      restarted.work();
      if (isToldLate) {
        assertEquals(List.of(77L), restarted.onDisk().stream().map(Replica::group).toList());
        coordinator.dropped = List.of(last);
        restarted.work();
      }
      assertNull(restarted.find(77));
      final List<Long> left = restarted.onDisk().stream().map(Replica::group).toList();
      final ReplicaState expected = left.isEmpty() ? ReplicaState.STOPPED : ReplicaState.MEMBER;
      assertEquals(expected, replica.status().state());
      assertEquals(left.isEmpty(), written.contains(RecordDescriptor.GROUP_END));
      return left;
    }
  }

  @Test
  void whatWasDroppedWhileTheNodeWasDownGoes() throws IOException {
    assertEquals(List.of(), left(77, false));
    assertEquals(List.of(), left(77, true));
  }

  @Test
  void whatIsNotAmongThoseThatWereDroppedStays() throws IOException {
    assertEquals(List.of(77L), left(76, false));
    assertEquals(List.of(77L), left(76, true));
  }

  @Test
  void whatWasPutAsideIsNotWrittenOverOnceTheGroupIsKnownAgain() throws IOException {
    final ToldCoordinator coordinator = new ToldCoordinator();
    try (Replicas restarted = restarted(coordinator, beginOfLost(), epochOfLost())) {
      final Replica replica = restarted.find(77);
      restarted.work();
      final GroupState again =
          LOST.toBuilder()
              .setWon(
                  Configuration.newBuilder()
                      .setEpoch(9)
                      .setLeader(SELF.getId())
                      .addMembers(Configurations.member(SELF)))
              .build();
      coordinator.groups = List.of(again);
      restarted.work(); // as its first leader
      final GroupState led = // as a node that the leader wants
          again.toBuilder()
              .clearWon()
              .setEstablished(again.getWon().toBuilder().setLeader(2))
              .build();
      coordinator.groups = List.of(led);
      restarted.work();
      restarted
          .onMessage(
              2,
              LeaderMessage.newBuilder()
                  .setGroup(77)
                  .setEpoch(9)
                  .setSnapshotBegin(SnapshotBegin.newBuilder().setGroup(led))
                  .build())
          .run();
      assertNull(restarted.find(77));
      assertEquals(0, answers.get(answers.size() - 1).getGate());
      assertEquals(List.of(), written);
      assertEquals(List.of(replica), restarted.onDisk());
      assertEquals(ReplicaState.MEMBER, replica.status().state());
    }
  }

  @Test
  void whatWasDroppedAndIsThereStays() throws IOException {
    final ToldCoordinator coordinator = new ToldCoordinator();
    coordinator.dropped = List.of(77L);
    coordinator.groups = List.of(LOST);
    try (Replicas restarted = restarted(coordinator, beginOfLost(), epochOfLost())) {
      restarted.work();
      assertNotNull(restarted.find(77));
    }
  }

  @Test
  void aGroupOfWhichThereWasLittleKeepsNoSnapshotFromBeingTaken() throws IOException {
    try (Replicas restarted = restarted(beginOfLost())) {
      restarted.work();
      assertNull(restarted.find(77));
      final List<Integer> types = new ArrayList<>();
      final SnapshotRecords sink =
          new SnapshotRecords(1) {
            @Override
            protected void add(byte[] array, int length) {
              types.add(new JournalRecord().at(array, 0).type());
            }

            @Override
            public boolean isFull() {
              return false;
            }
          };
      final ReplicaSnapshots source = new ReplicaSnapshots(restarted, () -> {}, () -> {});
      source.begin();
      for (int i = 0; i < 20; i++) {
        source.add(sink);
      }
      assertEquals(ReplicaSnapshots.Progress.DONE, source.add(sink));
      assertEquals(List.of(RecordDescriptor.GROUP_BEGIN, RecordDescriptor.GROUP_MARK), types);
    }
  }

  /** Takes what the coordinator says, for nothing. */
  private static final class Ignored implements Coordinator.Listener {
    @Override
    public void onGroup(GroupState state) {}

    @Override
    public void onDropped(long group) {}

    @Override
    public void onDroppedGroups(java.util.Collection<Long> newest) {}

    @Override
    public void onNodes(java.util.Collection<Node> nodes) {}

    @Override
    public void onConnected(boolean connected) {}
  }
}
