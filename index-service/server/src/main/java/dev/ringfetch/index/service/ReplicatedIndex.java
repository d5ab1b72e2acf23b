package dev.ringfetch.index.service;

import dev.ringfetch.index.host.Leadership;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.journal.CatalogEntry;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.log.GroupLog;
import dev.ringfetch.index.log.GroupSnapshot;
import dev.ringfetch.index.log.GroupStore;
import dev.ringfetch.index.log.GroupStoreException;
import dev.ringfetch.index.outcome.ClientLog;
import dev.ringfetch.index.outcome.ClientRegistry;
import dev.ringfetch.index.replay.JournalReplay;
import dev.ringfetch.index.replay.RecoveredIndex;
import dev.ringfetch.index.replay.ReplayLanes;
import dev.ringfetch.index.snapshot.LeaderSnapshot;
import dev.ringfetch.index.snapshot.MemberSnapshot;
import dev.ringfetch.index.store.StoreFullException;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.watch.ChangeRing;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The index of a group on one node. As a member it carries committed records out, as a start does
 * with those of a journal; when its node becomes the leader, writers and calls go on from there.
 *
 * <p>Used by the replica's owner, one thread at a time.
 */
final class ReplicatedIndex implements GroupStore {
  private final Indexes indexes;
  private final Leadership.Barrier barrier;
  private final Leadership.Gates gates;
  private final @Nullable ReplayLanes lanes;
  private final boolean isOnly;
  private JournalReplay replay;
  private @Nullable RecoveredIndex recovered; // null: given up, or served
  private @Nullable ServedIndex served; // null while this node does not lead
  private ChangeRing @Nullable []
      rings; // by partition, null before the first record; null: given up, or led
  private boolean isComplete; // what was recovered
  private long group;
  private String name;

  /**
   * Creates it, with nothing in it.
   *
   * @param barrier of the replica
   * @param gates of the group's members
   * @param lanes open while the node reads its journal; null: it has none
   * @param isOnly as {@link Leadership#isOnly}
   */
  ReplicatedIndex(
      Indexes indexes,
      Leadership.Barrier barrier,
      Leadership.Gates gates,
      @Nullable ReplayLanes lanes,
      boolean isOnly) {
    this.lanes = lanes;
    this.indexes = indexes;
    this.isOnly = isOnly;
    this.barrier = barrier;
    this.gates = gates;
  }

  @Override
  public void clear(GroupState state) throws GroupStoreException {
    follow();
    final IndexDefinition definition = IndexDefinition.decoded(state.getDefinition());
    if (definition == null) {
      throw new GroupStoreException("not a definition that can be: index=" + state.getIndex());
    }
    group = state.getGroup();
    name = state.getIndex();
    isComplete = false;
    final IndexMemory memory = indexes.memory();
    replay = new JournalReplay(memory.store(), memory.outcomes(), lanes);
    try {
      recovered = replay.create(new CatalogEntry(group, name, definition));
      rings = new ChangeRing[recovered.index().partitions()];
    } catch (StoreFullException e) {
      throw new GroupStoreException("index memory is full: index=" + name, e);
    }
  }

  @Override
  public void expect(long entries) {
    recovered.index().expect(entries);
  }

  private void giveUp() {
    if (recovered != null) {
      settle();
      recovered.drop();
      recovered = null;
    }
    replay = null;
    if (rings != null) {
      for (final ChangeRing ring : rings) {
        if (ring != null) {
          ring.close();
        }
      }
      rings = null;
    }
  }

  /** Waits until nothing changes the store any more. */
  private void settle() {
    try {
      replay.settle();
    } catch (IOException e) { // of no store
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void recovered() throws GroupStoreException {
    try {
      replay.endLanes();
    } catch (IOException e) {
      throw new GroupStoreException(e.getMessage(), e);
    }
    complete();
  }

  /** Completes the index behind its snapshot or its journal. */
  private void complete() throws GroupStoreException {
    if (!isComplete && recovered != null) {
      try {
        recovered.index().complete();
      } catch (StoreFullException e) {
        throw new GroupStoreException("index memory is full: index=" + name, e);
      }
      isComplete = true;
    }
  }

  @Override
  public void apply(JournalRecord record) throws GroupStoreException {
    carryOut(record, false);
  }

  @Override
  public void restore(JournalRecord record) throws GroupStoreException {
    carryOut(record, true);
  }

  private void carryOut(JournalRecord record, boolean ofSnapshot) throws GroupStoreException {
    checkRecord(record, group);
    final boolean isOfClient = isOfClient(record);
    try {
      if (ofSnapshot) {
        replay.onSnapshotRecord(record, this::toString);
      } else {
        final int partition = record.partition();
        final boolean isOfPartition = !isOfClient && partition >= 0 && partition < rings.length;
        final long lastLsn = isOfPartition ? recovered.last(partition) : 0;
        if (replay.isAtOnce()) {
          complete();
        }
        replay.onRecord(record, this::toString);
        if (isOfPartition && record.lsn() > lastLsn && keepsChanges()) {
          ring(partition, lastLsn).onRecord(record);
        }
      }
    } catch (IOException e) {
      throw new GroupStoreException(e.getMessage(), e);
    }
  }

  private static boolean isOfClient(JournalRecord record) {
    return record.type() == RecordDescriptor.OPEN_CLIENT
        || record.type() == RecordDescriptor.CLOSE_CLIENT;
  }

  /** Throws unless a record is one that a group's store takes. */
  static void checkRecord(JournalRecord record, long group) throws GroupStoreException {
    if (!isOfClient(record)
        && (record.index() != group || !RecordDescriptor.isOfPartition(record.type()))
        && record.type() != RecordDescriptor.PARTITION) {
      throw new GroupStoreException("not a record that can be: group=" + group + " " + record);
    }
  }

  /** Whether watches go on from rings that this keeps: where no journal has the changes. */
  private boolean keepsChanges() {
    return !isOnly || recovered.entry().definition().durability() == Durability.MEMORY;
  }

  private ChangeRing ring(int partition, long lastLsn) {
    if (rings[partition] == null) {
      rings[partition] = ChangeRing.ofMember(indexes.watches().budget(), lastLsn);
    }
    return rings[partition];
  }

  @Override
  public void lead(GroupLog log, GroupState state) throws GroupStoreException {
    complete();
    final ClientRegistry clients = indexes.newClients();
    clients.recover(
        new GroupClients(log, indexes.memory().threads().handover().executor()), replay.clients());
    final RecoveredIndex from = recovered;
    served =
        new ServedIndex(
            new CatalogEntry(group, name, IndexDefinition.of(state)),
            from.index(),
            new Leadership(isOnly, log::isAlone, barrier, clients, gates),
            partition -> log.partition(partition, from.last(partition)),
            indexes.writers().with(from::outcomes));
    final boolean hasChanges = Stream.of(rings).anyMatch(Objects::nonNull);
    if (!isOnly || hasChanges) {
      for (int i = 0; i < rings.length; i++) {
        rings[i] = ring(i, from.last(i));
      }
      // Each owner takes a write of the watches, and so looks at the deadlines that have come.
      indexes.watches().lead(served, rings);
    } else {
      served.tick(outcome -> {}); // has its owners look, too
    }
    rings = null;
    recovered = null;
    replay = null;
    indexes.lead(served);
  }

  @Override
  public void reconfigured(GroupState state) {
    // The log and the barrier know.
  }

  @Override
  public void endWrites() {
    if (served != null) {
      served.endWrites();
    }
  }

  @Override
  public void follow() {
    if (served != null) {
      indexes.follow(served);
      served = null;
    }
    giveUp();
  }

  @Override
  public GroupSnapshot snapshot(Runnable wake) {
    return served == null
        ? new MemberSnapshot(group, recovered, replay.clients(), () -> recovered, wake)
        : new LeaderSnapshot(served, group, wake);
  }

  @Override
  public String toString() {
    return "group=" + group + " index=" + name;
  }

  /**
   * Records clients in the group's log, on another thread: an append drives the replica, and with
   * it may come a snapshot that asks for the clients, whose lock the caller has.
   */
  record GroupClients(GroupLog log, Executor executor) implements ClientLog {
    @Override
    public boolean opened(long client, long firstIncomplete, Runnable done) {
      return execute(
          () -> {
            if (!log.append(
                RecordDescriptor.OPEN_CLIENT, client, firstIncomplete, committed -> done.run())) {
              done.run(); // its first write finds no client, and opens another one
            }
          });
    }

    @Override
    public void closed(long client) {
      execute(() -> log.append(RecordDescriptor.CLOSE_CLIENT, client, 0, committed -> {}));
    }

    private boolean execute(Runnable append) {
      try {
        executor.execute(append);
        return true;
      } catch (RejectedExecutionException e) { // the server ends
        return false;
      }
    }
  }
}
