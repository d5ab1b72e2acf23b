package dev.ringfetch.index.watch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.disk.SimulatedDisk;
import dev.ringfetch.index.journal.CopiedLog;
import dev.ringfetch.index.journal.Journal;
import dev.ringfetch.index.journal.JournalContext;
import dev.ringfetch.index.journal.JournalReader;
import dev.ringfetch.index.journal.PartitionLog;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.layout.BoxDescriptor;
import dev.ringfetch.index.log.GroupRecords;
import dev.ringfetch.index.partition.BookStore;
import dev.ringfetch.index.partition.CommitLog;
import dev.ringfetch.index.partition.Handover;
import dev.ringfetch.index.partition.ImmediateLog;
import dev.ringfetch.index.partition.OwnerTask;
import dev.ringfetch.index.partition.Partition;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.WatchEvent;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/**
 * One index over its servers' lives, on a simulated disk: real partitions, journal and rings, and
 * what the answers and the recoveries say of its changes. One thread; the test says what happens
 * next.
 */
final class WatchModel implements WatchedIndex {
  static final int PARTITIONS = 3;
  private static final long INDEX = 7;
  private static final long ORIGIN = 0x1122_3344_5566_7788L;
  private static final int SEGMENT_LENGTH = 4 << 20;

  /** Beginnings of keys; the number of the partition follows. */
  private static final List<String> KEYS = List.of("a", "b", "bb", "c", "cc");

  private static final long TICK_NS = 4_000_000;

  final Random random;
  final Durability durability;
  final RingBudget budget;
  private final boolean boxes; // as in a spatial index

  /** Changes that are committed, as far as known: by partition and LSN. */
  final List<TreeMap<Long, Change>> committed = new ArrayList<>();

  /** Changes that were answered and lost with a server. */
  final List<TreeMap<Long, Change>> lost = new ArrayList<>();

  /** By partition: the largest LSN that was in a removed segment. */
  final long[] removed = new long[PARTITIONS];

  private final SimulatedDisk disk = new SimulatedDisk();
  private final Partition[] partitions = new Partition[PARTITIONS];
  private final ChangeRing[] rings = new ChangeRing[PARTITIONS];
  private final long[] floors = new long[PARTITIONS]; // LSNs that ImmediateLogs end at
  private final List<Throwable> errors = new ArrayList<>();
  private BookStore[] stores;
  private Journal journal;
  private CopiedLog ofGroup;
  private JournalReader reader;
  private long epoch;
  private long nowNs;
  private Runnable afterSync = () -> {};

  WatchModel(Random random, Durability durability, long ringBytes) throws IOException {
    this(random, durability, ringBytes, false);
  }

  WatchModel(Random random, Durability durability, long ringBytes, boolean boxes)
      throws IOException {
    this.random = random;
    this.boxes = boxes;
    this.durability = durability;
    budget = new RingBudget(ringBytes);
    for (int i = 0; i < PARTITIONS; i++) {
      committed.add(new TreeMap<>());
      lost.add(new TreeMap<>());
    }
    open();
  }

  private void open() throws IOException {
    epoch++;
    stores = new BookStore[PARTITIONS];
    final long[] last = new long[PARTITIONS];
    final List<Map<Long, Change>> recovered = new ArrayList<>();
    for (int i = 0; i < PARTITIONS; i++) {
      stores[i] = new BookStore(1L << 40);
      if (boxes) {
        stores[i].boxes();
      }
      recovered.add(new TreeMap<>());
    }
    if (durability != Durability.MEMORY) {
      journal =
          Journal.open(
              disk,
              new JournalContext()
                  .segmentLength(SEGMENT_LENGTH)
                  .owner(ORIGIN, epoch)
                  .errors(errors::add),
              (record, place) -> {
                if (!RecordDescriptor.isOfPartition(record.type())) {
                  return;
                }
                final Change change = Change.of(record);
                last[record.partition()] = record.lsn();
                if (change != null) { // else a gap
                  recovered.get(record.partition()).put(record.lsn(), change);
                  replay(stores[record.partition()], change);
                }
              });
      ofGroup = journal.copies(() -> {});
      reader = journal.reader(disk);
      settle(recovered);
    }
    for (int i = 0; i < PARTITIONS; i++) {
      final CommitLog log = journal == null ? new ImmediateLog(floors[i]) : log(i, last[i]);
      partitions[i] = new Partition(stores[i], log, 1000, errors::add, Handover.never());
      rings[i] = null;
    }
  }

  /** A crash may have taken what INTERVAL has answered: the log goes on behind a gap. */
  private CommitLog log(int partition, long last) {
    final PartitionLog log = new PartitionLog(journal, INDEX, partition, durability, last);
    if (durability == Durability.INTERVAL && epoch > 1) {
      log.appendGap();
    }
    return watched(log);
  }

  private static void replay(BookStore store, Change change) {
    if (change.value().isEmpty()) {
      store.delete(change.key());
    } else {
      assertEquals(0, store.reserve(change.key().size(), change.value().size()));
      store.put(change.key(), change.value(), change.version());
    }
  }

  /** What was recovered is committed; what was answered and is not there is lost. */
  private void settle(List<Map<Long, Change>> recovered) {
    for (int i = 0; i < PARTITIONS; i++) {
      final TreeMap<Long, Change> known = committed.get(i);
      for (final Change change : known.values()) {
        if (!recovered.get(i).containsKey(change.version())) {
          assertEquals(Durability.INTERVAL, durability, "an answered write is lost");
          lost.get(i).put(change.version(), change);
        }
      }
      known.clear();
      known.putAll(recovered.get(i));
    }
  }

  /** Ends the server, in order or not, and starts another one. */
  void restart() throws IOException {
    switch (random.nextInt(3)) {
      case 0 -> {
        work(); // what was submitted is answered
        for (final Partition partition : partitions) {
          partition.close(() -> {});
        }
        journal.close();
        open();
      }
      case 1 -> kill();
      default -> {
        disk.powerCut(random);
        open();
      }
    }
  }

  /** Kills the server, and starts another one. */
  void kill() throws IOException {
    disk.kill();
    open();
  }

  /** Writes something somewhere; an answer that says so makes it committed. */
  void write(int valueLimit) {
    write(random.nextInt(PARTITIONS), valueLimit);
  }

  void write(int number, int valueLimit) {
    final ByteString key = ByteString.copyFromUtf8(KEYS.get(random.nextInt(KEYS.size())) + number);
    final byte[] bytes = new byte[1 + random.nextInt(valueLimit)];
    bytes[0] = (byte) random.nextInt();
    final ByteString value =
        boxes ? randomBox().concat(ByteString.copyFrom(bytes)) : ByteString.copyFrom(bytes);
    final Write write =
        new Write(
            answer -> {
              final Change change = Change.of(answer);
              if (answer.outcome() == Write.DONE && answer.version() != 0) {
                committed.get(number).put(answer.version(), change);
              }
            });
    switch (random.nextInt(6)) {
      case 0 -> write.delete(key);
      case 1 -> write.compareAndSet(key, 0, value);
      default -> write.put(key, value);
    }
    assertEquals(0, partitions[number].submit(write));
    if (journal != null && random.nextInt(20) == 0) { // a record about the group
      final byte[] commit =
          GroupRecords.control(
              INDEX, RecordDescriptor.GROUP_COMMIT, epoch, RecordDescriptor.value(1));
      ofGroup.append(commit, 0, commit.length, false);
    }
    assertTrue(errors.isEmpty(), errors::toString);
  }

  /** A box of a grid, so that many touch. */
  private ByteString randomBox() {
    final double x = random.nextInt(8);
    final double y = random.nextInt(8);
    return BoxDescriptor.bytes(x, y, x + random.nextInt(3), y + random.nextInt(3));
  }

  /**
   * What a change means for a square from 0 to {@code edge}, by the change of its key before: null
   * for nothing.
   */
  WatchEvent.Crossing crossing(int partition, Change change, double edge) {
    final Change before =
        committed.get(partition).headMap(change.version(), false).descendingMap().values().stream()
            .filter(earlier -> earlier.key().equals(change.key()))
            .findFirst()
            .orElse(null);
    final boolean wasIn = before != null && isIn(before.value(), edge);
    if (isIn(change.value(), edge)) {
      return wasIn ? WatchEvent.Crossing.MOVE : WatchEvent.Crossing.ENTER;
    }
    return wasIn ? WatchEvent.Crossing.LEAVE : null;
  }

  private static boolean isIn(ByteString value, double edge) {
    return !value.isEmpty()
        && BoxDescriptor.bound(value.toByteArray(), 0, 0) <= edge
        && BoxDescriptor.bound(value.toByteArray(), 0, 1) <= edge;
  }

  /** Lets the journal do what is due, a little later. */
  void work() {
    nowNs += TICK_NS;
    if (journal != null) {
      while (journal.work(nowNs) == 0) {
        // more to do
      }
    }
    assertTrue(errors.isEmpty(), errors::toString);
  }

  /** As {@link #work}; between a sync and the owners' learning of it, something else happens. */
  void work(Runnable meanwhile) {
    afterSync = meanwhile;
    work();
    afterSync = () -> {};
  }

  /** The log of a partition; see {@link #work(Runnable)}. */
  private CommitLog watched(CommitLog log) {
    return new CommitLog() {
      @Override
      public long append(Write write) {
        return log.append(write);
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
        log.onCommit(
            () -> {
              final Runnable once = afterSync;
              afterSync = () -> {};
              once.run();
              listener.run();
            });
      }

      @Override
      public boolean hasRoom() {
        return log.hasRoom();
      }

      @Override
      public void close() {
        log.close();
      }
    };
  }

  /** Has the owners tell their changes, as for a watch. */
  void begin() {
    for (int i = 0; i < PARTITIONS; i++) {
      if (rings[i] == null) {
        rings[i] = new ChangeRing(budget, () -> {});
        assertEquals(0, partitions[i].submit(OwnerTask.watch(rings[i], task -> {})));
      }
    }
  }

  /** Ends that, as long after the last watch. */
  void end() {
    for (int i = 0; i < PARTITIONS; i++) {
      if (rings[i] != null) {
        assertEquals(0, partitions[i].submit(OwnerTask.unwatch(rings[i], task -> {})));
        rings[i].close();
        rings[i] = null;
      }
    }
  }

  /** Removes the oldest segment, if there are others that are full. */
  void removeSegment() throws IOException {
    final List<String> names =
        disk.list().stream().filter(name -> name.startsWith("journal-")).toList();
    if (names.size() < 4) {
      return;
    }
    disk.delete(names.get(0));
    // What is still to be read begins with the first that the reader finds.
    final long[] first = new long[PARTITIONS];
    final JournalReader look = journal.reader(disk);
    final JournalReader.Place place = look.begin(INDEX, new long[PARTITIONS]);
    JournalReader.Progress progress = JournalReader.Progress.MORE;
    while (progress == JournalReader.Progress.MORE) {
      progress =
          look.read(
              place,
              record -> {
                if (record.index() == INDEX
                    && RecordDescriptor.isOfPartition(record.type())
                    && first[record.partition()] == 0) {
                  first[record.partition()] = record.lsn();
                }
                return true;
              });
    }
    for (int i = 0; i < PARTITIONS; i++) {
      final Long before = committed.get(i).lowerKey(first[i] == 0 ? Long.MAX_VALUE : first[i]);
      removed[i] = before == null ? 0 : before;
    }
  }

  /** The places behind all changes so far. */
  long[] last() {
    final long[] last = new long[PARTITIONS];
    for (int i = 0; i < PARTITIONS; i++) {
      last[i] = rings[i].last();
    }
    return last;
  }

  /** Checks that a change may be told now. */
  Change checkTold(int partition, long lsn) {
    final Change change = committed.get(partition).get(lsn);
    assertNotNull(change, "told before its commit: partition=" + partition + " lsn=" + lsn);
    return change;
  }

  @Override
  public long number() {
    return INDEX;
  }

  @Override
  public long incarnation() {
    return 11;
  }

  @Override
  public ChangeRing ring(int partition) {
    return rings[partition];
  }

  @Override
  public long durable(int partition) {
    return partitions[partition].durable();
  }

  @Override
  public JournalReader journal() {
    return reader;
  }
}
