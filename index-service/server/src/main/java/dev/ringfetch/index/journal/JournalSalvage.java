package dev.ringfetch.index.journal;

import dev.ringfetch.index.disk.Disk;
import dev.ringfetch.index.disk.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The salvage of a journal that is damaged: finds each valid record in its files, also behind
 * damage, and says where something is missing. A record has its own checksum, so it counts even
 * where its batch does not; what it says may be of a write that was never answered, and records
 * that came later may be lost.
 *
 * <p>Used by one thread, once.
 */
public final class JournalSalvage {
  private final Disk disk;
  private final RecordSink sink;
  private final JournalRecord record = new JournalRecord();
  private final List<String> gaps = new ArrayList<>();
  private long records;

  /** Creates a salvage that passes records to this sink, in the order of files and places. */
  public JournalSalvage(Disk disk, RecordSink sink) {
    this.disk = disk;
    this.sink = sink;
  }

  /**
   * Reads all snapshots, the oldest first, and then all segments.
   *
   * @throws IOException if the sink fails; a file that cannot be read is a gap
   */
  public void run() throws IOException {
    long expected = -1;
    final List<String> segments = new ArrayList<>();
    for (final String name : disk.list()) {
      if (SnapshotDescriptor.number(name) >= 0) {
        read(name);
      } else if (SegmentDescriptor.number(name) >= 0) {
        segments.add(name);
      }
    }
    for (final String name : segments) {
      final long number = SegmentDescriptor.number(name);
      if (expected >= 0 && number != expected) {
        gaps.add("missing: file=" + disk.describe(SegmentDescriptor.name(expected)));
      }
      expected = number + 1;
      read(name);
    }
  }

  /** Number of records that were found. */
  public long records() {
    return records;
  }

  /** Where something is missing or damaged, in lines for people. */
  public List<String> gaps() {
    return List.copyOf(gaps);
  }

  private void read(String name) throws IOException {
    try (DiskFile file = disk.open(name)) {
      new Scan(name, file).run();
    } catch (SinkFailure e) {
      throw e.cause;
    } catch (IOException e) {
      gaps.add("cannot be read: file=" + disk.describe(name) + ": " + e.getMessage());
    }
  }

  /** Tells a failure of the sink from one of the disk. */
  private static final class SinkFailure extends IOException {
    private static final long serialVersionUID = 1;

    final IOException cause;

    SinkFailure(IOException cause) {
      super(cause);
      this.cause = cause;
    }
  }

  /** The search of one file for records, through a window that moves on. */
  private final class Scan {
    private static final int WINDOW_LENGTH = 8 << 20;

    private final String name;
    private final DiskFile file;
    private final byte[] window = new byte[WINDOW_LENGTH];

    /** Offset of the window in the file, and how much of it there is. */
    private long base = SegmentDescriptor.BATCH_OFFSET;

    private int limit;

    /** Where bytes begin that are neither a record nor a header nor zeros; -1 if they are. */
    private long gap = -1;

    Scan(String name, DiskFile file) {
      this.name = name;
      this.file = file;
    }

    void run() throws IOException {
      int position = 0;
      limit = file.read(base, ByteBuffer.wrap(window));
      while (position + RecordDescriptor.ALIGNMENT <= limit) {
        position += step(position);
        if (limit - position < BatchDescriptor.LENGTH_LIMIT && limit == window.length) {
          base += position;
          position = 0;
          limit = file.read(base, ByteBuffer.wrap(window));
        }
      }
      endGap(base + limit);
    }

    /** Looks at what begins here; returns how long it is. */
    private int step(int position) throws IOException {
      if (record.wrap(window, position, limit)) {
        endGap(base + position);
        records++;
        final long at = base + position;
        try {
          sink.onRecord(record, () -> "file=" + disk.describe(name) + " offset=" + at);
        } catch (IOException e) {
          throw new SinkFailure(e);
        }
        return RecordDescriptor.aligned(record.length());
      }
      if (isBatch(position)) {
        endGap(base + position);
        return BatchDescriptor.RECORD_OFFSET; // what is in it is looked at, whole or not
      }
      if (gap < 0 && RecordDescriptor.getLong(window, position) != 0) {
        gap = base + position;
      }
      return RecordDescriptor.ALIGNMENT;
    }

    private boolean isBatch(int position) {
      return position + BatchDescriptor.RECORD_OFFSET <= limit
          && RecordDescriptor.getInt(window, position + BatchDescriptor.MAGIC_OFFSET)
              == BatchDescriptor.MAGIC;
    }

    private void endGap(long end) {
      if (gap >= 0) {
        gaps.add("no record: file=" + disk.describe(name) + " offset=" + gap + " end=" + end);
        gap = -1;
      }
    }
  }
}
