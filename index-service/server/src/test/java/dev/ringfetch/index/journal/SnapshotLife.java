package dev.ringfetch.index.journal;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.disk.Disk;
import dev.ringfetch.index.disk.SimulatedDisk;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.Entry;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A server of one partition with entries in a map, which takes snapshots of it. */
final class SnapshotLife implements SnapshotSource {
  static final long INDEX = 7;

  final JournalLife life;
  final Journal journal;
  final SnapshotCycle snapshots;
  final List<SnapshotCycle.Taken> taken = new ArrayList<>();
  final List<IOException> failures = new ArrayList<>();
  final TreeMap<String, Entry> entries = new TreeMap<>();
  private final PartitionLog log;

  /** Number of segments when the last removals were announced; 0: none were. */
  long segmentsBefore;

  // Of the source.
  boolean waiting;
  private boolean hasPartition;
  private String at;

  SnapshotLife(SimulatedDisk disk, long epoch) throws IOException {
    this(disk, disk, epoch);
  }

  SnapshotLife(SimulatedDisk disk, Disk snapshotDisk, long epoch) throws IOException {
    life = new JournalLife(disk, epoch);
    journal = life.journal;
    long last = 0;
    for (final JournalLife.Seen seen : life.recovered(INDEX)) {
      last = Math.max(last, seen.lsn());
      if (seen.type() == RecordDescriptor.PUT) {
        final Entry before = entries.get(seen.key().toStringUtf8());
        if (before == null || before.getVersion() < seen.lsn()) {
          put(seen.key(), seen.value(), seen.lsn());
        }
      }
    }
    log = new PartitionLog(journal, INDEX, 0, Durability.DISK, last);
    log.onCommit(() -> {});
    snapshots = new SnapshotCycle(journal, snapshotDisk, this, 0);
  }

  private void put(ByteString key, ByteString value, long version) {
    entries.put(
        key.toStringUtf8(),
        Entry.newBuilder().setKey(key).setValue(value).setVersion(version).build());
  }

  /** Puts an entry, durable. */
  void put(String key, int valueLength) {
    final ByteString bytes = ByteString.copyFromUtf8(key);
    final ByteString value = ByteString.copyFrom(new byte[valueLength]);
    final long lsn = log.append(new Write(write -> {}).put(bytes, value));
    assertTrue(lsn > 0, "lsn=" + lsn);
    life.work();
    assertTrue(log.committed() >= lsn);
    put(bytes, value, lsn);
  }

  /** Puts entries of several megabytes. */
  void flood(int megabytes) {
    for (int i = 0; i < megabytes; i++) {
      put("flood " + i, (1 << 20) - 100);
    }
  }

  void ask() {
    snapshots.ask(
        new SnapshotCycle.Listener() {
          @Override
          public void onSnapshot(SnapshotCycle.Taken snapshot) {
            taken.add(snapshot);
          }

          @Override
          public void onFailure(IOException failure) {
            failures.add(failure);
          }
        });
  }

  /** Works on snapshots until nothing is due at this moment. */
  void work() {
    while (snapshots.work(life.nowNs) == 0) {
      // more to do
    }
  }

  /** Takes a snapshot. */
  void snapshot() {
    final int before = taken.size();
    ask();
    work();
    assertTrue(taken.size() > before, "failures=" + failures);
  }

  /** Versions of what was recovered. */
  Map<String, Long> versions() {
    final Map<String, Long> versions = new TreeMap<>();
    entries.forEach((key, entry) -> versions.put(key, entry.getVersion()));
    return versions;
  }

  @Override
  public void begin() {
    hasPartition = false;
    at = "";
  }

  @Override
  public Progress add(SnapshotSink sink) throws IOException {
    if (waiting) {
      return Progress.WAITING;
    }
    if (!hasPartition) {
      hasPartition = true;
      sink.partition(INDEX, 0, log.committed(), 0);
      return Progress.MORE;
    }
    final Map.Entry<String, Entry> next = entries.higherEntry(at);
    if (next == null) {
      return Progress.DONE;
    }
    sink.put(INDEX, 0, next.getValue());
    at = next.getKey();
    return Progress.MORE;
  }

  @Override
  public boolean isDurable() {
    return true;
  }

  @Override
  public void removing() {
    segmentsBefore = life.disk.names().stream().filter(name -> name.startsWith("journal-")).count();
  }
}
