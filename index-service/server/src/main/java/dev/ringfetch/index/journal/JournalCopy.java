package dev.ringfetch.index.journal;

import dev.ringfetch.index.disk.Disk;
import dev.ringfetch.index.disk.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A copy of a journal in use: its newest snapshot, and the synced records after the snapshot's
 * begin. The copy is marked as one: a server that starts on it gives its indexes new incarnations,
 * as the original may have continued.
 *
 * <p>The copy is verified as a start reads it. Damage in the files of the server, which does not
 * notice it, so ends the copy: no backup is kept on which a server could not start.
 *
 * <p>Used by one thread at a time.
 *
 * @param snapshot number of the snapshot in the copy
 * @param bytes length of all files together
 */
public record JournalCopy(long snapshot, long bytes) {
  private static final int STEP_LENGTH = 1 << 20;

  // For a second: a server whose journal has failed writes no checkpoint any more.
  private static final int CHECKPOINT_TRIES = 101;
  private static final long CHECKPOINT_PAUSE_MS = 10;

  /**
   * Marks the journal of a directory, if there is one, as a copy on which no server has started.
   * The journal must not be in use.
   */
  public static void mark(Disk disk, long origin) throws IOException {
    if (disk.list().contains(Checkpoint.NAME)) {
      try (Checkpoint checkpoint = Checkpoint.open(disk, origin)) {
        checkpoint.write(checkpoint.durable(), Checkpoint.End.COPIED);
        checkpoint.sync();
      }
    }
  }

  /**
   * Copies.
   *
   * @param from the directory in use, which is only read
   * @param to an empty directory
   * @param origin the first 64 bits of the directory's id
   * @throws NoSuchFileException if the server has removed a file meanwhile, as it has a newer
   *     snapshot: try again
   * @throws JournalDamagedException if the server's files are damaged
   * @throws IOException if there is no snapshot, or a disk fails
   */
  public static JournalCopy of(Disk from, Disk to, long origin) throws IOException {
    final List<String> names = from.list();
    SnapshotFile snapshot = newest(from, names, origin, Long.MAX_VALUE);
    final long durable = // before the segments are listed, which have everything before it
        durable(from, origin, snapshot == null ? 0 : snapshot.end());
    if (snapshot != null && snapshot.end() > durable) {
      snapshot = newest(from, names, origin, durable);
    }
    if (snapshot == null) {
      throw new IOException(
          "there is no whole snapshot, as of a server on which nothing durable was written yet:"
              + " data="
              + from);
    }
    long bytes = copy(from, to, snapshot.name(), snapshot.length(), snapshot.length());
    long reached = -1;
    for (final String name : from.list()) {
      final long number = SegmentDescriptor.number(name);
      final SegmentFile segment = number > 0 ? SegmentFile.read(from, name, number, origin) : null;
      if (segment != null && segment.end() >= snapshot.begin() && segment.base() < durable) {
        final boolean isFirst = reached < 0;
        if (isFirst ? segment.base() > snapshot.begin() : segment.base() != reached) {
          throw removed(from, number - 1);
        }
        reached = segment.end();
        bytes +=
            copy(
                from,
                to,
                name,
                Math.min(durable, segment.end()) - segment.base(),
                segment.length());
      }
    }
    if (reached < durable) {
      throw new IOException("the journal ends before what was synced: data=" + from);
    }
    to.syncDirectory();
    try (Checkpoint checkpoint = Checkpoint.create(to, origin)) {
      checkpoint.write(durable, Checkpoint.End.COPIED);
      checkpoint.write(durable, Checkpoint.End.COPIED);
      checkpoint.sync();
    }
    JournalInspection.of(new NamedDisk(to, from), origin, (record, place) -> {});
    return new JournalCopy(snapshot.number(), bytes);
  }

  /** The newest whole snapshot that the journal up to this position has an end of; or null. */
  private static @Nullable SnapshotFile newest(
      Disk from, List<String> names, long origin, long durable) throws IOException {
    for (int i = names.size() - 1; i >= 0; i--) { // the newest is the last
      final String name = names.get(i);
      final long number = SnapshotDescriptor.number(name);
      final SnapshotFile found = number > 0 ? SnapshotFile.read(from, name, number, origin) : null;
      if (found != null && found.end() <= durable) {
        return found;
      }
    }
    return null;
  }

  /**
   * The position up to which the journal is synced, by its checkpoint. This is written after the
   * sync, and may be late: waits until it has the end of the snapshot, if the server goes on.
   */
  private static long durable(Disk from, long origin, long end) throws IOException {
    for (int tries = 1; ; tries++) {
      try (Checkpoint checkpoint = Checkpoint.open(from, origin)) {
        if (checkpoint.durable() >= end || tries == CHECKPOINT_TRIES) {
          return checkpoint.durable();
        }
      }
      try {
        TimeUnit.MILLISECONDS.sleep(CHECKPOINT_PAUSE_MS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("interrupted", e);
      }
    }
  }

  /** Whether a copy reads the file of this name. */
  public static boolean reads(String name) {
    return name.equals(Checkpoint.NAME)
        || SegmentDescriptor.number(name) > 0
        || SnapshotDescriptor.number(name) > 0;
  }

  private static NoSuchFileException removed(Disk from, long number) {
    return new NoSuchFileException(from.describe(SegmentDescriptor.name(number)));
  }

  /** Copies the begin of a file, and fills the rest with zeros; returns its length. */
  private static long copy(Disk from, Disk to, String name, long used, long length)
      throws IOException {
    final ByteBuffer buffer = ByteBuffer.allocateDirect(STEP_LENGTH);
    try (DiskFile source = from.open(name);
        DiskFile target = to.create(name)) {
      long position = 0;
      while (position < length) {
        buffer.clear().limit((int) Math.min(STEP_LENGTH, length - position));
        final int data = (int) Math.max(0, Math.min(buffer.limit(), used - position));
        if (data > 0 && source.read(position, buffer.slice(0, data)) != data) {
          throw new IOException("shorter than its length: file=" + from.describe(name));
        }
        for (int i = data; i < buffer.limit(); i++) {
          buffer.put(i, (byte) 0);
        }
        target.write(position, buffer);
        position += buffer.limit();
      }
      target.sync();
    }
    return length;
  }
}
