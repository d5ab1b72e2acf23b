package dev.ringfetch.index.journal;

import dev.ringfetch.index.disk.Disk;
import dev.ringfetch.index.disk.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * A reader of a journal in use: passes the durable records, in their order, in steps of bounded
 * length. It opens a segment for one step only, so segments may be removed at any time, the oldest
 * first; a place in a removed segment is lost.
 *
 * <p>For each segment that it has read completely it remembers the last LSNs of the partitions, so
 * that a later pass skips segments without new records.
 *
 * <p>Used by one thread at a time, which is not the journal's.
 */
public final class JournalReader {
  /** Bytes of batches after which a step ends. */
  private static final int STEP_LENGTH = 256 << 10;

  private static final int READ_LENGTH = 64 << 10;

  /** How a step ended. */
  public enum Progress {
    /** There is more to read. */
    MORE,
    /** Everything that was durable at the begin of the step was read. */
    END,
    /** The segment of the place was removed. */
    LOST
  }

  /** A receiver of records. */
  @FunctionalInterface
  public interface Visitor {
    /**
     * Called with each record; the view is valid until the return.
     *
     * @return whether to continue: if not, the step ends after the record
     */
    boolean onRecord(JournalRecord record);
  }

  /** A place in the journal, of one pass. */
  public static final class Place {
    private long segment;
    private long base;
    private long length;
    private int offset;
    private int records; // passed records of the batch
    private long previous = -1; // end of the batch before; -1 before the oldest segment
    private long oldestBase;
    private boolean complete;
    private @Nullable Summary summary; // of the segment; null if it is not read from its begin

    private Place() {}

    private long position() {
      return base + offset;
    }

    /** True if no record before the first passed one was removed. */
    public boolean isComplete() {
      return complete;
    }
  }

  /** The last LSNs of partitions at the end of a segment. */
  private static final class Summary {
    private final Map<Long, long[]> last = new HashMap<>(); // 0: no record of the partition
    private long base;
    private long length;
    private long end;

    void add(JournalRecord record) {
      if (RecordDescriptor.isOfPartition(record.type())) {
        long[] lsns = last.computeIfAbsent(record.index(), index -> new long[1]);
        if (record.partition() >= lsns.length) {
          lsns = Arrays.copyOf(lsns, record.partition() + 1);
          last.put(record.index(), lsns);
        }
        lsns[record.partition()] = record.lsn();
      }
    }
  }

  private final Disk disk;
  private final long origin;
  private final LongSupplier durable;
  private final Map<Long, Summary> summaries = new TreeMap<>();
  private final JournalRecord record = new JournalRecord();
  private final CRC32C crc = new CRC32C();
  private byte[] bytes = new byte[READ_LENGTH];
  private int filled;

  /**
   * Creates a reader.
   *
   * @param durable position up to which the journal is synced
   */
  JournalReader(Disk disk, long origin, LongSupplier durable) {
    this.disk = disk;
    this.origin = origin;
    this.durable = durable;
  }

  /**
   * The place after which all records of an index with larger LSNs follow.
   *
   * @param lsns by partition; {@link Long#MAX_VALUE} for partitions that do not matter
   * @throws IOException if the disk fails
   */
  public Place begin(long index, long[] lsns) throws IOException {
    final Place place = new Place();
    openOldest(place);
    place.oldestBase = place.base;
    place.complete = place.base == 0;
    boolean passing = true;
    while (passing) {
      final Summary summary = summaries.get(place.segment);
      passing = summary != null && !hasNewer(summary, index, lsns);
      if (passing) {
        place.segment++;
        place.base = summary.base + summary.length;
        place.length = 0;
        place.previous = summary.end;
      }
    }
    place.summary = summaries.containsKey(place.segment) ? null : new Summary();
    return place;
  }

  /** Opens the oldest segment, even while segments are being removed. */
  private void openOldest(Place place) throws IOException {
    long before = -1;
    while (true) {
      final long oldest = oldest();
      try {
        open(place, oldest);
        summaries.keySet().removeIf(number -> number < oldest);
        return;
      } catch (NoSuchFileException e) {
        if (oldest == before) {
          throw e;
        }
        before = oldest;
      }
    }
  }

  /** Number of the oldest segment; {@link Long#MAX_VALUE} if there is none. */
  private long oldest() throws IOException {
    long oldest = Long.MAX_VALUE;
    for (final String name : disk.list()) {
      final long number = SegmentDescriptor.number(name);
      if (number >= 0) {
        oldest = Math.min(oldest, number);
      }
    }
    return oldest;
  }

  private static boolean hasNewer(Summary summary, long index, long[] lsns) {
    final long[] last = summary.last.getOrDefault(index, new long[0]);
    for (int i = 0; i < Math.min(last.length, lsns.length); i++) {
      if (last[i] > lsns[i]) {
        return true;
      }
    }
    return false;
  }

  /** Sets a place to the begin of a segment. */
  private void open(Place place, long number) throws IOException {
    place.segment = number;
    place.offset = SegmentDescriptor.BATCH_OFFSET;
    place.records = 0;
    final SegmentFile segment =
        SegmentFile.read(disk, SegmentDescriptor.name(number), number, origin);
    if (segment == null) {
      throw damaged(place, "no header of a segment");
    }
    place.base = segment.base();
    place.length = segment.length();
  }

  /**
   * Reads the next records.
   *
   * @param place moves behind them
   * @throws IOException if the disk fails, or durable data has changed
   */
  public Progress read(Place place, Visitor visitor) throws IOException {
    final long end = durable.getAsLong();
    try {
      if (place.length == 0) {
        open(place, place.segment);
      }
      return place.position() >= end ? Progress.END : readSegment(place, end, visitor);
    } catch (NoSuchFileException e) {
      if (oldest() < place.segment) { // the oldest are removed first
        throw damaged(place, "missing");
      }
      return Progress.LOST;
    }
  }

  private Progress readSegment(Place place, long end, Visitor visitor) throws IOException {
    final int begin = place.offset;
    try (DiskFile file = disk.open(SegmentDescriptor.name(place.segment))) {
      filled = 0;
      while (place.position() < end) {
        final int at = place.offset - begin;
        if (at >= STEP_LENGTH) {
          return Progress.MORE;
        }
        final int length = batch(file, place, begin);
        if (length == 0) {
          endSegment(place);
          open(place, place.segment + 1);
          return Progress.MORE;
        }
        if (!pass(place, at, length, visitor)) {
          return Progress.MORE;
        }
      }
      return Progress.END;
    }
  }

  /** Loads the batch at the place; returns its length, 0 if there is none. */
  private int batch(DiskFile file, Place place, int begin) throws IOException {
    final int at = place.offset - begin;
    if (place.length - place.offset < BatchDescriptor.RECORD_OFFSET
        || !fill(file, place, begin, at + BatchDescriptor.RECORD_OFFSET)
        || RecordDescriptor.getInt(bytes, at + BatchDescriptor.MAGIC_OFFSET)
            != BatchDescriptor.MAGIC) {
      return 0;
    }
    final int length = RecordDescriptor.getInt(bytes, at + BatchDescriptor.LENGTH_OFFSET);
    if (length <= BatchDescriptor.RECORD_OFFSET
        || length > BatchDescriptor.LENGTH_LIMIT
        || !fill(file, place, begin, at + length)
        || RecordDescriptor.getLong(bytes, at + BatchDescriptor.POSITION_OFFSET) != place.position()
        || RecordDescriptor.getInt(bytes, at + BatchDescriptor.CRC_OFFSET)
            != RecordDescriptor.crc(crc, bytes, at, length)) {
      throw damaged(place, "no whole batch, although durable");
    }
    final long previous = RecordDescriptor.getLong(bytes, at + BatchDescriptor.PREVIOUS_OFFSET);
    if (place.records == 0
        && (place.previous < 0 ? previous > place.oldestBase : previous != place.previous)) {
      throw damaged(place, "a batch is missing before this one");
    }
    return length;
  }

  /** Loads bytes of a segment after a place; false if the segment is shorter. */
  private boolean fill(DiskFile file, Place place, int begin, int needed) throws IOException {
    if (filled >= needed) {
      return true;
    }
    if (needed > place.length - begin) {
      return false;
    }
    if (needed > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(needed, 2 * bytes.length));
    }
    final int wanted = (int) Math.min(bytes.length, place.length - begin) - filled;
    final int read = file.read(begin + filled, ByteBuffer.wrap(bytes, filled, wanted));
    filled += Math.max(0, read);
    return filled >= needed;
  }

  /** Passes the records of a batch; returns whether the visitor continues. */
  private boolean pass(Place place, int at, int length, Visitor visitor) throws IOException {
    final int records = RecordDescriptor.getInt(bytes, at + BatchDescriptor.RECORDS_OFFSET);
    int position = at + BatchDescriptor.RECORD_OFFSET;
    boolean more = true;
    for (int i = 0; i < records && more; i++) {
      final int salt = RecordDescriptor.salt(origin, place.position() + position - at);
      if (!record.wrap(bytes, position, at + length, salt)) {
        throw damaged(place, "no record in a batch, or one of a newer version");
      }
      position += RecordDescriptor.aligned(record.length());
      if (i >= place.records) {
        place.records++;
        if (place.summary != null) {
          place.summary.add(record);
        }
        more = visitor.onRecord(record);
      }
    }
    if (place.records == records) {
      place.offset += length;
      place.records = 0;
      place.previous = place.position();
    }
    return more;
  }

  private void endSegment(Place place) {
    if (place.summary != null) {
      place.summary.base = place.base;
      place.summary.length = place.length;
      place.summary.end = place.previous;
      summaries.put(place.segment, place.summary);
    }
    place.summary = summaries.containsKey(place.segment + 1) ? null : new Summary();
  }

  private IOException damaged(Place place, String what) {
    return new IOException(
        "the journal is damaged: "
            + what
            + ": file="
            + disk.describe(SegmentDescriptor.name(place.segment))
            + " offset="
            + place.offset);
  }
}
