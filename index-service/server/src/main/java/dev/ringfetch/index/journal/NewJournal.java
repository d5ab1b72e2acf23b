package dev.ringfetch.index.journal;

import dev.ringfetch.index.disk.Disk;
import java.io.IOException;

/**
 * The creation of a journal in a directory that has none. The checkpoint comes last: a directory
 * without it has no journal, and perhaps a first segment, which nothing was written to.
 */
final class NewJournal {
  private NewJournal() {}

  /** Creates the first segment and the checkpoint. */
  static Journal create(Disk disk, JournalContext context, SegmentWriter writer)
      throws IOException {
    removeUnfinishedBegin(disk);
    boolean created = false;
    try {
      writer.create();
      final Checkpoint checkpoint = Checkpoint.create(disk, context.origin);
      checkpoint.write(writer.position(), false); // what a snapshot before all records goes on from
      created = true;
      return new Journal(
          context,
          writer,
          checkpoint,
          new Recovery.Result(writer.position(), 0, false, SnapshotChoice.none()));
    } catch (IOException e) {
      throw new IOException(
          "cannot create the journal, whose begin needs "
              + (context.segmentLength >> 20)
              + " MiB: "
              + e.getMessage(),
          e);
    } finally {
      if (!created) {
        writer.close();
      }
    }
  }

  /** Removes an empty first segment: without a checkpoint no journal was ever opened. */
  private static void removeUnfinishedBegin(Disk disk) throws IOException {
    for (final String name : disk.list()) {
      final long number = SegmentDescriptor.number(name);
      if (number == 1 && !SegmentContent.read(disk, name, 0, 0).hasMagic()) {
        disk.delete(name);
      } else if (number >= 0 || SnapshotDescriptor.isSnapshot(name)) {
        throw new JournalDamagedException(
            "missing, although there are segments: file=" + disk.describe(Checkpoint.NAME));
      }
    }
  }
}
