package dev.ringfetch.index.service;

import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.index.coordinator.LocalCoordinator;
import dev.ringfetch.index.coordinator.TruthOnDisk;
import dev.ringfetch.index.disk.CrashingDisk;
import dev.ringfetch.index.disk.SimulatedDisk;
import dev.ringfetch.index.host.Leadership;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.journal.CatalogEntry;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.journal.Journal;
import dev.ringfetch.index.journal.JournalContext;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.journal.RecordSink;
import dev.ringfetch.index.journal.SnapshotCycle;
import dev.ringfetch.index.journal.SnapshotSink;
import dev.ringfetch.index.journal.SnapshotSource;
import dev.ringfetch.index.log.GroupLog;
import dev.ringfetch.index.log.GroupSnapshot;
import dev.ringfetch.index.log.GroupStore;
import dev.ringfetch.index.log.GroupStoreException;
import dev.ringfetch.index.log.NodeRecovery;
import dev.ringfetch.index.outcome.ClientRegistry;
import dev.ringfetch.index.outcome.OutcomeBudget;
import dev.ringfetch.index.partition.CommitLog;
import dev.ringfetch.index.partition.Handover;
import dev.ringfetch.index.partition.OwnerContext;
import dev.ringfetch.index.partition.TimeSource;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.replay.JournalReplay;
import dev.ringfetch.index.replay.RecoveredIndex;
import dev.ringfetch.index.replication.NodeContext;
import dev.ringfetch.index.replication.Peers;
import dev.ringfetch.index.replication.ReplicaSnapshots;
import dev.ringfetch.index.replication.Replicas;
import dev.ringfetch.index.snapshot.LeaderSnapshot;
import dev.ringfetch.index.snapshot.MemberSnapshot;
import dev.ringfetch.index.store.StoreMemory;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.LeaderMessage;
import dev.ringfetch.index.v1.Member;
import dev.ringfetch.index.v1.MemberMessage;
import dev.ringfetch.index.v1.Node;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A server alone on a simulated disk, on one thread, step by step: the journal, the coordinator's
 * file, the replicas of the indexes, and snapshots. Every index has one partition.
 */
final class SimulatedServer {
  private static final long NODE = 7;
  private static final int SEGMENT_LENGTH = 4 << 20;

  /** Bytes of a group's records behind which writes wait: a few long ones. */
  private static final int LOG_LIMIT = 128 << 10;

  /** The test's side of a server. */
  interface Observer {
    /**
     * Called when the server begins to lead an index, with what the disk had of it.
     *
     * @param journaled the numbered writes that the journal has behind the snapshot
     */
    void onLead(String index, RecoveredIndex recovered, List<JournalRecord> journaled);

    /** Called when the partition of an index has appended a record. */
    void onAppend(String index, Write write, long lsn);
  }

  /** How snapshots ended. */
  static final class Counts implements SnapshotCycle.Listener {
    int taken;
    int failed;

    @Override
    public void onSnapshot(SnapshotCycle.Taken snapshot) {
      taken++;
    }

    @Override
    public void onFailure(IOException failure) {
      failed++;
    }
  }

  private final Random random;
  private final LongSupplier clock;
  private final Duration term;
  private final Observer observer;
  private final StoreMemory memory;
  private final OutcomeBudget outcomes = new OutcomeBudget(OutcomeBudget.SLOTS_DEFAULT);
  private final Journal journal;
  private final LocalCoordinator coordinator;
  private final Node node;
  private final Replicas replicas;
  private final CrashingDisk snapshotDisk;
  private final SnapshotCycle snapshots;
  private final Map<Long, List<JournalRecord>> journaled = new HashMap<>();
  private final Map<String, ServedIndex> served = new TreeMap<>();
  private final Queue<Runnable> later = new ArrayDeque<>();
  private final List<Throwable> errors = new ArrayList<>();

  /**
   * Starts the server with what the disk has.
   *
   * @param epoch larger than those of earlier servers
   * @param clock nanoseconds that never go back
   * @param term of a client's lease
   * @throws IOException if the disk fails, or what it has is damaged
   */
  SimulatedServer(
      SimulatedDisk disk,
      Random random,
      long epoch,
      LongSupplier clock,
      Duration term,
      Observer observer)
      throws IOException {
    this.random = random;
    this.clock = clock;
    this.term = term;
    this.observer = observer;
    memory = memory();
    node =
        Node.newBuilder()
            .setId(NODE)
            .setIncarnation(random.nextLong() >>> 1)
            .setAddress("node:1")
            .setDisk(true)
            .build();
    coordinator = TruthOnDisk.open(disk, random::nextLong).connect();
    final NodeRecovery recovery = new NodeRecovery(Store::new, this::onError, LOG_LIMIT).alone();
    journal =
        Journal.open(
            disk,
            new JournalContext().segmentLength(SEGMENT_LENGTH).owner(NODE, epoch),
            new Journaled(recovery));
    replicas =
        new Replicas(
            new NodeContext()
                .self(node)
                .coordinator(coordinator)
                .peers(new NoPeers())
                .stores(Store::new)
                .disks(group -> new JournalDisk(journal))
                .clock(clock)
                .nonces(() -> random.nextLong() | 1)
                .logLimits(LOG_LIMIT, 10 * LOG_LIMIT)
                .errors(this::onError));
    recovery.takeGroups().forEach(replicas::recover);
    coordinator.announce(node);
    snapshotDisk = new CrashingDisk(disk);
    snapshots =
        new SnapshotCycle(
            journal,
            snapshotDisk,
            new HaltingSource(new ReplicaSnapshots(replicas, () -> {}, () -> {})),
            1 << 20);
  }

  private static StoreMemory memory() throws IOException {
    final DirectRegion gate = new DirectRegion(64);
    gate.putLong(0, 1);
    final StoreMemory memory =
        new StoreMemory(
            new StoreMemory.Context()
                .segmentSource(DirectRegion::new)
                .segmentLength(SEGMENT_LENGTH)
                .budget(64L << 20)
                .gate(gate, 0)
                .incarnation(1)
                .seed(1));
    memory.serve();
    return memory;
  }

  /** What replicas report of a disk that has failed is expected. */
  private void onError(Throwable failure) {
    if (!(failure instanceof GroupStoreException && journal.isFailed())) {
      errors.add(failure);
    }
  }

  /** Creates an index. */
  void create(String name, IndexDefinition definition) {
    coordinator.create(
        GroupState.newBuilder()
            .setIndex(name)
            .setDefinition(definition.encoded())
            .setReplicas(1)
            .setWon(
                Configuration.newBuilder()
                    .setLeader(NODE)
                    .setNonce(random.nextLong() | 1)
                    .addMembers(
                        Member.newBuilder().setNode(NODE).setIncarnation(node.getIncarnation())))
            .build(),
        (result, state) -> {});
  }

  /** The index of a name, which takes calls; null: it does not, yet or any more. */
  @Nullable ServedIndex find(String name) {
    return served.get(name);
  }

  /** Number of the indexes that take calls. */
  int count() {
    return served.size();
  }

  Journal journal() {
    return journal;
  }

  /** The failures of stores, replicas and callers; empty: there was none. */
  List<Throwable> errors() {
    return errors;
  }

  /** Works on the journal. */
  void sync() {
    journal.work(clock.getAsLong());
  }

  /** Works as the node's thread does. */
  void work() {
    for (Runnable task = later.poll(); task != null; task = later.poll()) {
      task.run();
    }
    replicas.work();
  }

  /** Asks for a snapshot. */
  void snapshot(Counts counts) {
    snapshots.ask(counts);
  }

  /** Goes on with a snapshot. */
  void workOnSnapshot() {
    snapshots.work(clock.getAsLong());
  }

  /** Ends the process, by a {@link CrashingDisk.Crash}, after so many calls of a snapshot. */
  void crashAfter(int calls) {
    snapshotDisk.crashAfter(calls);
  }

  /** Ends in order. */
  void close() throws IOException {
    snapshotDisk.crashAfter(Integer.MAX_VALUE);
    replicas.close();
    coordinator.close();
    snapshots.close();
    journal.close();
  }

  /** Keeps the numbered writes that the journal has behind the snapshot. */
  private final class Journaled implements RecordSink {
    private final NodeRecovery recovery;

    Journaled(NodeRecovery recovery) {
      this.recovery = recovery;
    }

    @Override
    public void onRecord(JournalRecord record, Supplier<String> place) throws IOException {
      recovery.onRecord(record, place);
      final boolean isTransaction = record.type() == RecordDescriptor.TRANSACTION;
      for (final JournalRecord part : isTransaction ? record.parts() : List.of(record)) {
        if (part.client() != 0 && part.type() <= RecordDescriptor.OUTCOME) {
          journaled.computeIfAbsent(part.index(), group -> new ArrayList<>()).add(part.copy());
        }
      }
    }

    @Override
    public void onSnapshot(Map<Long, Long> entries) {
      recovery.onSnapshot(entries);
    }

    @Override
    public void onSnapshotRecord(JournalRecord record, Supplier<String> place) throws IOException {
      recovery.onSnapshotRecord(record, place);
    }

    @Override
    public void onEnd() throws IOException {
      recovery.onEnd();
    }
  }

  /** The store of an index, as {@link ReplicatedIndex} without readers of its changes. */
  private final class Store implements GroupStore {
    private final String name;
    private final long group;
    private JournalReplay replay;
    private @Nullable RecoveredIndex recovered; // null: given up, or served
    private @Nullable ServedIndex index; // null: not led

    Store(GroupState state) {
      name = state.getIndex();
      group = state.getGroup();
    }

    @Override
    public void clear(GroupState state) {
      follow();
      replay = JournalReplay.atOnce(memory, outcomes);
      recovered = replay.create(new CatalogEntry(group, name, IndexDefinition.of(state)));
    }

    @Override
    public void apply(JournalRecord record) throws GroupStoreException {
      ReplicatedIndex.checkRecord(record, group);
      try {
        replay.onRecord(record, this::toString);
      } catch (IOException e) {
        throw new GroupStoreException(e.getMessage(), e);
      }
    }

    @Override
    public void restore(JournalRecord record) throws GroupStoreException {
      ReplicatedIndex.checkRecord(record, group);
      try {
        replay.onSnapshotRecord(record, this::toString);
      } catch (IOException e) {
        throw new GroupStoreException(e.getMessage(), e);
      }
    }

    @Override
    public void lead(GroupLog log, GroupState state) {
      final RecoveredIndex from = recovered;
      observer.onLead(name, from, journaled.getOrDefault(group, List.of()));
      final ClientRegistry clients = new ClientRegistry(term, 100, clock);
      clients.recover(new ReplicatedIndex.GroupClients(log, later::add), replay.clients());
      index =
          new ServedIndex(
              from.entry(),
              from.index(),
              new Leadership(true, log::isAlone, told -> {}, clients, grant -> {}),
              partition -> new ObservedLog(log.partition(partition, from.last(partition)), name),
              new OwnerContext(errors::add, Handover.never(), TimeSource.ofSystem())
                  .with(from::outcomes));
      recovered = null;
      replay = null;
      served.put(name, index);
    }

    @Override
    public void reconfigured(GroupState state) {
      // There is one configuration per process.
    }

    @Override
    public void endWrites() {
      if (index != null) {
        index.endWrites();
      }
    }

    @Override
    public void follow() {
      if (index != null) {
        served.remove(name);
        index.closeToReaders();
        index.drop(() -> {});
        index = null;
      }
      if (recovered != null) {
        recovered.drop();
        recovered = null;
      }
    }

    @Override
    public GroupSnapshot snapshot(Runnable wake) {
      return index == null
          ? new MemberSnapshot(group, recovered, replay.clients(), () -> recovered, wake)
          : new LeaderSnapshot(index, group, wake);
    }

    @Override
    public String toString() {
      return "index=" + name;
    }
  }

  /** Shows the observer what a partition appends. */
  private final class ObservedLog implements CommitLog {
    private final CommitLog log;
    private final String index;

    ObservedLog(CommitLog log, String index) {
      this.log = log;
      this.index = index;
    }

    @Override
    public long append(Write write) {
      final long lsn = log.append(write);
      if (lsn > 0) {
        observer.onAppend(index, write, lsn);
      }
      return lsn;
    }

    @Override
    public long committed() {
      return log.committed();
    }

    @Override
    public long durable() {
      return log.durable();
    }

    @Override
    public boolean isImmediate() {
      return log.isImmediate();
    }

    @Override
    public void onCommit(Runnable listener) {
      log.onCommit(listener);
    }

    @Override
    public boolean hasRoom() {
      return log.hasRoom();
    }

    @Override
    public void onCycleEnd() {
      log.onCycleEnd();
    }

    @Override
    public void close() {
      log.close();
    }
  }

  /** Stops a snapshot at random, so that writes come between its steps. */
  private final class HaltingSource implements SnapshotSource {
    private final SnapshotSource source;

    HaltingSource(SnapshotSource source) {
      this.source = source;
    }

    @Override
    public void begin() {
      source.begin();
    }

    @Override
    public Progress add(SnapshotSink sink) throws IOException {
      return random.nextInt(3) == 0 ? Progress.WAITING : source.add(sink);
    }

    @Override
    public boolean isDurable() {
      return source.isDurable();
    }

    @Override
    public void removing() {
      source.removing();
    }
  }

  /** There is no other node. */
  private static final class NoPeers implements Peers {
    @Override
    public void connect(Node other) {
      throw new AssertionError(other);
    }

    @Override
    public void disconnect(long other) {
      // There is no connection.
    }

    @Override
    public boolean send(long other, LeaderMessage message) {
      return false;
    }

    @Override
    public void answer(long leader, MemberMessage message) {
      throw new AssertionError(message);
    }
  }
}
