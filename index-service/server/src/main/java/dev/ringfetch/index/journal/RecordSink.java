package dev.ringfetch.index.journal;

import java.io.IOException;
import java.util.Map;
import java.util.function.Supplier;

/** A receiver of the records of a journal, in their order. */
@FunctionalInterface
public interface RecordSink {
  /**
   * Called with each record; the view is valid until the return.
   *
   * @param place describes the record's place for messages, until the return
   * @throws IOException to end the recovery
   */
  void onRecord(JournalRecord record, Supplier<String> place) throws IOException;

  /**
   * Called before the first record of a snapshot: of the one that the recovery begins with, and,
   * after the records of the journal, of each one that an orderly end has left.
   *
   * @param entries number of entries of each index in it, by its number
   */
  default void onSnapshot(Map<Long, Long> entries) {}

  /** Called with each record of a snapshot; otherwise like {@link #onRecord}. */
  default void onSnapshotRecord(JournalRecord record, Supplier<String> place) throws IOException {
    onRecord(record, place);
  }

  /**
   * Called for a snapshot that an orderly end has left and that cannot be read.
   *
   * @param reason what is wrong, and with which file
   */
  default void onUnread(long group, String reason) throws IOException {}

  /** Called after the last record. */
  default void onEnd() throws IOException {}
}
