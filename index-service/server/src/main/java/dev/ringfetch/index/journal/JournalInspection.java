package dev.ringfetch.index.journal;

import dev.ringfetch.index.disk.Disk;
import java.io.IOException;
import java.util.List;

/**
 * The result of reading a journal as a start does, without changing it.
 *
 * @param segments number of segments
 * @param records number of records that a start reads, those of a snapshot included
 * @param end position behind the last whole batch
 * @param unfinishedBytes bytes after that, which a crash has left and a start cuts off
 * @param isEndKnown whether certainly no batch is missing after the last whole one: the checkpoint
 *     is whole, and there are no unfinished bytes, which may be a damaged last batch
 * @param clean whether its last server ended in order
 * @param snapshot number of the snapshot that a start uses; 0 for none
 * @param faults lines about damage that does not prevent a start
 */
public record JournalInspection(
    int segments,
    long records,
    long end,
    long unfinishedBytes,
    boolean isEndKnown,
    boolean clean,
    long snapshot,
    List<String> faults) {
  /**
   * Reads the journal of a directory that no server uses, and passes its records to the sink.
   *
   * @param origin the first 64 bits of the directory's id
   * @throws JournalDamagedException if no server would start on it
   * @throws IOException if the disk or the sink fails
   */
  public static JournalInspection of(Disk disk, long origin, RecordSink sink) throws IOException {
    return Recovery.verify(disk, new JournalContext().owner(origin, 0), sink);
  }
}
