package dev.ringfetch.index.journal;

import dev.ringfetch.index.disk.Disk;
import dev.ringfetch.index.disk.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * The snapshots that orderly ends leave of groups in memory, in a data directory: a file for each
 * group, which has its name once it is whole and synced. A start reads them after the journal.
 *
 * <p>One thread at a time writes, and one removes, but not the same group's.
 */
public final class StopFiles implements StopRecords {
  private static final String EARLIER_VERSION =
      "of an earlier version of this program: its 'index dump' reads it, and 'index load' takes that"
          + " once the file is deleted: file=";

  private final Disk disk;
  private final long origin;
  private final Batch batch = new Batch();
  private final Map<Long, String> unread = new ConcurrentHashMap<>();

  /**
   * Creates it.
   *
   * @param origin the first 64 bits of the directory's id
   */
  public StopFiles(Disk disk, long origin) {
    this.disk = disk;
    this.origin = origin;
  }

  /**
   * The whole files.
   *
   * @param sink is told of the others
   */
  static List<SnapshotFile> whole(Disk disk, long origin, RecordSink sink) throws IOException {
    final List<SnapshotFile> found = new ArrayList<>();
    for (final String name : disk.list()) {
      final long group = SnapshotDescriptor.stoppedGroup(name);
      if (group <= 0) {
        continue;
      }
      String reason = "damaged: file=" + disk.describe(name);
      SnapshotFile file = null;
      try {
        file = SnapshotFile.read(disk, name, group, origin);
        if (file == null && isOfEarlierVersion(disk, name)) {
          reason = EARLIER_VERSION + disk.describe(name);
        }
      } catch (IOException e) { // of another directory or version, or it cannot be read
        reason = e.getMessage();
      }
      if (file == null) {
        sink.onUnread(group, reason);
      } else {
        found.add(file);
      }
    }
    return found;
  }

  /** Whether a file has the layout before this one: it begins with a record, and has no header. */
  private static boolean isOfEarlierVersion(Disk disk, String name) throws IOException {
    try (DiskFile file = disk.open(name)) {
      final byte[] begin = new byte[BatchDescriptor.LENGTH_SOFT_LIMIT];
      final int length = file.read(0, ByteBuffer.wrap(begin));
      final JournalRecord first = new JournalRecord();
      return first.wrap(begin, 0, length) && first.type() == RecordDescriptor.GROUP_BEGIN;
    }
  }

  @Override
  public Writer create(long group) throws IOException {
    final SnapshotWriter writer = SnapshotWriter.ofStop(disk, batch, origin, group);
    return new Writer() {
      @Override
      public void add(byte[] piece) throws IOException {
        writer.copyAll(piece);
        writer.endStep(); // so that the last sync, which all wait for, is short
      }

      @Override
      public void finish() throws IOException {
        writer.finish(0);
        unread.remove(group);
      }

      @Override
      public void close() throws IOException {
        writer.discard();
      }
    };
  }

  @Override
  public Set<Long> groups() throws IOException {
    return disk.list().stream()
        .map(SnapshotDescriptor::stoppedGroup)
        .filter(group -> group > 0)
        .collect(Collectors.toSet());
  }

  @Override
  public void delete(Set<Long> groups) throws IOException {
    for (final long group : groups) {
      disk.delete(SnapshotDescriptor.stopName(group));
    }
    disk.syncDirectory(); // a loss of power does not bring them back
    unread.keySet().removeAll(groups);
  }

  /** The groups whose file is there and cannot be read, with the reasons. On any thread. */
  public Map<Long, String> unread() {
    return unread;
  }
}
