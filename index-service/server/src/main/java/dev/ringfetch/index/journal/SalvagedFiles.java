package dev.ringfetch.index.journal;

import dev.ringfetch.index.disk.Disk;
import dev.ringfetch.index.disk.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The files of a damaged journal: says which directory they are of, and where each segment stands
 * in the journal. Names files that are missing, cannot be read, or have no header.
 *
 * <p>Used by one thread.
 */
final class SalvagedFiles {
  private final Disk disk;
  private final List<String> names;
  private final List<String> gaps;

  /** Segments without a header that no line of the gaps names yet. */
  private final Set<String> headless = new HashSet<>();

  private long origin;

  /**
   * Finds the files.
   *
   * @param origin the first 64 bits of the directory's id; 0 if that is lost
   * @param gaps gets the lines about files
   */
  SalvagedFiles(Disk disk, long origin, List<String> gaps) throws IOException {
    this.disk = disk;
    this.origin = origin;
    this.gaps = gaps;
    this.names = disk.list();
    findOrigin();
  }

  /** The names of all files, in their order. */
  List<String> names() {
    return names;
  }

  /** The first 64 bits of the id of the directory that the files are of. */
  long origin() {
    return origin;
  }

  /** Adopts the origin of most files if none of them has that of the directory. */
  private void findOrigin() {
    final Map<Long, Integer> files = new HashMap<>();
    for (final String name : names) {
      final boolean isSegment = SegmentDescriptor.number(name) >= 0;
      if (isSegment || SnapshotDescriptor.isSnapshot(name)) {
        final long found =
            FileHeader.origin(
                disk, name, isSegment ? SegmentDescriptor.MAGIC : SnapshotDescriptor.MAGIC);
        if (found != 0) {
          files.merge(found, 1, Integer::sum);
        }
      }
    }
    if (files.isEmpty() || files.containsKey(origin)) {
      return;
    }
    files.merge(Checkpoint.origin(disk), 1, Integer::sum);
    files.remove(0L); // of a checkpoint that is damaged
    if (origin != 0) {
      gaps.add("all files are of another directory than the identity: data=" + disk);
    }
    origin = Collections.max(files.entrySet(), Map.Entry.comparingByValue()).getKey();
  }

  /** Finds the segments in the order of their places. Those without a header get a base, too. */
  List<SegmentFile> segments() {
    final List<SegmentFile> found = new ArrayList<>();
    for (final String name : names) {
      final long number = SegmentDescriptor.number(name);
      if (number >= 0) {
        addSegment(name, number, found);
      }
    }
    found.sort(Comparator.comparingLong(SegmentFile::number));
    for (int i = 0; i < found.size(); i++) {
      final SegmentFile segment = found.get(i);
      final SegmentFile before = i == 0 ? null : found.get(i - 1);
      final SegmentFile behind = i + 1 == found.size() ? null : found.get(i + 1);
      if (before != null && segment.number() > before.number() + 1) {
        missing(before.number() + 1);
      }
      if (segment.base() < 0) {
        long base = -1;
        if (segment.number() == 1) {
          base = 0;
        } else if (before != null
            && before.base() >= 0
            && before.number() + 1 == segment.number()) {
          base = before.end();
        } else if (behind != null
            && behind.base() >= 0
            && behind.number() == segment.number() + 1) {
          base = behind.base() - segment.length();
        }
        found.set(i, new SegmentFile(segment.name(), segment.number(), base, segment.length()));
      }
    }
    return found;
  }

  private void addSegment(String name, long number, List<SegmentFile> found) {
    try (DiskFile file = disk.open(name)) {
      final long length = file.length();
      final ByteBuffer header = header(name, file, SegmentDescriptor.MAGIC);
      if (header == null) {
        headless.add(name);
        found.add(new SegmentFile(name, number, -1, length));
        return;
      }
      final long written = header.getLong(SegmentDescriptor.NUMBER_OFFSET);
      final long writtenLength = header.getLong(SegmentDescriptor.LENGTH_OFFSET);
      if (written != number || writtenLength != length) {
        gaps.add(
            "renamed, or cut: file="
                + disk.describe(name)
                + " number="
                + written
                + " length="
                + writtenLength
                + " found="
                + length);
      }
      found.add(
          new SegmentFile(
              name, written, header.getLong(SegmentDescriptor.BASE_OFFSET), writtenLength));
    } catch (IOException e) {
      unreadable(name, e);
    }
  }

  /** Reads a header; returns null if it cannot belong to this journal. */
  @Nullable ByteBuffer header(String name, DiskFile file, long magic) throws IOException {
    try {
      return FileHeader.read(disk, name, file, magic, origin);
    } catch (JournalDamagedException e) {
      gaps.add(e.getMessage());
      return null;
    }
  }

  void missing(long number) {
    gaps.add("missing: file=" + disk.describe(SegmentDescriptor.name(number)));
  }

  void mayBeMissing(long number) {
    gaps.add("may be missing: file=" + disk.describe(SegmentDescriptor.name(number)));
  }

  /** True for a segment without a header that is not named yet: its length says nothing. */
  boolean isHeadless(SegmentFile segment) {
    return headless.contains(segment.name());
  }

  /** Names a segment if it has no header. */
  void nameHeadless(SegmentFile segment) {
    if (headless.remove(segment.name())) {
      gaps.add("no header of a segment: file=" + disk.describe(segment.name()));
    }
  }

  void unreadable(String name, IOException reason) {
    gaps.add("cannot be read: file=" + disk.describe(name) + ": " + reason.getMessage());
  }
}
