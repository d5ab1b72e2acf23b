package dev.ringfetch.index.journal;

import dev.ringfetch.index.disk.Disk;
import dev.ringfetch.index.disk.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The salvage of a journal that no server can read: finds each whole record, also in damaged
 * batches and after damage, and names each place where a record may be missing.
 *
 * <p>A record counts only at the place where it was written, which its {@linkplain
 * RecordDescriptor#salt salted} checksum proves. So bytes of a value are never taken for a record;
 * intact batches are not searched. A record may belong to a write that was never answered.
 *
 * <p>The newest whole snapshot has everything before its begin: older snapshots, and older parts of
 * the journal, are not read. Without a whole snapshot everything counts. Each batch then has to
 * follow the batch that it names, up to the position to which the journal was synced.
 *
 * <p>Used by one thread, once.
 */
public final class JournalSalvage {
  private static final int WINDOW_LENGTH = 8 << 20;

  /** Bytes of a single read within an unreadable window: a page of the system's cache. */
  private static final int PART_LENGTH = 4096;

  private final Disk disk;
  private final RecordSink sink;
  private final RecordSink partial;
  private final JournalRecord record = new JournalRecord();
  private final CRC32C crc = new CRC32C();
  private final byte[] window = new byte[WINDOW_LENGTH];
  private final List<String> gaps = new ArrayList<>();

  /** Bytes of the journal without records, after the last batch that follows its predecessor. */
  private final List<Gap> open = new ArrayList<>();

  private final SalvagedFiles files;
  private long records;

  /** End of that batch; -1 before the first one of a journal with an unknown begin. */
  private long reached = -1;

  /** The largest synced position that any batch or the checkpoint names. */
  private long durable;

  /**
   * Bytes in which no record was found.
   *
   * @param base position of the file's begin in the journal
   */
  private record Gap(String name, long base, long offset, long end, boolean isZero) {}

  /**
   * Creates a salvage.
   *
   * @param origin the first 64 bits of the directory's id; 0 if that is lost
   * @param sink receives the records of a whole snapshot, and those of the journal, in their order
   * @param partial receives records of newer snapshots that are not whole
   * @throws IOException if the directory cannot be listed
   */
  public JournalSalvage(Disk disk, long origin, RecordSink sink, RecordSink partial)
      throws IOException {
    this.disk = disk;
    files = new SalvagedFiles(disk, origin, gaps);
    this.sink = sink;
    this.partial = partial;
  }

  /**
   * Reads all files.
   *
   * @throws IOException if a sink fails; a file that cannot be read is a gap
   */
  public void run() throws IOException {
    final List<String> names = files.names();
    final SnapshotFile base = wholeSnapshot(names);
    if (base != null) {
      durable = base.end();
      replay(base);
    }
    for (final String name : names) {
      final boolean isFinished = SnapshotDescriptor.number(name) >= 0;
      final long number =
          isFinished ? SnapshotDescriptor.number(name) : SnapshotDescriptor.unfinishedNumber(name);
      if (number >= 0 && (base == null || number > base.number())) {
        readPartial(name, number, isFinished);
      }
      final long group = SnapshotDescriptor.stoppedGroup(name);
      final SnapshotFile stop = group > 0 ? whole(name, group) : null;
      if (stop != null) {
        replay(stop);
      } else if (group > 0) {
        readPartial(name, group, true);
      }
    }
    readCheckpoint();
    readJournal(base);
    sink.onEnd();
  }

  private void replay(SnapshotFile snapshot) throws IOException {
    sink.onSnapshot(snapshot.entries());
    snapshot.replay(
        disk,
        files.origin(),
        (found, offset) -> {
          sink.onSnapshotRecord(found, () -> place(snapshot.name(), offset));
          records++;
        });
  }

  /** Number of records that were found. */
  public long records() {
    return records;
  }

  /** Lines about places where records are or may be missing. */
  public List<String> gaps() {
    return List.copyOf(gaps);
  }

  private String place(String name, long offset) {
    return "file=" + disk.describe(name) + " offset=" + offset;
  }

  /** The newest snapshot that is whole; null if there is none. */
  private @Nullable SnapshotFile wholeSnapshot(List<String> names) {
    for (int i = names.size() - 1; i >= 0; i--) { // the newest is the last
      final long number = SnapshotDescriptor.number(names.get(i));
      final SnapshotFile found = number < 0 ? null : whole(names.get(i), number);
      if (found != null) {
        return found;
      }
    }
    return null;
  }

  /** A snapshot; null if it is not whole, which the gaps say. */
  private @Nullable SnapshotFile whole(String name, long number) {
    try {
      final SnapshotFile found = SnapshotFile.read(disk, name, number, files.origin());
      if (found == null) {
        gaps.add("a damaged snapshot: file=" + disk.describe(name));
      }
      return found;
    } catch (IOException e) {
      files.unreadable(name, e);
      return null;
    }
  }

  private void readPartial(String name, long number, boolean isFinished) throws IOException {
    try (DiskFile file = disk.open(name)) {
      final ByteBuffer header = files.header(name, file, SnapshotDescriptor.MAGIC);
      final long written =
          header == null ? number : header.getLong(SnapshotDescriptor.NUMBER_OFFSET);
      final Scan scan =
          new Scan(name, file, SnapshotDescriptor.batchOrigin(files.origin(), written), 0);
      scan.run(SnapshotDescriptor.BATCH_OFFSET, partial);
      if (isFinished) { // an unfinished one may end anywhere, and is not needed
        open.forEach(gap -> add("no record", gap));
        if (scan.expected < 0) {
          gaps.add("the snapshot has no end: found=" + scan.found + " file=" + disk.describe(name));
        } else if (scan.found != scan.expected) {
          gaps.add(
              "records of the snapshot are missing: written="
                  + scan.expected
                  + " found="
                  + scan.found
                  + " file="
                  + disk.describe(name));
        }
      }
      open.clear();
    } catch (SinkFailure e) {
      throw e.cause;
    } catch (IOException e) {
      files.unreadable(name, e);
    }
  }

  private void readCheckpoint() {
    try (Checkpoint checkpoint = Checkpoint.open(disk, files.origin())) {
      durable = Math.max(durable, checkpoint.durable());
      if (!checkpoint.isWhole()) {
        gaps.add(
            "damaged in one of its two slots, so the end of the journal may be missing: file="
                + disk.describe(Checkpoint.NAME));
      }
    } catch (IOException e) {
      gaps.add("the end of the journal may be missing: " + e.getMessage());
    }
  }

  private void readJournal(SnapshotFile base) throws IOException {
    final List<SegmentFile> segments = files.segments();
    final SegmentFile first = segments.isEmpty() ? null : segments.get(0);
    long begin = 0;
    if (base != null) {
      begin = base.begin();
      reached = begin == SegmentDescriptor.BATCH_OFFSET ? 0 : begin;
    } else if (first != null && first.base() == 0) {
      reached = 0;
    } else if (first != null) {
      gaps.add(
          "the journal has no begin, and no snapshot is whole: first="
              + disk.describe(first.name()));
    }
    if (first != null && first.base() > begin && !files.isHeadless(first)) {
      files.missing(first.number() - 1);
    }
    boolean isFirstPrepared = false; // perhaps: it has neither header nor record
    for (int i = 0; i < segments.size(); i++) {
      final SegmentFile segment = segments.get(i);
      final SegmentFile next = i + 1 == segments.size() ? null : segments.get(i + 1);
      long end = segment.end();
      if (files.isHeadless(segment)) {
        end = next == null || next.base() < 0 ? Long.MAX_VALUE : next.base();
      }
      final boolean isHeadless = files.isHeadless(segment);
      final boolean isEmpty = end <= begin || !read(segment, begin, next == null);
      isFirstPrepared |= i == 0 && isHeadless && isEmpty;
    }
    for (final Gap gap : open) {
      final long needed = gap.isZero ? Math.min(gap.end, durable - gap.base) : gap.end;
      if (needed > gap.offset) {
        add("no record", new Gap(gap.name, gap.base, gap.offset, needed, gap.isZero));
      }
    }
    if (reached < durable) {
      gaps.add(
          "the last batch that follows the one before ends at position="
              + reached
              + ", the journal was synced up to position="
              + durable);
      segments.forEach(files::nameHeadless);
      if (isFirstPrepared && first.number() > 1) {
        files.mayBeMissing(first.number() - 1);
      }
    }
  }

  /**
   * Reads a segment from a position on; all of it if its place is unknown. Returns whether it has
   * found a record.
   */
  private boolean read(SegmentFile segment, long begin, boolean isLast) throws IOException {
    final long before = records;
    try (DiskFile file = disk.open(segment.name())) {
      final Scan scan = new Scan(segment.name(), file, files.origin(), segment.base());
      if (files.isHeadless(segment)) {
        scan.findBase();
      }
      scan.run(
          scan.base < 0
              ? SegmentDescriptor.BATCH_OFFSET
              : Math.max(SegmentDescriptor.BATCH_OFFSET, begin - scan.base),
          sink);
      // The last one may have been in preparation: no header, and no record yet.
      final boolean isUsed = scan.found > 0 || segment.base() < 0 || !isLast;
      if (isUsed) {
        files.nameHeadless(segment);
      }
    } catch (SinkFailure e) {
      throw e.cause;
    } catch (IOException e) {
      files.unreadable(segment.name(), e);
    }
    return records > before;
  }

  private void add(String what, Gap gap) {
    gaps.add(
        what
            + (gap.isZero ? ", zeros: " : ": ")
            + place(gap.name, gap.offset)
            + " length="
            + (gap.end - gap.offset)
            + (gap.end - gap.offset < RecordDescriptor.KEY_OFFSET
                ? ", shorter than a record"
                : ""));
  }

  /** A wrapper that distinguishes a failure of a sink from one of the disk. */
  private static final class SinkFailure extends IOException {
    private static final long serialVersionUID = 1;

    final IOException cause;

    SinkFailure(IOException cause) {
      super(cause);
      this.cause = cause;
    }
  }

  /** The search of one file for batches and records, through a window that moves on. */
  private final class Scan {
    private final String name;
    private final DiskFile file;
    private final long batchOrigin;
    private long base;
    private RecordSink to;

    /** Offset of the window in the file, and its length. */
    private long windowOffset;

    private int limit;

    /** Begin of bytes without a record; -1 outside of such bytes. */
    private long gap = -1;

    private boolean isZero;

    /** End of the last byte among them that is not 0. */
    private long dataEnd;

    /** Number of records found, and the number that the end of a snapshot names; -1 without one. */
    private long found;

    private long expected = -1;

    /**
     * Creates the search.
     *
     * @param base position that offset 0 has
     */
    Scan(String name, DiskFile file, long batchOrigin, long base) {
      this.name = name;
      this.file = file;
      this.batchOrigin = batchOrigin;
      this.base = base;
    }

    /** Derives the base from the position in the first whole batch. */
    void findBase() throws IOException {
      final long end = file.length();
      for (long at = SegmentDescriptor.BATCH_OFFSET;
          at + BatchDescriptor.RECORD_OFFSET <= end;
          at += RecordDescriptor.ALIGNMENT) {
        final int here = have(at);
        final long position =
            RecordDescriptor.getLong(window, here + BatchDescriptor.POSITION_OFFSET);
        if (BatchDescriptor.length(crc, window, here, limit, batchOrigin, position) > 0) {
          base = position - at;
          return;
        }
      }
    }

    void run(long begin, RecordSink taker) throws IOException {
      to = taker;
      final long end = file.length();
      long at = begin;
      while (at + RecordDescriptor.ALIGNMENT <= end) {
        at += step(at, have(at));
      }
      if (gap >= 0 && !isZero) { // apart from the zeros that fill a segment
        endGap(dataEnd);
        gap = dataEnd;
        isZero = true;
      }
      endGap(at);
    }

    /**
     * Index in the window of an offset in the file, behind which all is there that one may need.
     */
    private int have(long at) {
      if (limit == 0
          || at < windowOffset
          || (at + BatchDescriptor.LENGTH_LIMIT > windowOffset + limit && limit == window.length)) {
        windowOffset = at;
        try {
          limit = file.read(at, ByteBuffer.wrap(window));
        } catch (IOException e) {
          limit = readParts(at, e);
        }
      }
      return (int) (at - windowOffset);
    }

    /** Reads part by part, with zeros for unreadable parts. */
    private int readParts(long at, IOException failure) {
      int length = 0;
      int read = PART_LENGTH;
      long unread = -1;
      while (read == PART_LENGTH && length < window.length) {
        try {
          read = file.read(at + length, ByteBuffer.wrap(window, length, PART_LENGTH));
          if (unread >= 0) {
            add(failure.getMessage(), new Gap(name, base, unread, at + length, false));
            unread = -1;
          }
        } catch (IOException e) {
          Arrays.fill(window, length, length + PART_LENGTH, (byte) 0);
          unread = unread < 0 ? at + length : unread;
        }
        length += read;
      }
      if (unread >= 0) {
        add(failure.getMessage(), new Gap(name, base, unread, at + length, false));
      }
      return length;
    }

    /** Examines the bytes at this place; returns the length of the batch, record or gap. */
    private int step(long at, int here) throws IOException {
      final long position = base + at;
      final int length = BatchDescriptor.length(crc, window, here, limit, batchOrigin, position);
      if (length > 0) {
        endGap(at);
        takeBatch(here, length, at);
        return length;
      }
      if (record.wrap(window, here, limit, RecordDescriptor.salt(batchOrigin, position))) {
        endGap(at);
        take(at);
        return RecordDescriptor.aligned(record.length());
      }
      if (gap < 0) {
        gap = at;
        isZero = true;
      }
      if (RecordDescriptor.getLong(window, here) != 0) {
        isZero = false;
        dataEnd = at + RecordDescriptor.ALIGNMENT;
      }
      return RecordDescriptor.ALIGNMENT;
    }

    private void takeBatch(int here, int length, long at) throws IOException {
      if (to == sink) {
        follow(
            RecordDescriptor.getLong(window, here + BatchDescriptor.PREVIOUS_OFFSET),
            base + at,
            length);
        durable =
            Math.max(
                durable, RecordDescriptor.getLong(window, here + BatchDescriptor.DURABLE_OFFSET));
      }
      int offset = BatchDescriptor.RECORD_OFFSET;
      while (offset < length
          && record.wrap(
              window,
              here + offset,
              here + length,
              RecordDescriptor.salt(batchOrigin, base + at + offset))) {
        take(at + offset);
        offset += RecordDescriptor.aligned(record.length());
      }
      if (offset != length) {
        add("no record in a batch", new Gap(name, base, at + offset, at + length, false));
      }
    }

    private void take(long at) throws IOException {
      found++;
      if (record.type() == RecordDescriptor.SNAPSHOT_END) {
        expected = SnapshotDescriptor.records(record);
        found--; // its number counts the records before it
      }
      try {
        to.onRecord(record, () -> place(name, at));
      } catch (IOException e) {
        throw new SinkFailure(e);
      }
      records++;
    }

    private void endGap(long end) {
      if (gap >= 0 && gap < end) {
        open.add(new Gap(name, base, gap, end, isZero));
      }
      gap = -1;
    }
  }

  /** Adds a batch of the journal: there is no gap before it if it follows the last one. */
  private void follow(long previous, long position, int length) {
    if (position < reached) {
      return; // a duplicate
    }
    if (reached >= 0 && previous != reached) {
      open.forEach(gap -> add("no record", gap));
      if (open.isEmpty()) {
        gaps.add("no record: position=" + reached + " length=" + (previous - reached));
      }
    }
    open.clear();
    reached = position + length;
  }
}
