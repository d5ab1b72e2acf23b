package dev.ringfetch.index.snapshot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.index.disk.CrashingDisk;
import dev.ringfetch.index.disk.SimulatedDisk;
import dev.ringfetch.index.host.CatalogState;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.journal.CatalogEntry;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.journal.Journal;
import dev.ringfetch.index.journal.JournalDamagedException;
import dev.ringfetch.index.journal.SnapshotCycle;
import dev.ringfetch.index.journal.SnapshotSink;
import dev.ringfetch.index.journal.SnapshotSource;
import dev.ringfetch.index.outcome.OutcomeBudget;
import dev.ringfetch.index.partition.CommitLog;
import dev.ringfetch.index.partition.Handover;
import dev.ringfetch.index.partition.OwnerContext;
import dev.ringfetch.index.partition.TimeSource;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.replay.JournalReplay;
import dev.ringfetch.index.replay.RecoveredIndex;
import dev.ringfetch.index.store.EntryStore;
import dev.ringfetch.index.store.HashIndex;
import dev.ringfetch.index.store.OrderedIndex;
import dev.ringfetch.index.store.StoreMemory;
import dev.ringfetch.index.store.StoredIndex;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.IndexKind;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

/**
 * Servers, one after the other, over one simulated disk, and what each next one must find: of each
 * partition the state after some of its records, those that were durable included, and the same of
 * the creations and removals of indexes.
 */
public final class SnapshotWorld {
  private static final int SEGMENT_LENGTH = 4 << 20;
  private static final int KEYS = 500;
  private static final int MOST_INDEXES = 3;
  private static final long EPOCH = 77;

  /** What happened, for the test to see that it has happened. */
  public static final class Coverage {
    public int crashes;
    public int cuts;
    public int ends;
    public int failures;
    public int taken;
    public int failedSnapshots;
    public int recovered;
    public int fromJournal;
    public int trimmed;
    public int unopened;
    public int unclean;
    public int dropped;
    public int duringSnapshot;
  }

  private record Change(boolean isDelete, ByteString key, ByteString value, long lsn) {}

  /** What is known of a partition, over all servers. */
  private static final class Part {
    final List<Change> changes = new ArrayList<>();

    /** Changes that no crash may take. */
    int safe;

    /** The largest LSN that was ever given. */
    long last;
  }

  private static final class Index {
    final CatalogEntry entry;
    final Part[] parts;

    Index(CatalogEntry entry) {
      this.entry = entry;
      parts = new Part[entry.definition().partitions()];
      for (int i = 0; i < parts.length; i++) {
        parts[i] = new Part();
      }
    }
  }

  /** A creation, or a removal. */
  private record Catalog(Index index, boolean creates, long lsn) {}

  private final Coverage coverage;
  private final Random random;
  private final SimulatedDisk disk = new SimulatedDisk();
  private final List<Catalog> catalog = new ArrayList<>();
  private int safeCatalog;
  private final List<ByteString> keys = new ArrayList<>();
  private long nowNs;

  // Of the present server.
  private CrashingDisk snapshotDisk;
  private Journal journal;
  private StoreMemory memory;
  private SnapshotCycle snapshots;
  private final Map<Long, ServedIndex> served = new TreeMap<>();
  private final Map<Long, Index> indexes = new TreeMap<>();
  private long newest;

  public SnapshotWorld(long seed, Coverage coverage) {
    random = new Random(seed);
    this.coverage = coverage;
    for (int i = 0; i < KEYS; i++) {
      keys.add(ByteString.copyFromUtf8("key " + i * 7919 % KEYS));
    }
  }

  /** The disk. */
  public SimulatedDisk disk() {
    return disk;
  }

  public void run(int lives) throws IOException {
    for (int life = 1; life <= lives; life++) {
      live(life);
    }
  }

  private void live(int epoch) throws IOException {
    final boolean mayFail = random.nextInt(5) == 0;
    if (mayFail) {
      disk.failAfter(random.nextInt(60), SimulatedDisk.Fault.IO_ERROR);
    }
    if (!open(epoch, mayFail)) {
      coverage.unopened++;
      end(true);
      return;
    }
    final int steps = random.nextInt(120);
    final boolean hasFaults = random.nextInt(3) == 0;
    boolean crashed = false;
    try {
      for (int i = 0; i < steps; i++) {
        step(hasFaults);
        noteDurable();
      }
    } catch (CrashingDisk.Crash crash) {
      coverage.duringSnapshot++;
      noteDurable();
      crashed = true;
    }
    coverage.failures += journal.isFailed() ? 1 : 0;
    end(crashed);
  }

  // A start.

  private boolean open(int epoch, boolean mayFail) throws IOException {
    memory =
        new StoreMemory(
            new StoreMemory.Context()
                .segmentSource(DirectRegion::new)
                .segmentLength(SEGMENT_LENGTH)
                .budget(64L << 20)
                .gate(openGate(), 0)
                .incarnation(EPOCH)
                .seed(random.nextLong()));
    memory.serve();
    final JournalReplay replay =
        new JournalReplay(memory, new OutcomeBudget(OutcomeBudget.SLOTS_DEFAULT));
    try {
      journal =
          Journal.open(
              disk, new Journal.Context().segmentLength(SEGMENT_LENGTH).owner(5, epoch), replay);
      if (!journal.wasClean()) {
        coverage.unclean++;
        journal.skip();
        replay.indexes().forEach(index -> index.skip(Journal.LOST_LIMIT));
      }
    } catch (JournalDamagedException e) {
      throw new AssertionError("refused what a crash has left", e);
    } catch (IOException e) { // a server that ended while it recovered
      if (!mayFail) {
        throw new AssertionError("a whole disk was refused", e);
      }
      return false;
    }
    coverage.recovered += journal.recoveredSnapshot() != 0 ? 1 : 0;
    coverage.fromJournal += journal.recoveredSnapshot() == 0 ? 1 : 0;
    check(replay);
    newest = replay.newest();
    served.clear();
    for (final RecoveredIndex found : replay.indexes()) {
      serve(indexes.get(found.entry().number()), found.index(), found);
    }
    snapshotDisk = new CrashingDisk(disk);
    snapshots = new SnapshotCycle(journal, snapshotDisk, new HaltingSource(source()), 1 << 20);
    return true;
  }

  private static DirectRegion openGate() {
    final DirectRegion gate = new DirectRegion(64);
    gate.putLong(0, EPOCH);
    return gate;
  }

  private IndexSnapshots source() {
    return new IndexSnapshots(
        journal,
        () -> new CatalogState(journal.catalogLsn(), newest, List.copyOf(served.values())),
        Collections::emptyIterator,
        () -> {},
        () -> {});
  }

  private void serve(Index index, StoredIndex stored, RecoveredIndex found) {
    served.put(
        index.entry.number(),
        new ServedIndex(
            index.entry,
            stored,
            CompletableFuture.completedFuture(null),
            partition ->
                new NotingLog(
                    journal.log(
                        index.entry.number(),
                        partition,
                        index.entry.definition().durability(),
                        found == null ? 0 : found.last(partition)),
                    index.parts[partition]),
            new OwnerContext(
                failure -> {
                  throw new AssertionError(failure);
                },
                Handover.never(),
                TimeSource.ofSystem())));
  }

  /** Compares what was recovered with what there may be, and goes on from there. */
  private void check(JournalReplay replay) {
    final Map<Long, RecoveredIndex> found = new TreeMap<>();
    replay.indexes().forEach(index -> found.put(index.entry().number(), index));
    int ops = safeCatalog;
    Map<Long, Index> expected = after(ops);
    while (!expected.keySet().equals(found.keySet())) {
      ops++;
      assertTrue(ops <= catalog.size(), "indexes=" + found.keySet() + " safe=" + safeCatalog);
      expected = after(ops);
    }
    for (final Catalog lost : catalog.subList(ops, catalog.size())) {
      for (final Part part : lost.creates() ? lost.index().parts : new Part[0]) {
        assertEquals(0, part.safe, "of an index whose creation was lost");
      }
    }
    catalog.subList(ops, catalog.size()).clear();
    safeCatalog = ops;
    for (final Catalog op : catalog) {
      assertTrue(replay.newest() >= op.index().entry.number(), "a number would come again");
    }
    indexes.clear();
    indexes.putAll(expected);
    for (final RecoveredIndex index : found.values()) {
      final Index known = indexes.get(index.entry().number());
      assertEquals(known.entry, index.entry());
      for (int i = 0; i < known.parts.length; i++) {
        check(known.parts[i], index.index().partition(i), index.last(i), index.entry());
      }
    }
  }

  private Map<Long, Index> after(int ops) {
    final Map<Long, Index> there = new TreeMap<>();
    for (final Catalog op : catalog.subList(0, ops)) {
      if (op.creates()) {
        there.put(op.index().entry.number(), op.index());
      } else {
        there.remove(op.index().entry.number());
      }
    }
    return there;
  }

  private void check(Part part, EntryStore store, long last, CatalogEntry index) {
    final Map<ByteString, Entry> found = new HashMap<>();
    for (final ByteString key : keys) {
      final Entry entry = store.entry(key);
      if (entry != null) {
        found.put(key, entry);
        assertTrue(entry.getVersion() <= last, "version=" + entry.getVersion() + " last=" + last);
      }
    }
    assertEquals(found.size(), store.count());
    final Map<ByteString, Entry> expected = new HashMap<>();
    int changes = 0;
    while (changes < part.safe) {
      apply(expected, part.changes.get(changes++));
    }
    while (!expected.equals(found)) {
      if (changes == part.changes.size()) {
        throw new AssertionError(difference(part, found, index));
      }
      apply(expected, part.changes.get(changes++));
    }
    part.changes.subList(changes, part.changes.size()).clear();
    part.safe = changes;
    // Whatever was lost may have been seen.
    assertTrue(last >= part.last, "last=" + last + " before=" + part.last);
  }

  private static String difference(Part part, Map<ByteString, Entry> found, CatalogEntry index) {
    final Map<ByteString, Entry> safe = new HashMap<>();
    part.changes.subList(0, part.safe).forEach(change -> apply(safe, change));
    final StringBuilder text = new StringBuilder("no state of " + index + " safe=" + part.safe);
    for (final Map.Entry<ByteString, Entry> entry : safe.entrySet()) {
      final Entry other = found.get(entry.getKey());
      if (other == null || other.getVersion() < entry.getValue().getVersion()) {
        text.append("\nkey=").append(entry.getKey().toStringUtf8());
        text.append(" safe=").append(entry.getValue().getVersion());
        text.append(" found=").append(other == null ? 0 : other.getVersion());
      }
    }
    for (final Map.Entry<ByteString, Entry> entry : found.entrySet()) {
      if (!safe.containsKey(entry.getKey())) {
        text.append("\nkey=").append(entry.getKey().toStringUtf8());
        text.append(" not safe, found=").append(entry.getValue().getVersion());
      }
    }
    return text.toString();
  }

  private static void apply(Map<ByteString, Entry> state, Change change) {
    if (change.isDelete()) {
      state.remove(change.key());
    } else {
      state.put(
          change.key(),
          Entry.newBuilder()
              .setKey(change.key())
              .setValue(change.value())
              .setVersion(change.lsn())
              .build());
    }
  }

  // A life.

  private void step(boolean hasFaults) {
    switch (random.nextInt(20)) {
      case 0 -> nowNs += random.nextInt(20_000_000);
      case 1 -> {
        if (hasFaults) {
          disk.full(random.nextBoolean());
        }
      }
      case 2 -> {
        if (hasFaults && random.nextInt(6) == 0) {
          disk.failAfter(random.nextInt(10), SimulatedDisk.Fault.IO_ERROR);
        }
      }
      case 3 -> changeCatalog();
      case 4 -> write(random.nextInt(60), 60_000);
      case 5, 6 -> write(random.nextInt(200), 300);
      case 7, 8 -> write(1 + random.nextInt(10), 1_500);
      case 9, 10, 11, 12 -> journal.work(nowNs);
      case 13 -> ask();
      default -> workOnSnapshots(hasFaults);
    }
  }

  private void ask() {
    snapshots.ask(
        new SnapshotCycle.Listener() {
          @Override
          public void onSnapshot(SnapshotCycle.Taken snapshot) {
            coverage.taken++;
          }

          @Override
          public void onFailure(IOException failure) {
            coverage.failedSnapshots++;
          }
        });
  }

  private void workOnSnapshots(boolean hasFaults) {
    final int segments = segments();
    final boolean fails = hasFaults && random.nextInt(6) == 0;
    final boolean wasFailed = journal.isFailed();
    if (fails) {
      disk.failAfter(
          random.nextInt(6),
          random.nextBoolean() ? SimulatedDisk.Fault.IO_ERROR : SimulatedDisk.Fault.FULL);
    } else if (random.nextInt(60) == 0) {
      snapshotDisk.crashAfter(random.nextInt(8));
    }
    final int works = random.nextInt(6);
    for (int i = 0; i < works; i++) {
      snapshots.work(nowNs);
      nowNs += 1_000_000;
    }
    if (fails) {
      disk.failAfter(-1, SimulatedDisk.Fault.IO_ERROR);
      assertEquals(wasFailed, journal.isFailed(), "a snapshot has ended the journal");
    }
    coverage.trimmed += Math.max(0, segments - segments());
  }

  private int segments() {
    return (int) disk.names().stream().filter(name -> name.startsWith("journal-")).count();
  }

  private void write(int count, int longest) {
    if (served.isEmpty()) {
      return;
    }
    final List<ServedIndex> all = List.copyOf(served.values());
    final ServedIndex index = all.get(random.nextInt(all.size()));
    // Few keys at times: they are written often.
    final int among = random.nextInt(3) == 0 ? 20 : KEYS;
    for (int i = 0; i < count; i++) {
      final ByteString key = keys.get(random.nextInt(among));
      final Write write = new Write(answered -> {});
      if (random.nextInt(4) == 0) {
        write.delete(key);
      } else {
        final byte[] value = new byte[random.nextInt(longest)];
        random.nextBytes(value);
        write.put(key, ByteString.copyFrom(value));
      }
      assertEquals(0, index.partition(key).submit(write));
    }
  }

  private void changeCatalog() {
    if (journal.isFailed()) {
      return;
    }
    if (served.size() < MOST_INDEXES && random.nextInt(3) > 0) {
      create();
    } else if (!served.isEmpty() && random.nextInt(3) == 0) {
      drop();
    }
  }

  private void create() {
    final boolean isHash = random.nextBoolean();
    final long seed = random.nextLong();
    final StoredIndex stored = isHash ? new HashIndex(memory, 2, seed) : new OrderedIndex(memory);
    final CatalogEntry entry =
        new CatalogEntry(
            ++newest,
            "index " + newest,
            new IndexDefinition(
                isHash ? IndexKind.HASH : IndexKind.ORDERED,
                random.nextBoolean() ? Durability.DISK : Durability.INTERVAL,
                stored.partitions(),
                isHash ? seed : 0,
                newest));
    if (journal.create(entry.number(), entry.name(), entry.definition(), () -> {})) {
      final Index index = new Index(entry);
      catalog.add(new Catalog(index, true, journal.catalogLsn()));
      indexes.put(entry.number(), index);
      serve(index, stored, null);
    }
  }

  private void drop() {
    final List<Long> numbers = List.copyOf(served.keySet());
    final long number = numbers.get(random.nextInt(numbers.size()));
    if (journal.drop(number, () -> {})) {
      coverage.dropped++;
      catalog.add(new Catalog(indexes.get(number), false, journal.catalogLsn()));
      final ServedIndex dropped = served.remove(number);
      dropped.closeToReaders();
      dropped.drop(() -> {});
    }
  }

  /** Notes what the journal says is durable. */
  private void noteDurable() {
    while (safeCatalog < catalog.size()
        && catalog.get(safeCatalog).lsn() <= journal.durableCatalogLsn()) {
      safeCatalog++;
    }
    for (final ServedIndex index : served.values()) {
      final Index known = indexes.get(index.entry().number());
      for (int i = 0; i < known.parts.length; i++) {
        final Part part = known.parts[i];
        final long durable = index.log(i).durable();
        while (part.safe < part.changes.size() && part.changes.get(part.safe).lsn() <= durable) {
          part.safe++;
        }
      }
    }
  }

  private void end(boolean crashed) throws IOException {
    final int how = random.nextInt(3);
    if (how == 0 && !crashed && !journal.isFailed()) {
      disk.full(false);
      disk.failAfter(-1, SimulatedDisk.Fault.IO_ERROR);
      snapshotDisk.crashAfter(Integer.MAX_VALUE);
      snapshots.close();
      journal.close();
      noteDurable();
      for (final Index index : indexes.values()) {
        for (final Part part : index.parts) {
          assertTrue(!served.containsKey(index.entry.number()) || part.safe == part.changes.size());
        }
      }
      coverage.ends++;
      disk.powerCut(random);
    } else if (how == 1) {
      coverage.crashes++;
      disk.kill();
    } else {
      coverage.cuts++;
      disk.powerCut(random);
    }
  }

  /** Notes the records of a partition. */
  private static final class NotingLog implements CommitLog {
    private final CommitLog log;
    private final Part part;

    NotingLog(CommitLog log, Part part) {
      this.log = log;
      this.part = part;
    }

    @Override
    public long append(Write write) {
      final long lsn = log.append(write);
      if (lsn > 0) {
        assertTrue(lsn > part.last, "lsn=" + lsn + " last=" + part.last);
        part.last = lsn;
        part.changes.add(
            new Change(write.kind() == Write.Kind.DELETE, write.key(), write.value(), lsn));
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
    public void onCommit(Runnable listener) {
      log.onCommit(listener);
    }

    @Override
    public boolean hasRoom() {
      return log.hasRoom();
    }

    @Override
    public void close() {
      log.close();
    }
  }

  /** Stops at random, so that writes come between the steps. */
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
    public long catalogLsn() {
      return source.catalogLsn();
    }

    @Override
    public void removing() {
      source.removing();
    }

    @Override
    public long newestIndex() {
      return source.newestIndex();
    }
  }
}
