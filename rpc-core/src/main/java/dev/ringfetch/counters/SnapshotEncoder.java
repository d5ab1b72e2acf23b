package dev.ringfetch.counters;

import static dev.ringfetch.counters.SnapshotDescriptor.COUNT_OFFSET;
import static dev.ringfetch.counters.SnapshotDescriptor.CRC32C_OFFSET;
import static dev.ringfetch.counters.SnapshotDescriptor.RECORDS_OFFSET;
import static dev.ringfetch.counters.SnapshotDescriptor.SEQUENCE_OFFSET;
import static dev.ringfetch.counters.SnapshotDescriptor.UNLISTED_OFFSET;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.CharBuffer;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.util.List;
import java.util.function.ToLongFunction;
import java.util.zip.CRC32C;

/** Writes down what all counters are at. One thread. */
final class SnapshotEncoder {
  private final int maxRecords;
  private final CharsetEncoder texts =
      UTF_8.newEncoder().onMalformedInput(CodingErrorAction.REPLACE);
  private ByteBuffer current = allocate(RECORDS_OFFSET);
  private ByteBuffer former = allocate(RECORDS_OFFSET);
  private long sequence;

  SnapshotEncoder(int maxRecords) {
    this.maxRecords = maxRecords;
  }

  private static ByteBuffer allocate(int length) {
    return ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Sequence number of what was encoded last, 0 before the first time. */
  long sequence() {
    return sequence;
  }

  /** The next snapshot, or null when nothing has changed since the last. */
  ByteBuffer encode(Counters counters) {
    synchronized (counters) { // or one that ends meanwhile would be missing, or there twice
      write(counters);
    }
    if (sequence != 0 && content(current).equals(content(former))) {
      return null;
    }
    final ByteBuffer encoded = current;
    encoded.putLong(SEQUENCE_OFFSET, ++sequence);
    encoded.putInt(CRC32C_OFFSET, crc32c(encoded));
    current = former;
    former = encoded;
    return encoded.duplicate();
  }

  private void write(Counters counters) {
    final List<Subject> subjects = counters.subjects();
    final int listed = Math.min(subjects.size(), maxRecords - Kind.values().length);
    final int count = Kind.values().length + listed;
    final int length = RECORDS_OFFSET + count * RecordDescriptor.RECORD_LENGTH;
    if (current.capacity() < length) {
      current = allocate(Math.max(length, 2 * current.capacity()));
    }
    current.clear().limit(length);
    current.putInt(COUNT_OFFSET, count);
    current.putInt(UNLISTED_OFFSET, subjects.size() - listed);
    int record = RECORDS_OFFSET;
    for (final Kind kind : Kind.values()) {
      putRecord(record, kind, 0, "all " + kind.plural(), "", counters::total);
      record += RecordDescriptor.RECORD_LENGTH;
    }
    for (final Subject subject : subjects.subList(0, listed)) {
      putRecord(
          record,
          subject.kind(),
          subject.serial(),
          subject.label(),
          subject.detail(),
          subject::value);
      record += RecordDescriptor.RECORD_LENGTH;
    }
  }

  private void putRecord(
      int record,
      Kind kind,
      long serial,
      String label,
      String detail,
      ToLongFunction<Counter> values) {
    current.putInt(record + RecordDescriptor.KIND_OFFSET, kind.code());
    current.putInt(
        record + RecordDescriptor.LABEL_LENGTH_OFFSET,
        putText(record + RecordDescriptor.LABEL_OFFSET, RecordDescriptor.MAX_LABEL_LENGTH, label));
    current.putLong(record + RecordDescriptor.SERIAL_OFFSET, serial);
    int value = record + RecordDescriptor.VALUES_OFFSET;
    for (final Counter counter : kind.counters()) {
      current.putLong(value, values.applyAsLong(counter));
      value += Long.BYTES;
    }
    putText(value, record + RecordDescriptor.RECORD_LENGTH - value, detail);
  }

  /**
   * Puts as many whole characters of a text as there is room for, then zeros.
   *
   * @return the length of these characters in bytes.
   */
  private int putText(int offset, int room, String text) {
    final ByteBuffer target = current.slice(offset, room);
    final CoderResult unused = texts.reset().encode(CharBuffer.wrap(text), target, true);
    final int length = target.position();
    while (target.hasRemaining()) {
      target.put((byte) 0);
    }
    return length;
  }

  private static ByteBuffer content(ByteBuffer snapshot) {
    return snapshot.duplicate().position(COUNT_OFFSET);
  }

  /** The checksum of a snapshot that ends at the buffer's limit. */
  static int crc32c(ByteBuffer snapshot) {
    final CRC32C crc = new CRC32C();
    crc.update(snapshot.duplicate().position(SEQUENCE_OFFSET).limit(CRC32C_OFFSET));
    crc.update(content(snapshot));
    return (int) crc.getValue();
  }
}
