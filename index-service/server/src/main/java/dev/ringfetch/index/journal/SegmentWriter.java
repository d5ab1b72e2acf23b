package dev.ringfetch.index.journal;

import dev.ringfetch.index.disk.Disk;
import dev.ringfetch.index.disk.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The writer of a journal's segments: of the present one, which receives batches, and of the next
 * one, which is filled with zeros step by step ahead of its use. Counts the room left in both.
 *
 * <p>Used by the journal's thread alone, except for the room.
 */
final class SegmentWriter implements AutoCloseable {
  /** Bytes of zeros that one step writes and syncs. */
  static final int STEP_LENGTH = 1 << 20;

  /** Limit of the unused tail of a segment: the longest record does not fit. */
  private static final int TAIL_LIMIT =
      BatchDescriptor.RECORD_OFFSET + RecordDescriptor.aligned(RecordDescriptor.LENGTH_LIMIT);

  /** The shortest segment: room for a few of the longest records. */
  static final int LENGTH_MIN = 4 * STEP_LENGTH;

  private final Disk disk;
  private final long origin;
  private final int length;
  private final OwnerCheck owner;
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
   * @param owner checks before the removal of a file that may belong to a later owner
   */
  SegmentWriter(Disk disk, long origin, int length, OwnerCheck owner) {
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
      // the whole segment at once
    }
    rotate();
  }

  /**
   * Continues in the segment in which the journal ends, at {@code position}.
   *
   * @param nextLength length of the next segment if it exists and is filled with zeros, else 0
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

  /** The room left in both segments. */
  JournalRoom room() {
    return room;
  }

  /** Position of the next batch. */
  long position() {
    return base + offset;
  }

  /** Bytes left in the present segment. */
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
   * Switches to the next segment, which is ready. The present one must be synced, so that it is
   * durable before anything after it.
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
   * Does one step for the next segment; returns whether there is more to do. After an exception,
   * for example by a full disk, the caller can try again from the start.
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
      disk.delete(SegmentDescriptor.name(number + 1)); // it may use the missing room
    }
  }

  private boolean prepareStep() throws IOException {
    if (next == null) {
      final String name = SegmentDescriptor.name(number + 1);
      disk.delete(name); // left by a failed step
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
