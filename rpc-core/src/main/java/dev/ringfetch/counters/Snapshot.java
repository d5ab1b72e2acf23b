package dev.ringfetch.counters;

import static dev.ringfetch.counters.CounterFileDescriptor.AREAS_START;
import static dev.ringfetch.counters.CounterFileDescriptor.AREA_LENGTH;
import static dev.ringfetch.counters.SnapshotDescriptor.RECORDS_OFFSET;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * All counters of one process at one moment, as its file has them.
 *
 * @param pid of the process.
 * @param startedMs when it began, in milliseconds since 1970; 0 if unknown.
 * @param sequence grows by one a snapshot.
 * @param unlisted subjects without a row, for want of room.
 * @param rows totals first, one of each kind.
 */
public record Snapshot(long pid, long startedMs, long sequence, int unlisted, List<Row> rows) {
  private static final int ATTEMPTS = 10;

  /**
   * The counters of one subject.
   *
   * @param serial 0 for all of the kind together.
   * @param detail the subject's condition at that moment, for people; empty if it has none.
   * @param values in the order of {@link Kind#counters()}.
   */
  public record Row(Kind kind, long serial, String label, String detail, List<Long> values) {
    /** True for all of the kind together. */
    public boolean isTotal() {
      return serial == 0;
    }

    /** What a counter was at. */
    public long value(Counter counter) {
      return values.get(counter.index());
    }
  }

  /**
   * Reads a file of counters. Nothing that is in it, nor what is done to it meanwhile, does more
   * than to make this fail.
   *
   * @throws IOException when it is not one, or of another version, with that as its message.
   */
  public static Snapshot read(Path file) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS))) {
      for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        final Snapshot snapshot = tryRead(channel);
        if (snapshot != null) {
          return snapshot;
        }
      }
    }
    throw new IOException("damaged: no whole snapshot in it");
  }

  /** Returns null when what was read is not whole: it was being written, or somebody else did. */
  private static Snapshot tryRead(FileChannel channel) throws IOException {
    final ByteBuffer header = read(channel, 0, AREAS_START);
    if (header.limit() < AREAS_START
        || header.getLong(CounterFileDescriptor.MAGIC_OFFSET) != CounterFileDescriptor.MAGIC) {
      throw new IOException("not a file of counters, or not yet");
    }
    final int version = header.getInt(CounterFileDescriptor.VERSION_OFFSET);
    if (version != CounterFileDescriptor.VERSION) {
      throw new IOException(
          "version " + version + ", not " + CounterFileDescriptor.VERSION + ": use its own tools");
    }
    final long newest = header.getLong(CounterFileDescriptor.NEWEST_OFFSET);
    if (newest == 0) {
      throw new IOException("nothing in it yet");
    }
    final ByteBuffer area = read(channel, CounterFileDescriptor.areaOffset(newest), AREA_LENGTH);
    if (area.limit() < RECORDS_OFFSET) {
      return null;
    }
    final int count = area.getInt(SnapshotDescriptor.COUNT_OFFSET);
    if (count < 0 || count > (area.limit() - RECORDS_OFFSET) / RecordDescriptor.RECORD_LENGTH) {
      return null;
    }
    area.limit(RECORDS_OFFSET + count * RecordDescriptor.RECORD_LENGTH);
    if (area.getLong(SnapshotDescriptor.SEQUENCE_OFFSET) != newest
        || area.getInt(SnapshotDescriptor.CRC32C_OFFSET) != SnapshotEncoder.crc32c(area)) {
      return null;
    }
    final List<Row> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      final Row row = row(area, RECORDS_OFFSET + i * RecordDescriptor.RECORD_LENGTH);
      if (row == null) {
        return null;
      }
      rows.add(row);
    }
    return new Snapshot(
        header.getLong(CounterFileDescriptor.PID_OFFSET),
        header.getLong(CounterFileDescriptor.STARTED_OFFSET),
        newest,
        area.getInt(SnapshotDescriptor.UNLISTED_OFFSET),
        List.copyOf(rows));
  }

  private static ByteBuffer read(FileChannel channel, long offset, int length) throws IOException {
    final ByteBuffer buffer = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    while (buffer.hasRemaining() && channel.read(buffer, offset + buffer.position()) > 0) {}
    return buffer.flip();
  }

  private static Row row(ByteBuffer area, int record) {
    final Kind kind = Kind.of(area.getInt(record + RecordDescriptor.KIND_OFFSET));
    final int labelLength = area.getInt(record + RecordDescriptor.LABEL_LENGTH_OFFSET);
    if (kind == null || labelLength < 0 || labelLength > RecordDescriptor.MAX_LABEL_LENGTH) {
      return null;
    }
    final byte[] label = new byte[labelLength];
    area.get(record + RecordDescriptor.LABEL_OFFSET, label);
    final List<Long> values = new ArrayList<>();
    int value = record + RecordDescriptor.VALUES_OFFSET;
    for (int i = 0; i < kind.counters().size(); i++) {
      values.add(area.getLong(value));
      value += Long.BYTES;
    }
    final byte[] detail = new byte[record + RecordDescriptor.RECORD_LENGTH - value];
    area.get(value, detail);
    return new Row(
        kind,
        area.getLong(record + RecordDescriptor.SERIAL_OFFSET),
        new String(label, UTF_8),
        new String(detail, UTF_8).split("\0", 2)[0],
        List.copyOf(values));
  }
}
