package dev.ringfetch.index.journal;

import dev.ringfetch.index.disk.Disk;
import dev.ringfetch.index.disk.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The segments that a journal writes: one that batches go to, and the next one, which is filled
 * with zeros ahead of its use, step by step. Counts the room that is left in both.
 *
 * <p>Used by the journal's thread alone, except for the room.
 */
final class SegmentWriter implements AutoCloseable {
  /** Zeros that one step writes and syncs. */
  static final int STEP_LENGTH = 1 << 20;

  /** The tail of a segment that is left over where the longest record does not fit. */
  private static final int TAIL_LIMIT =
      BatchDescriptor.RECORD_OFFSET + RecordDescriptor.aligned(RecordDescriptor.LENGTH_LIMIT);

  /** The shortest segment: room for a few of the longest records. */
  static final int LENGTH_MIN = 4 * STEP_LENGTH;

  private final Disk disk;
  private final long origin;
  private final int length;
  private final Journal.OwnerCheck owner;
  private final ByteBuffer zeros = ByteBuffer.allocateDirect(STEP_LENGTH);
  private final JournalRoom room = new JournalRoom();

  private DiskFile current;
  private long number;
  private long base;
  private long currentLength;
  private long offset;

  private DiskFile next;
  private long nextOffset;
  private boolean nextReady;

  /**
   * Creates a writer, still without a segment.
   *
   * @param length of the segments that it creates
   * @param owner checks before a file is removed whose name a later owner may have given
   */
  SegmentWriter(Disk disk, long origin, int length, Journal.OwnerCheck owner) {
    this.disk = disk;
    this.origin = origin;
    this.length = length;
    this.owner = owner;
  }

  /** Creates the first segment of an empty journal. */
  void create() throws IOException {
    number = 0;
    base = -length;
    currentLength = length;
    offset = length;
    while (prepare()) {
      // all of it at once
    }
    rotate();
  }

  /**
   * Goes on in the segment at whose {@code position} the journal ends.
   *
   * @param nextLength length of the next one if that is there and filled with zeros, else 0
   */
  void open(long segment, long segmentBase, long segmentLength, long position, long nextLength)
      throws IOException {
    number = segment;
    base = segmentBase;
    currentLength = segmentLength;
    offset = position - segmentBase;
    current = disk.open(SegmentDescriptor.name(number));
    room.add(currentLength - offset);
    if (nextLength != 0) {
      next = disk.open(SegmentDescriptor.name(number + 1));
      nextOffset = nextLength;
      addNext();
    }
  }

  /** The room that is left in both segments. */
  JournalRoom room() {
    return room;
  }

  /** Position of the next batch. */
  long position() {
    return base + offset;
  }

  /** Bytes that are left in the segment that batches go to. */
  int remaining() {
    return (int) (currentLength - offset);
  }

  boolean isNextReady() {
    return nextReady;
  }

  /** Writes a batch, which fits. */
  void write(ByteBuffer batch) throws IOException {
    final int bytes = batch.remaining();
    current.write(offset, batch);
    offset += bytes;
  }

  void sync() throws IOException {
    current.sync();
  }

  /**
   * Turns to the next segment, which is ready. The one before must have been synced: what it has is
   * durable before anything behind it.
   */
  void rotate() throws IOException {
    if (!nextReady) {
      throw new IllegalStateException("next=" + (number + 1) + " bytes=" + nextOffset);
    }
    final long tail = currentLength - offset;
    if (current != null) {
      current.close();
    }
    base += currentLength;
    currentLength = nextOffset;
    current = next;
    number++;
    offset = SegmentDescriptor.BATCH_OFFSET;
    next = null;
    nextOffset = 0;
    nextReady = false;
    room.add(TAIL_LIMIT - tail);
  }

  /**
   * Does one step for the next segment; returns whether there is more to do. After an exception it
   * can be tried again from the start: the disk was full, for example.
   */
  boolean prepare() throws IOException {
    if (nextReady) {
      return false;
    }
    boolean done = false;
    try {
      final boolean more = prepareStep();
      done = true;
      return more;
    } finally {
      if (!done) {
        discardNext();
      }
    }
  }

  private void discardNext() throws IOException {
    final DiskFile failed = next;
    next = null;
    if (failed != null) {
      failed.close();
      owner.check();
      disk.delete(SegmentDescriptor.name(number + 1)); // it may take the room that is missing
    }
  }

  private boolean prepareStep() throws IOException {
    if (next == null) {
      final String name = SegmentDescriptor.name(number + 1);
      disk.delete(name); // left over from a step that failed
      next = disk.create(name);
      nextOffset = 0;
    }
    if (nextOffset < length) {
      final int step = (int) Math.min(STEP_LENGTH, length - nextOffset);
      next.write(nextOffset, zeros.clear().limit(step));
      next.sync();
      nextOffset += step;
      return true;
    }
    next.write(0, SegmentDescriptor.header(origin, number + 1, base + currentLength, length));
    next.sync();
    disk.syncDirectory();
    addNext();
    return false;
  }

  private void addNext() {
    nextReady = true;
    room.add(nextOffset - SegmentDescriptor.BATCH_OFFSET - TAIL_LIMIT);
  }

  @Override
  public void close() throws IOException {
    if (current != null) {
      current.close();
    }
    if (next != null) {
      next.close();
    }
  }
}
