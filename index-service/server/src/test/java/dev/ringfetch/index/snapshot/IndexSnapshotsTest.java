package dev.ringfetch.index.snapshot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.index.disk.SimulatedDisk;
import dev.ringfetch.index.host.CatalogState;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.journal.CatalogEntry;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.journal.Journal;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.journal.RecordSink;
import dev.ringfetch.index.journal.SnapshotCycle;
import dev.ringfetch.index.outcome.NumberedClient;
import dev.ringfetch.index.partition.Handover;
import dev.ringfetch.index.partition.OwnerContext;
import dev.ringfetch.index.partition.TimeSource;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.store.HashIndex;
import dev.ringfetch.index.store.StoreMemory;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.IndexKind;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A snapshot of an index, step by step: what it waits for. */
class IndexSnapshotsTest {
  private static final long NUMBER = 3;
  private static final int LIVE = 77;

  private final SimulatedDisk disk = new SimulatedDisk();
  private final List<ServedIndex> indexes = new ArrayList<>();
  private final List<Integer> types = new ArrayList<>();
  private Journal journal;
  private StoreMemory memory;
  private SnapshotCycle snapshots;
  private IndexSnapshots snapshotSource;
  private ServedIndex index;
  private final List<NumberedClient> clients = new ArrayList<>();
  private int removals;
  private long nowNs;

  @BeforeEach
  void begin() throws IOException {
    final DirectRegion gate = new DirectRegion(64);
    gate.putLong(0, LIVE);
    memory =
        new StoreMemory(
            new StoreMemory.Context()
                .segmentSource(DirectRegion::new)
                .segmentLength(4 << 20)
                .budget(64L << 20)
                .gate(gate, 0)
                .incarnation(LIVE));
    memory.serve();
    journal = open(1);
  }

  private Journal open(long epoch) throws IOException {
    return Journal.open(
        disk,
        new Journal.Context().segmentLength(4 << 20).owner(5, epoch),
        new RecordSink() {
          @Override
          public void onRecord(JournalRecord record, Supplier<String> place) {}

          @Override
          public void onSnapshotRecord(JournalRecord record, Supplier<String> place) {
            types.add(record.type());
          }
        });
  }

  private void create(Durability durability) {
    final CatalogEntry entry =
        new CatalogEntry(
            NUMBER, "index", new IndexDefinition(IndexKind.HASH, durability, 1, 7, NUMBER));
    assertTrue(journal.create(NUMBER, "index", entry.definition(), () -> {}));
    index =
        new ServedIndex(
            entry,
            new HashIndex(memory, 1, 7),
            CompletableFuture.completedFuture(null),
            partition -> journal.log(NUMBER, partition, durability, 0),
            new OwnerContext(
                failure -> {
                  throw new AssertionError(failure);
                },
                Handover.never(),
                TimeSource.ofSystem()));
    indexes.add(index);
    snapshotSource =
        new IndexSnapshots(
            journal,
            () -> new CatalogState(journal.catalogLsn(), NUMBER, List.copyOf(indexes)),
            clients::iterator,
            () -> {},
            () -> removals++);
    snapshots = new SnapshotCycle(journal, disk, snapshotSource, 0);
    sync();
  }

  private void sync() {
    for (int i = 0; i < 10; i++) {
      nowNs += 20_000_000; // longer than an interval
      journal.work(nowNs);
    }
  }

  private void put(int number) {
    final ByteString key = ByteString.copyFromUtf8("key " + number);
    assertEquals(0, index.partition(key).submit(new Write(write -> {}).put(key, key)));
  }

  /** Asks for a snapshot. */
  private void ask() {
    snapshots.ask(
        new SnapshotCycle.Listener() {
          @Override
          public void onSnapshot(SnapshotCycle.Taken snapshot) {}

          @Override
          public void onFailure(IOException failure) {}
        });
    work();
  }

  private void work() {
    for (int i = 0; i < 20; i++) {
      snapshots.work(i);
    }
  }

  @Test
  void whatAWalkHasMetIsDurableFirst() {
    create(Durability.INTERVAL);
    put(1);
    ask();
    assertNull(snapshots.newest());
    sync();
    work();
    assertEquals(3, snapshots.newest().records()); // the index, its partition, the entry
  }

  @Test
  void aDeleteThatAWalkHasMetIsDurableFirst() {
    create(Durability.INTERVAL);
    put(1);
    sync();
    final ByteString key = ByteString.copyFromUtf8("key 1");
    assertEquals(0, index.partition(key).submit(new Write(write -> {}).delete(key)));
    ask();
    assertNull(snapshots.newest());
    sync();
    work();
    assertEquals(2, snapshots.newest().records());
  }

  @Test
  void aBarrierWaitsForWhatIsNotCommitted() {
    create(Durability.DISK);
    put(1);
    ask();
    assertNull(snapshots.newest());
    sync();
    work();
    assertEquals(3, snapshots.newest().records());
  }

  @Test
  void theRemovalOfAnIndexInTheMidstOfItsWalkIsDurableFirst() throws IOException {
    create(Durability.DISK);
    put(1); // keeps the barrier waiting
    ask();
    assertTrue(journal.drop(NUMBER, () -> {}));
    index.closeToReaders();
    index.drop(() -> {});
    indexes.clear();
    work();
    assertNull(snapshots.newest(), "the index would come back without its entries");
    sync();
    work();
    assertEquals(1, snapshots.newest().records());
    disk.kill();
    assertEquals(1, open(2).recoveredSnapshot());
    assertEquals(List.of(RecordDescriptor.CREATE_INDEX, RecordDescriptor.SNAPSHOT_END), types);
  }

  @Test
  void aRefusedIndexFailsTheSnapshot() {
    create(Durability.DISK);
    put(1);
    sync();
    index.refuse();
    ask();
    assertNull(snapshots.newest());
    assertTrue(snapshots.obstacle().getMessage().contains("damaged in memory"));
  }

  /** A client whose writes were all complete has no outcome, and goes on after a start. */
  @Test
  void aClientWithoutOutcomesIsInTheSnapshot() throws IOException {
    create(Durability.DISK);
    clients.add(new NumberedClient(9, 5));
    ask();
    sync();
    work();
    assertEquals(3, snapshots.newest().records()); // the index, its partition, the client
    disk.kill();
    assertEquals(1, open(2).recoveredSnapshot());
    assertTrue(types.contains(RecordDescriptor.OPEN_CLIENT), types.toString());
  }

  @Test
  void removalsAreAnnounced() {
    create(Durability.DISK);
    assertEquals(0, removals);
    snapshotSource.removing();
    assertEquals(1, removals);
  }
}
