package dev.ringfetch.index.journal;

import dev.ringfetch.index.disk.Disk;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The choice of the snapshot for a start: the newest whole one to whose begin the segments reach
 * back. A damaged one is skipped if an older one, or the journal from its begin, can be read
 * instead.
 *
 * @param snapshot to use; null for the journal alone
 * @param newestNumber of all files of snapshots, 0 if there is none
 * @param damaged skipped files, the newest first
 * @param unfinished files of unfinished snapshots
 */
record SnapshotChoice(
    SnapshotFile snapshot, long newestNumber, List<String> damaged, List<String> unfinished) {
  /** The choice without any snapshot. */
  static SnapshotChoice none() {
    return new SnapshotChoice(null, 0, List.of(), List.of());
  }

  /** Reads a snapshot; returns null if it is damaged, or the disk cannot read it. */
  private static @Nullable SnapshotFile read(Disk disk, String name, long origin)
      throws JournalDamagedException {
    try {
      return SnapshotFile.read(disk, name, SnapshotDescriptor.number(name), origin);
    } catch (JournalDamagedException e) { // of another directory or version
      throw e;
    } catch (IOException e) { // a sector that cannot be read is damage, too
      return null;
    }
  }

  /**
   * Chooses.
   *
   * @param first the first existing segment
   * @throws JournalDamagedException if there is no snapshot and segments are missing, or if a
   *     snapshot belongs to another version or directory
   */
  static SnapshotChoice of(Disk disk, long origin, SegmentFile first) throws IOException {
    final List<String> names = new ArrayList<>();
    final List<String> unfinished = new ArrayList<>();
    for (final String name : disk.list()) {
      if (SnapshotDescriptor.number(name) > 0) {
        names.add(0, name);
      } else if (SnapshotDescriptor.isUnfinished(name)) {
        unfinished.add(name);
      }
    }
    final List<String> damaged = new ArrayList<>();
    SnapshotFile chosen = null;
    for (final String name : names) {
      final SnapshotFile found = read(disk, name, origin);
      if (found == null) {
        damaged.add(name);
      } else if (found.begin() >= first.base()) {
        chosen = found;
        break;
      }
    }
    if (chosen == null && first.base() > 0) {
      throw new JournalDamagedException(
          damaged.isEmpty()
              ? "missing: file=" + disk.describe(SegmentDescriptor.name(first.number() - 1))
              : "damaged, and the journal before it is gone: file="
                  + disk.describe(damaged.get(0)));
    }
    final long newest = names.isEmpty() ? 0 : SnapshotDescriptor.number(names.get(0));
    return new SnapshotChoice(chosen, newest, List.copyOf(damaged), List.copyOf(unfinished));
  }
}
