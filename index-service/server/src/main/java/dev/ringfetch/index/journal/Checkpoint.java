package dev.ringfetch.index.journal;

import dev.ringfetch.index.disk.Disk;
import dev.ringfetch.index.disk.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.NoSuchFileException;
import java.util.zip.CRC32C;

/**
 * The checkpoint of a journal: up to where it was synced, and whether its writer ended in order, in
 * the file {@value #NAME}. It has two slots, which are written by turns, so that one is valid at
 * any time. The slots are in sectors of their own, at 0 and at {@value #SLOT_DISTANCE}.
 * Little-endian.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------------------+
 *  |                   Crc32c: of all that follows                 |
 *  +---------------------------------------------------------------+
 *  |                            Format                             |
 *  +---------------------------------------------------------------+
 *  |                            Origin                             |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |           Sequence: the larger of two is the newer one        |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |       Durable: position up to which the journal is synced     |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |    Clean: 1: the writer ended in order, 2: a copy, or 0       |
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * <p>It is written after a sync of the journal, and after the answers that waited for the sync. It
 * is synced itself only at begin and end. So it may be older than the journal: after a loss of
 * power, or by one sync if the process ends between answers and checkpoint. A start reads the
 * journal behind the checkpoint and writes it again; damage of the last batch there is taken for
 * the effect of a crash.
 *
 * <p>Used by one thread at a time.
 */
final class Checkpoint implements AutoCloseable {
  static final String NAME = "checkpoint";
  private static final String NEW_NAME = NAME + ".new";
  static final int SLOT_DISTANCE = 4096;
  static final int CRC_OFFSET = 0;
  static final int FORMAT_OFFSET = CRC_OFFSET + Integer.BYTES;
  static final int ORIGIN_OFFSET = FORMAT_OFFSET + Integer.BYTES;
  static final int SEQUENCE_OFFSET = ORIGIN_OFFSET + Long.BYTES;
  static final int DURABLE_OFFSET = SEQUENCE_OFFSET + Long.BYTES;
  static final int CLEAN_OFFSET = DURABLE_OFFSET + Long.BYTES;
  static final int LENGTH = CLEAN_OFFSET + Integer.BYTES;

  private final DiskFile file;
  private final ByteBuffer slot = ByteBuffer.allocateDirect(LENGTH).order(ByteOrder.LITTLE_ENDIAN);
  private final ByteBuffer checked = slot.slice(FORMAT_OFFSET, LENGTH - FORMAT_OFFSET);
  private final CRC32C crc = new CRC32C();
  private final long origin;
  private long sequence;
  private long durable;
  private End end = End.NONE;
  private boolean whole = true;

  /** Format of a whole slot of another version; 0 if there is none. */
  private int otherFormat;

  private Checkpoint(DiskFile file, long origin) {
    this.file = file;
    this.origin = origin;
  }

  /** Creates the checkpoint of a journal without synced batches. */
  static Checkpoint create(Disk disk, long origin) throws IOException {
    disk.delete(NEW_NAME);
    final Checkpoint checkpoint = new Checkpoint(disk.create(NEW_NAME), origin);
    checkpoint.write(0, false);
    checkpoint.write(0, false);
    checkpoint.file.sync();
    disk.rename(NEW_NAME, NAME);
    disk.syncDirectory();
    return checkpoint;
  }

  /**
   * Opens the existing checkpoint.
   *
   * @throws JournalDamagedException if there is none, or if it is not valid
   */
  static Checkpoint open(Disk disk, long origin) throws IOException {
    final DiskFile file;
    try {
      file = disk.open(NAME);
    } catch (NoSuchFileException e) {
      throw new JournalDamagedException("missing: file=" + disk.describe(NAME));
    }
    final Checkpoint checkpoint = new Checkpoint(file, origin);
    boolean opened = false;
    try {
      final boolean first = checkpoint.read(0);
      final boolean second = checkpoint.read(1);
      if (!first && !second) {
        if (checkpoint.otherFormat != 0) {
          throw FileHeader.ofAnotherVersion(disk, NAME, checkpoint.otherFormat);
        }
        throw new JournalDamagedException(
            "damaged, or of another directory: file=" + disk.describe(NAME));
      }
      checkpoint.whole = first && second && checkpoint.isBlankBetween();
      opened = true;
      return checkpoint;
    } finally {
      if (!opened) {
        file.close();
      }
    }
  }

  /** The origin that a valid slot names, of any directory; 0 if there is none. */
  static long origin(Disk disk) {
    try (Checkpoint checkpoint = new Checkpoint(disk.open(NAME), 0)) {
      return checkpoint.isSlot(0) || checkpoint.isSlot(1)
          ? checkpoint.slot.getLong(ORIGIN_OFFSET)
          : 0;
    } catch (IOException e) { // a later read of the file reports it
      return 0;
    }
  }

  /** Reads a slot; returns false if it is not valid. */
  private boolean isSlot(int number) throws IOException {
    slot.clear();
    return file.read((long) number * SLOT_DISTANCE, slot) == LENGTH
        && slot.getInt(CRC_OFFSET) == crc();
  }

  private boolean read(int number) throws IOException {
    if (!isSlot(number) || slot.getLong(ORIGIN_OFFSET) != origin) {
      return false;
    }
    final int format = slot.getInt(FORMAT_OFFSET);
    if (format != SegmentDescriptor.FORMAT) {
      otherFormat = format;
      return false;
    }
    if (slot.getLong(SEQUENCE_OFFSET) > sequence) {
      sequence = slot.getLong(SEQUENCE_OFFSET);
      durable = slot.getLong(DURABLE_OFFSET);
      end = End.of(slot.getInt(CLEAN_OFFSET));
    }
    return true;
  }

  private boolean isBlankBetween() throws IOException {
    final ByteBuffer between = ByteBuffer.allocate(SLOT_DISTANCE - LENGTH);
    return file.read(LENGTH, between) == between.capacity()
        && between.flip().equals(ByteBuffer.allocate(between.capacity()))
        && file.length() == SLOT_DISTANCE + LENGTH;
  }

  /**
   * Whether both slots were valid, and nothing else in the file. A loss of power may have left one
   * of them unfinished.
   */
  boolean isWhole() {
    return whole;
  }

  private int crc() {
    crc.reset();
    crc.update(checked.clear());
    return (int) crc.getValue();
  }

  /** Position up to which the journal was synced, at least. */
  long durable() {
    return durable;
  }

  /** Whether the writer ended in order. */
  boolean isClean() {
    return end == End.CLEAN;
  }

  /** Whether this belongs to a copy on which no server has started. */
  boolean isCopied() {
    return end == End.COPIED;
  }

  /** Stores the position up to which the journal is synced. */
  void write(long position, boolean ended) throws IOException {
    write(position, ended ? End.CLEAN : End.NONE);
  }

  /** How a journal was left. Each has the number that it has in the file. */
  enum End {
    /** Its server has not ended, or did not end in order. */
    NONE(0),
    /** Its server ended in order. */
    CLEAN(1),
    /** It is a copy. */
    COPIED(2);

    private final int number;

    End(int number) {
      this.number = number;
    }

    static End of(int number) {
      return number == CLEAN.number ? CLEAN : number == COPIED.number ? COPIED : NONE;
    }
  }

  /** Same, with the way in which the journal was left. */
  void write(long position, End left) throws IOException {
    sequence++;
    durable = position;
    end = left;
    slot.clear();
    slot.putInt(FORMAT_OFFSET, SegmentDescriptor.FORMAT)
        .putLong(ORIGIN_OFFSET, origin)
        .putLong(SEQUENCE_OFFSET, sequence)
        .putLong(DURABLE_OFFSET, durable)
        .putInt(CLEAN_OFFSET, end.number);
    slot.putInt(CRC_OFFSET, crc());
    file.write((sequence & 1) * SLOT_DISTANCE, slot);
  }

  /** Syncs the last stored position. */
  void sync() throws IOException {
    file.sync();
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
