package dev.ringfetch.index.journal;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.disk.SimulatedDisk;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** One server's use of a journal on a simulated disk: what it recovered and what it appended. */
final class JournalLife {
  static final int SEGMENT_LENGTH = SegmentWriter.LENGTH_MIN;
  static final long INTERVAL_NS = 10_000_000;
  static final long QUOTA = 64 << 20;
  static final long ORIGIN = 0x1122_3344_5566_7788L;

  /** A record, as far as tests compare it. */
  record Seen(int type, long epoch, long lsn, ByteString key, ByteString value) {}

  final SimulatedDisk disk;
  final long epoch;
  final Journal journal;
  final List<Throwable> errors = new ArrayList<>();

  /** Why there was no next segment, and null when there was one. */
  final List<IOException> obstacles = new ArrayList<>();

  /** What was recovered, by index, in order. */
  final Map<Long, List<Seen>> recovered = new TreeMap<>();

  /** Checks until the directory is another server's. */
  int ownerChecks = Integer.MAX_VALUE;

  long nowNs;

  /** Bytes of other files in the directory. */
  private long others;

  /** Why the files cannot be measured; null: they can. */
  IOException unmeasured;

  JournalLife(SimulatedDisk disk, long epoch) throws IOException {
    this.disk = disk;
    this.epoch = epoch;
    journal =
        Journal.open(
            disk,
            new JournalContext()
                .segmentLength(SEGMENT_LENGTH)
                .interval(INTERVAL_NS)
                .owner(ORIGIN, epoch)
                .ownerCheck(this::checkOwner)
                .syncs((durationNs, records, bytes) -> {}, () -> nowNs)
                .obstacles(obstacles::add)
                .quota(new DiskQuota(this::bytes, QUOTA, () -> nowNs, obstacles::add))
                .errors(errors::add),
            (record, place) ->
                recovered
                    .computeIfAbsent(record.index(), index -> new ArrayList<>())
                    .add(
                        new Seen(
                            record.type(),
                            record.epoch(),
                            record.lsn(),
                            record.key(),
                            record.value())));
  }

  private long bytes() throws IOException {
    if (unmeasured != null) {
      throw unmeasured;
    }
    return others + disk.names().stream().mapToLong(name -> disk.content(name).length).sum();
  }

  /** Makes the files of the directory so long with others. */
  void fill(long total) throws IOException {
    others += total - bytes();
  }

  private void checkOwner() throws IOException {
    if (ownerChecks-- <= 0) {
      throw new IOException("another server's");
    }
  }

  /** Records of an index that were recovered. */
  List<Seen> recovered(long index) {
    return recovered.getOrDefault(index, List.of());
  }

  /** Works until nothing is due at this moment. */
  void work() {
    while (journal.work(nowNs) == 0) {
      // more to do
    }
  }
}
